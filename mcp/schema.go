package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/client"
)

// document is the part of the engine's OpenAPI document that this package uses.
type document struct {
	Paths      map[string]map[string]operationDoc `json:"paths"`
	Components struct {
		Schemas map[string]map[string]any `json:"schemas"`
	} `json:"components"`
}

// operationDoc is an operation's entry in the OpenAPI document.
type operationDoc struct {
	Parameters []parameter `json:"parameters"`
	Body       *struct {
		Required bool `json:"required"`
		Content  map[string]struct {
			Schema map[string]any `json:"schema"`
		} `json:"content"`
	} `json:"requestBody"`
}

type parameter struct {
	Name        string         `json:"name"` // empty for shared parameters, which the client sends itself
	In          string         `json:"in"`
	Required    bool           `json:"required"`
	Description string         `json:"description"`
	Schema      map[string]any `json:"schema"`
}

// maxDocument is the maximum size of the document.
const maxDocument = 32 << 20

func readOpenAPI(ctx context.Context, c *client.Client) (*document, error) {
	resp, err := c.SendRaw(ctx, http.MethodGet, "/openapi.json", nil, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	d := &document{}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server returned %s instead of its OpenAPI document; check that a server of this program runs at that address", resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxDocument)).Decode(d); err != nil {
		return nil, fmt.Errorf("the server's OpenAPI document can't be read: %w", err)
	}
	return d, nil
}

// tool is an MCP tool for an operation, with the locations of its arguments in the request.
type tool struct {
	*sdk.Tool
	op *api.Operation
	// locations maps each parameter to path, query or header. Other arguments are fields of the
	// body, if the operation has one.
	locations  map[string]string
	bodyFields []string
	hasBody    bool
	isPaged    bool
}

// defaultPageSize is the page size of lists if the caller specifies none.
const defaultPageSize = 20

// newTool returns the tool for an operation, or false if the engine does not offer the operation.
func (d *document) newTool(op *api.Operation) (*tool, bool, error) {
	from, ok := d.Paths[op.Path][strings.ToLower(op.Method)]
	if !ok {
		return nil, false, nil
	}
	t := &tool{op: op, locations: map[string]string{}}
	fields, required := map[string]any{}, []string{}
	for _, p := range from.Parameters {
		if p.Name == "" || p.In == "header" && p.Name != "If-Match" {
			continue
		}
		s := maps.Clone(p.Schema)
		if p.Description != "" {
			s["description"] = p.Description
		}
		if p.Name == "limit" && p.In == "query" {
			t.isPaged = true
			s["default"] = defaultPageSize
		}
		t.locations[p.Name], fields[p.Name] = p.In, s
		if p.Required {
			required = append(required, p.Name)
		}
	}
	if from.Body != nil {
		body, err := d.resolveObject(from.Body.Content["application/json"].Schema)
		if err != nil {
			return nil, false, fmt.Errorf("the body of %s: %w", op.ID, err)
		}
		t.hasBody = true
		properties, _ := body["properties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if _, taken := fields[name]; taken {
				return nil, false, fmt.Errorf("the operation %s has %q both as a parameter and as a field of its request body", op.ID, name)
			}
			fields[name] = properties[name]
			t.bodyFields = append(t.bodyFields, name)
		}
		if needs, _ := body["required"].([]any); from.Body.Required {
			for _, n := range needs {
				required = append(required, fmt.Sprint(n))
			}
		}
	}
	schema := map[string]any{"type": "object", "properties": fields, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	if err := d.copyRefsToDefs(schema); err != nil {
		return nil, false, fmt.Errorf("the arguments of %s: %w", op.ID, err)
	}
	no, destroys := false, op.Method == http.MethodDelete
	words := op.Summary
	if op.Description != "" {
		words += ". " + op.Description
	}
	t.Tool = &sdk.Tool{
		Name: op.ID, Title: op.Summary, Description: words, InputSchema: schema,
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint:    isReadOnly(op),
			DestructiveHint: &destroys,
			OpenWorldHint:   &no,
			IdempotentHint:  op.Method == http.MethodPut,
		},
	}
	return t, true, nil
}

// refPrefix precedes schema names in references.
const refPrefix = "#/components/schemas/"

// resolveObject returns the object schema to which s refers, or s itself if it is not a reference.
func (d *document) resolveObject(s map[string]any) (map[string]any, error) {
	if ref, ok := s["$ref"].(string); ok {
		to, ok := d.Components.Schemas[strings.TrimPrefix(ref, refPrefix)]
		if !ok {
			return nil, fmt.Errorf("unknown schema %s", ref)
		}
		s = to
	}
	if s["type"] != "object" {
		return nil, fmt.Errorf("the schema is not an object")
	}
	return s, nil
}

// copyRefsToDefs makes a schema self-contained by copying the schemas it refers to into its own $defs.
func (d *document) copyRefsToDefs(schema map[string]any) error {
	defs := map[string]any{}
	properties, err := d.copyWithDefs(schema["properties"], defs)
	if err != nil {
		return err
	}
	schema["properties"] = properties
	if len(defs) > 0 {
		schema["$defs"] = defs
	}
	return nil
}

// copyWithDefs returns a copy of part of a schema, with its references changed to point into defs. It adds the schemas
// that the part refers to to defs.
func (d *document) copyWithDefs(v any, defs map[string]any) (any, error) {
	switch x := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, one := range x {
			if ref, ok := one.(string); ok && k == "$ref" {
				name := strings.TrimPrefix(ref, refPrefix)
				out[k] = "#/$defs/" + name
				if _, known := defs[name]; known {
					continue
				}
				s, ok := d.Components.Schemas[name]
				if !ok {
					return nil, fmt.Errorf("unknown schema %s", ref)
				}
				defs[name] = nil // reserve the name, in case the schema refers to itself
				copied, err := d.copyWithDefs(s, defs)
				if err != nil {
					return nil, err
				}
				defs[name] = copied
				continue
			}
			copied, err := d.copyWithDefs(one, defs)
			if err != nil {
				return nil, err
			}
			out[k] = copied
		}
		return out, nil
	case []any:
		out := make([]any, len(x))
		for i, one := range x {
			copied, err := d.copyWithDefs(one, defs)
			if err != nil {
				return nil, err
			}
			out[i] = copied
		}
		return out, nil
	}
	return v, nil
}
