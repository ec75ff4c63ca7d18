package oscal

import (
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// parameter is a placeholder in the text of a control that an organization fills in.
type parameter struct {
	ID     string   `json:"id"`
	Label  string   `json:"label,omitempty"`
	Values []string `json:"values,omitempty"`
	Select *choices `json:"select,omitempty"`
}

type choices struct {
	HowMany string   `json:"how-many,omitempty"` // "one" or "one-or-more"
	Choice  []string `json:"choice,omitempty"`
}

// insertPattern matches a reference to a parameter in a text.
var insertPattern = lazyregexp.New(`\{\{\s*(?:insert:\s*param\s*,\s*)?([\w.-]+)\s*\}\}`)

// maxInserts is the maximum nesting depth of parameters that refer to other parameters.
const maxInserts = 5

// fillParameters returns text with the value of each parameter, or, in brackets, a description of
// the value to assign. Unknown parameters are shown with their IDs.
func fillParameters(text string, known map[string]*parameter, depth int) string {
	return insertPattern.ReplaceAllStringFunc(text, func(insert string) string {
		id := insertPattern.FindStringSubmatch(insert)[1]
		p := known[id]
		switch {
		case p == nil || depth >= maxInserts:
			return "[" + id + "]"
		case len(p.Values) > 0:
			values := make([]string, len(p.Values))
			for i, v := range p.Values {
				values[i] = fillParameters(v, known, depth+1)
			}
			return strings.Join(values, ", ")
		case p.Select != nil && len(p.Select.Choice) > 0:
			howMany := "one of: "
			if p.Select.HowMany == "one-or-more" {
				howMany = "one or more: "
			}
			texts := make([]string, len(p.Select.Choice))
			for i, c := range p.Select.Choice {
				texts[i] = fillParameters(c, known, depth+1)
			}
			return "[" + howMany + strings.Join(texts, "; ") + "]"
		case p.Label != "":
			return "[" + p.Label + "]"
		}
		return "[" + id + "]"
	})
}

// listParameters returns the parameters of a catalog, its groups and its controls by their IDs.
func listParameters(doc *catalogDocument, controls []locatedControl) map[string]*parameter {
	known := map[string]*parameter{}
	add := func(list []parameter) {
		for i := range list {
			known[list[i].ID] = &list[i]
		}
	}
	var addGroups func(list []group)
	addGroups = func(list []group) {
		for _, g := range list {
			add(g.Params)
			addGroups(g.Groups)
		}
	}
	add(doc.Params)
	addGroups(doc.Groups)
	for _, c := range controls {
		add(c.Params)
	}
	return known
}

// withdrawal describes a control that is withdrawn, and where its content went, as in "withdrawn: incorporated into ac-2, ac-3".
func (c *control) withdrawal() string {
	out, last, separator := "withdrawn", "", ": "
	for _, l := range c.Links {
		switch rel := strings.ReplaceAll(l.Rel, "-", " "); {
		case rel != "incorporated into" && rel != "moved to":
		case last == rel:
			out += ", " + strings.TrimPrefix(l.Href, "#")
		default:
			out += separator + rel + " " + strings.TrimPrefix(l.Href, "#")
			last, separator = rel, "; "
		}
	}
	return out
}

// isWithdrawn reports whether a control is withdrawn: the catalog lists it only to refer to other controls.
func (c *control) isWithdrawn() bool {
	return strings.EqualFold(propValue(c.Props, "status"), "withdrawn")
}
