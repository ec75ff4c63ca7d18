package check

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/scf-service/service/internal/prose"
)

// MaxInputBytes is the maximum size of user-written files: policies and waivers.
const MaxInputBytes = 1 << 20

// field is a key of a YAML mapping with its value.
type field struct {
	key   string
	line  int
	value *yaml.Node
}

// readYAML reads one YAML document, or returns nil if it is empty. Aliases are rejected because
// they can expand without bound.
func readYAML(data []byte, file string) (*yaml.Node, error) {
	if len(data) > MaxInputBytes {
		return nil, inputErrorf(file, 0, "the file is larger than %d bytes", MaxInputBytes)
	}
	var root yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&root); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, inputErrorf(file, 0, "invalid YAML: %s", sanitizeLine(strings.TrimPrefix(err.Error(), "yaml: ")))
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, inputErrorf(file, 0, "the file has more than one YAML document, or invalid content after the first")
	}
	if len(root.Content) != 1 {
		return nil, nil
	}
	return root.Content[0], rejectAliases(root.Content[0], file, 0)
}

func rejectAliases(n *yaml.Node, file string, depth int) error {
	if n.Kind == yaml.AliasNode || n.Anchor != "" || depth > 20 {
		return inputErrorf(file, n.Line, "anchors, aliases and deep nesting are not supported: write out the value in full")
	}
	for _, c := range n.Content {
		if err := rejectAliases(c, file, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// parseFields returns the keys of a mapping and rejects unknown or duplicate keys.
func parseFields(n *yaml.Node, file, subject string, known []string) ([]field, error) {
	if n.Kind != yaml.MappingNode {
		return nil, inputErrorf(file, n.Line, "%s must consist of `key: value` lines; valid keys are %s", subject, strings.Join(known, ", "))
	}
	var out []field
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		name := sanitizeLine(k.Value)
		isKnown := false
		for _, one := range known {
			isKnown = isKnown || one == k.Value
		}
		switch {
		case k.Kind != yaml.ScalarNode:
			return nil, inputErrorf(file, k.Line, "a key must be a string")
		case !isKnown && didYouMean(name, known) != "":
			return nil, inputErrorf(file, k.Line, "unknown key %q%s", prose.Truncate(name, 60), didYouMean(name, known))
		case !isKnown:
			return nil, inputErrorf(file, k.Line, "unknown key %q; valid keys are %s", prose.Truncate(name, 60), strings.Join(known, ", "))
		case seen[k.Value]:
			return nil, inputErrorf(file, k.Line, "the key %q appears twice", name)
		}
		seen[k.Value] = true
		out = append(out, field{key: k.Value, line: k.Line, value: v})
	}
	return out, nil
}

// parseTextOrList returns the values of a scalar or of a list of scalars.
func parseTextOrList(n *yaml.Node, file, key string) ([]string, error) {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		return nil, inputErrorf(file, n.Line, "%s has no value", key)
	case n.Kind == yaml.ScalarNode:
		return []string{n.Value}, nil
	case n.Kind == yaml.SequenceNode:
		out := []string{}
		for _, c := range n.Content {
			if c.Kind != yaml.ScalarNode || c.Tag == "!!null" {
				return nil, inputErrorf(file, c.Line, "%s must be a list of strings", key)
			}
			out = append(out, c.Value)
		}
		return out, nil
	}
	return nil, inputErrorf(file, n.Line, "%s must be a string or a list of strings", key)
}
