package check

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/internal/prose"
)

// DiffFormats lists the output formats of a comparison, the default first.
var DiffFormats = []string{"text", "json", "markdown", "csv"}

// ParseDiffOutput parses FORMAT or FORMAT=PATH for a comparison.
func ParseDiffOutput(word string) (Output, error) {
	o, err := ParseOutput(word)
	if err != nil {
		return o, err
	}
	for _, f := range DiffFormats {
		if f == o.Format {
			return o, nil
		}
	}
	return o, inputErrorf("", 0, "comparisons support the formats %s, not %s", strings.Join(DiffFormats, ", "), o.Format)
}

// summary returns the comparison in one sentence.
func (d *Diff) summary() string {
	text := fmt.Sprintf("%d opened, %d worse, %d better, %d closed, %d unchanged", d.Opened, d.Worse, d.Better, d.Closed, d.Same)
	if n := len(d.Decided); n > 0 {
		text += fmt.Sprintf(", %d decided by a person", n)
	}
	return text
}

// Render returns the comparison in the given format.
func (d *Diff) Render(format string) ([]byte, error) {
	switch format {
	case "json":
		text, err := encodeIndented(d)
		return escapeLogCommands(text, hashJSON), err
	case "csv":
		text, err := d.formatCSV()
		return escapeLogCommands(text, hashSpaced), err
	case "markdown":
		return []byte(d.formatMarkdown()), nil
	}
	return escapeLogCommands(d.formatText(), hashSpaced), nil
}

func (d *Diff) formatText() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "gaps from %s to %s: %s\npolicy: %s\n", d.Before, d.After, d.summary(), d.Policy.Describe())
	if d.Catalogs != nil {
		fmt.Fprintf(&b, "%s\n", d.Catalogs.describe())
	}
	for i, c := range d.Changes {
		if i == 0 || d.Changes[i-1].Change != c.Change {
			fmt.Fprintf(&b, "\n%s\n", c.Change)
		}
		fmt.Fprintf(&b, "  %-10s %s: %s\n", escapeLeadingColons(c.ControlCode), c.ControlTitle, formatChange(&c))
	}
	for i, c := range d.Decided {
		if i == 0 {
			b.WriteString("\ndecided by a person and therefore not counted\n")
		}
		fmt.Fprintf(&b, "  %-10s %s: %s\n", escapeLeadingColons(c.ControlCode), c.ControlTitle, formatChange(&c))
	}
	if d.Catalogs != nil {
		for _, l := range d.Catalogs.lists() {
			fmt.Fprintf(&b, "\n%s\n  %s\n", l.title, strings.Join(l.lines, "\n  "))
		}
	}
	return []byte(b.String())
}

// formatChange returns the severity and status before and after, and why they differ.
func formatChange(c *Change) string {
	text := formatTransition(c.Before, c.After)
	if c.Why != "" {
		text += " (" + c.Why + ")"
	}
	return text
}

// changesWithDecidedLast returns all changes. Those based on a person's decision come last, with "decided" as their
// kind.
func (d *Diff) changesWithDecidedLast() []Change {
	out := slices.Clone(d.Changes)
	for _, c := range d.Decided {
		c.Change = "decided"
		out = append(out, c)
	}
	return out
}

func formatTransition(before, after string) string {
	switch {
	case before == "":
		return after
	case after == "":
		return "was " + before
	}
	return before + " → " + after
}

func (d *Diff) formatMarkdown() string {
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"## Gaps: %s\n\nFrom %s to %s. Policy: %s.\n",
		d.summary(),
		escapeMarkdown(d.Before),
		escapeMarkdown(d.After),
		escapeMarkdown(d.Policy.Describe()),
	)
	if d.Catalogs != nil {
		fmt.Fprintf(&b, "\n%s.\n", escapeMarkdown(prose.Capitalize(d.Catalogs.describe())))
	}
	all := d.changesWithDecidedLast()
	for i, c := range all {
		if i == 0 {
			b.WriteString("\n| | control | before | after | why |\n|---|---|---|---|---|\n")
		}
		if b.Len() > maxMarkdownBytes {
			fmt.Fprintf(&b, "\n… and %d more.\n", len(all)-i)
			break
		}
		fmt.Fprintf(
			&b,
			"| %s | %s | %s | %s | %s |\n",
			c.Change,
			escapeMarkdown(prose.Truncate(c.ControlCode+" "+c.ControlTitle, maxMarkdownCell)),
			escapeMarkdown(c.Before),
			escapeMarkdown(c.After),
			escapeMarkdown(c.Why),
		)
	}
	if d.Catalogs != nil {
		for _, l := range d.Catalogs.lists() {
			if b.Len() > maxMarkdownBytes {
				break
			}
			fmt.Fprintf(&b, "\n%s:\n\n", escapeMarkdown(prose.Capitalize(l.title)))
			for _, line := range l.lines {
				fmt.Fprintf(&b, "- %s\n", escapeMarkdown(prose.Truncate(line, maxMarkdownCell)))
			}
		}
	}
	return b.String()
}

func (d *Diff) formatCSV() ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.UseCRLF = true
	_ = w.Write([]string{"change", "control", "title", "severity", "before", "after", "why"}) // errors are reported by w.Error
	for _, c := range d.changesWithDecidedLast() {
		_ = w.Write(
			[]string{
				string(c.Change), escapeFormula(c.ControlCode), escapeFormula(c.ControlTitle), string(c.Severity), c.Before, c.After,
				escapeFormula(c.Why),
			},
		)
	}
	w.Flush()
	return out.Bytes(), w.Error()
}
