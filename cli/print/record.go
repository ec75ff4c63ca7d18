package print

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"
	"go.yaml.in/yaml/v3"
)

// encodeJSON encodes a record as JSON without characters that control a terminal.
func encodeJSON(v any) ([]byte, error) {
	if raw, ok := v.(json.RawMessage); ok {
		return escapeUnsafeJSON(raw), nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("writing the record: %w", err)
	}
	return escapeUnsafeJSON(b.Bytes()), nil
}

// escapeUnsafeJSON replaces runes that control a terminal with \u escapes. They occur only inside
// strings, so the meaning of the document doesn't change.
func escapeUnsafeJSON(b []byte) []byte {
	if !bytes.ContainsFunc(b, isUnsafeInJSON) {
		return b
	}
	out := make([]byte, 0, len(b)+64)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case !isUnsafeInJSON(r):
			out = append(out, b[:n]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		b = b[n:]
	}
	return out
}

func isUnsafeInJSON(r rune) bool { return r == 0x7f || isUnsafeNonASCII(r) }

func indentJSON(b []byte) ([]byte, error) {
	var out bytes.Buffer
	if err := json.Indent(&out, bytes.TrimSpace(b), "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// jsonToYAML converts JSON to YAML, keeping the order of fields.
func jsonToYAML(b []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	node, err := jsonToYAMLNode(dec)
	if err != nil {
		return nil, fmt.Errorf("writing YAML: %w", err)
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(node), enc.Close()); err != nil {
		return nil, fmt.Errorf("writing YAML: %w", err)
	}
	// Only double-quoted strings can contain such runes here, where the escape has the same
	// meaning.
	return escapeUnsafeYAML(out.Bytes()), nil
}

// jsonToYAMLNode reads one JSON value and returns it as a YAML node.
func jsonToYAMLNode(dec *json.Decoder) (*yaml.Node, error) {
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		n := &yaml.Node{Kind: yaml.MappingNode}
		if t == '[' {
			n.Kind = yaml.SequenceNode
		}
		for dec.More() { // the decoder returns a field's name before its value
			child, err := jsonToYAMLNode(dec)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, child)
		}
		if len(n.Content) == 0 {
			n.Style = yaml.FlowStyle
		}
		_, err := dec.Token()
		return n, err
	case string:
		n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: t}
		if strings.ContainsFunc(t, isUnsafeInJSON) {
			n.Style = yaml.DoubleQuotedStyle
		}
		return n, nil
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: t.String()}, nil
	case nil:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(t)}, nil
}

