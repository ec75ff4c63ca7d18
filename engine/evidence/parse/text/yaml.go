package text

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/scf-service/service/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

// maxYAML is the maximum size of a YAML text in bytes. The limit is needed because the parser keeps a node for
// every value.
const maxYAML = 8 << 20

// lightYAML is the maximum size in bytes of a YAML text that can be parsed within
// document.LightMemory. Nodes take about 100 times the size of their text.
const lightYAML = 1 << 20

// ReadYAML writes the scalar values of each mapping as one row, under the path of keys that leads
// to the mapping, like ReadJSON. Anchors are not expanded, because a few lines could expand to
// millions. Invalid YAML, such as a template, is read as plain text.
func ReadYAML(b *document.Builder, text string) error {
	if len(text) > maxYAML {
		b.Warn("The YAML is too long to be parsed; it was read as plain text.")
		return ReadPlain(b, text)
	}
	if len(text) > lightYAML {
		if err := b.BeginHeavy(); err != nil {
			return err
		}
	}
	dec := yaml.NewDecoder(strings.NewReader(text))
	var docs []*yaml.Node
	for {
		if err := b.Context().Err(); err != nil {
			return err
		}
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			b.Warn(
				"The file is not entirely valid YAML (%s), so it was read as plain text.",
				document.CleanLine(document.CutAtSpace(strings.TrimPrefix(err.Error(), "yaml: "), 120)),
			)
			return ReadPlain(b, text)
		}
		docs = append(docs, &doc)
	}
	y := &yamlReader{b: b}
	for _, d := range docs {
		for _, n := range d.Content {
			if err := y.readNode(n, nil, 0, b.NextTableNumber()); err != nil {
				return err
			}
		}
	}
	return b.Err()
}

type yamlReader struct{ b *document.Builder }

func (y *yamlReader) readNode(n *yaml.Node, path []string, depth, table int) error {
	if depth > maxNestingDepth {
		return document.NewError(document.ErrDamaged, "line "+strconv.Itoa(n.Line), "nested deeper than %d", maxNestingDepth)
	}
	switch n.Kind {
	case yaml.MappingNode:
		return y.readMapping(n, path, depth, table)
	case yaml.SequenceNode:
		return y.readSequence(n, path, depth)
	}
	if s := scalarText(n); s != "" {
		y.b.AddBlockWithPath(
			document.Block{Kind: document.Paragraph, Text: s, HeadingPath: path, Locator: api.Locator{LineStart: n.Line, LineEnd: n.Line}},
		)
	}
	return y.b.Err()
}

func (y *yamlReader) readMapping(n *yaml.Node, path []string, depth, table int) error {
	var keys, values []string
	first, last := 0, 0
	flush := func() {
		if len(keys) == 0 {
			return
		}
		addFields(y.b, keys, values, path, table, lineRange(first, last))
		keys, values, first = nil, nil, 0
	}
	for i := 0; i+1 < len(n.Content) && y.b.Err() == nil; i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		name := scalarText(key)
		if value.Kind == yaml.MappingNode || value.Kind == yaml.SequenceNode {
			flush()
			if err := y.readNode(value, append(path[:len(path):len(path)], name), depth+1, y.b.NextTableNumber()); err != nil {
				return err
			}
			continue
		}
		if s := scalarText(value); s != "" {
			if keys, values = append(keys, name), append(values, s); first == 0 {
				first = key.Line
			}
			last = value.Line + strings.Count(value.Value, "\n")
		}
	}
	flush()
	return y.b.Err()
}

func (y *yamlReader) readSequence(n *yaml.Node, path []string, depth int) error {
	table := y.b.NextTableNumber()
	for _, c := range n.Content {
		if y.b.Err() != nil {
			break
		}
		if c.Kind == yaml.MappingNode || c.Kind == yaml.SequenceNode {
			if err := y.readNode(c, path, depth+1, table); err != nil {
				return err
			}
			continue
		}
		if s := scalarText(c); s != "" {
			y.b.AddBlockWithPath(
				document.Block{
					Kind:        document.ListItem,
					Level:       1,
					Text:        s,
					HeadingPath: path,
					Locator:     api.Locator{LineStart: c.Line, LineEnd: c.Line + strings.Count(c.Value, "\n")},
				},
			)
		}
	}
	return y.b.Err()
}

// scalarText returns the text of a scalar value, or the name of an alias. For other nodes, it returns a note
// such as "(3 values)".
func scalarText(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.AliasNode:
		return "*" + document.CleanLine(n.Value)
	case n.Kind != yaml.ScalarNode:
		return fmt.Sprintf("(%d values)", len(n.Content))
	case n.Tag == "!!null":
		return ""
	case n.Tag == "!!binary":
		return "(binary)"
	}
	return document.CleanLine(n.Value)
}