// escapeUnsafeYAML replaces runes that control a terminal with escapes, which is only correct within double-quoted
// strings.
func escapeUnsafeYAML(b []byte) []byte {
	if !bytes.ContainsFunc(b, isUnsafeInJSON) {
		return b
	}
	var out []byte
	for _, r := range string(b) {
		switch {
		case !isUnsafeInJSON(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			out = fmt.Appendf(out, `\U%08x`, r)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// jsonToCSV converts the records of a list, or a single record, to CSV rows. The columns are the fields of all
// records. Fields of nested objects are named "field.nested". Lists of strings are joined by "; ", and other lists
// remain JSON.
func jsonToCSV(b []byte) ([]byte, error) {
	records, err := splitJSONRecords(b)
	if err != nil {
		return nil, err
	}
	var rows []map[string]json.RawMessage
	var columns []string
	for _, raw := range records {
		row := map[string]json.RawMessage{}
		names, err := flattenJSON("", raw, row)
		if err != nil {
			return nil, fmt.Errorf("this result can't be written as CSV; use -o json: %w", err)
		}
		columns = mergeColumns(columns, names)
		rows = append(rows, row)
	}
	columns = slices.DeleteFunc(columns, func(c string) bool {
		hasValue := func(row map[string]json.RawMessage) bool { return row[c] != nil && string(row[c]) != "null" }
		isNested := func(other string) bool { return strings.HasPrefix(other, c+".") }
		return slices.ContainsFunc(columns, isNested) && !slices.ContainsFunc(rows, hasValue) // an object or null
	})
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	if len(rows) > 0 {
		header := make([]string, len(columns))
		for i, name := range columns {
			header[i] = sanitizeCSV(name)
		}
		_ = w.Write(header) // the writer's Error method returns it
	}
	for _, row := range rows {
		cells := make([]string, len(columns))
		for i, name := range columns {
			cells[i] = safeCSVCell(row[name])
		}
		_ = w.Write(cells)
	}
	w.Flush()
	return out.Bytes(), w.Error()
}

// flattenJSON adds the fields of an object and of its nested objects to row, and returns their names in order.
func flattenJSON(prefix string, raw json.RawMessage, row map[string]json.RawMessage) (all []string, err error) {
	names, values, err := splitJSONObject(raw)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		value := values[name]
		name = prefix + name
		if bytes.HasPrefix(value, []byte("{")) {
			nested, err := flattenJSON(name+".", value, row)
			if err != nil {
				return nil, err
			}
			all = append(all, nested...)
			continue
		}
		row[name] = value
		all = append(all, name)
	}
	return all, nil
}

// mergeColumns adds the missing names to columns. Names from a nested object are inserted after the other columns of
// that object.
func mergeColumns(columns, names []string) []string {
	for _, name := range names {
		if slices.Contains(columns, name) {
			continue
		}
		at := len(columns)
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
			for i, c := range columns {
				if c == name[:dot] || strings.HasPrefix(c, name[:dot+1]) {
					at = i + 1
				}
			}
		}
		columns = slices.Insert(columns, at, name)
	}
	return columns
}

// splitJSONRecords returns the records of a list, or the only record.
func splitJSONRecords(b []byte) ([]json.RawMessage, error) {
	b = bytes.TrimSpace(b)
	var records []json.RawMessage
	if bytes.HasPrefix(b, []byte("[")) {
		return records, json.Unmarshal(b, &records)
	}
	if _, values, err := splitJSONObject(b); err == nil && bytes.HasPrefix(bytes.TrimSpace(values["data"]), []byte("[")) {
		return records, json.Unmarshal(values["data"], &records)
	}
	return []json.RawMessage{b}, nil
}

// splitJSONObject splits an object into its fields, keeping their order.
func splitJSONObject(b []byte) (names []string, values map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(b, &values); err != nil {
		return nil, nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	if _, err := dec.Token(); err != nil {
		return nil, nil, err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, nil, err
		}
		names = append(names, fmt.Sprint(name))
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			return nil, nil, err
		}
	}
	return names, values, nil
}

// safeCSVCell returns a JSON value as the text of a CSV cell.
func safeCSVCell(raw json.RawMessage) string {
	var s string
	var list []string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return ""
	case json.Unmarshal(raw, &s) == nil:
		return sanitizeCSV(s)
	case json.Unmarshal(raw, &list) == nil:
		return sanitizeCSV(strings.Join(list, "; "))
	}
	return string(raw)
}

// sanitizeCSV changes text so that spreadsheets do not treat it as a formula and terminals do not execute
// control characters.
func sanitizeCSV(s string) string {
	s = SafeBlock(s)
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}

// maxQueryResults is the maximum number of results of a jq filter, which might otherwise never end.
const maxQueryResults = 1_000_000

// runQuery applies the jq filter to b and returns its results, one per line. Strings are returned unchanged, and all
// other values as JSON.
func (o *Output) runQuery(b []byte) ([]byte, error) {
	ctx := o.Context
	if ctx == nil {
		ctx = context.Background()
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	results := o.Query.RunWithContext(ctx, v)
	for range maxQueryResults {
		r, ok := results.Next()
		if !ok {
			return out.Bytes(), nil
		}
		switch r := r.(type) {
		case error:
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, fmt.Errorf("the jq filter failed: %w", r)
		case string:
			out.WriteString(SafeBlock(r) + "\n")
		default:
			j, err := gojq.Marshal(r)
			if err != nil {
				return nil, err
			}
			out.Write(append(escapeUnsafeJSON(j), '\n'))
		}
	}
	return nil, fmt.Errorf("the jq filter produced more than %d results and was stopped", maxQueryResults)
}
