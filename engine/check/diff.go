package check

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"
)

// DiffFormats are the ways to write a comparison, the default first.
var DiffFormats = []string{"text", "json", "markdown", "csv"}

// ParseDiffOutput reads FORMAT or FORMAT=PATH for a comparison.
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
	return o, mistake("", 0, "a comparison is written as %s, not as %s", strings.Join(DiffFormats, ", "), o.Format)
}

// words are a comparison in a sentence.
func (d *Diff) words() string {
	return fmt.Sprintf("%d opened, %d worse, %d better, %d closed, %d as before", d.Opened, d.Worse, d.Better, d.Closed, d.Same)
}

// Write is the comparison in a format.
func (d *Diff) Write(format string) ([]byte, error) {
	switch format {
	case "json":
		text, err := indented(d)
		return apart(text, hashJSON), err
	case "csv":
		text, err := d.csv()
		return apart(text, hashApart), err
	case "markdown":
		return []byte(d.markdown()), nil
	}
	return apart(d.text(), hashApart), nil
}

func (d *Diff) text() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "gaps from %s to %s: %s\n", d.Before, d.After, d.words())
	for i, c := range d.Moved {
		if i == 0 || d.Moved[i-1].Change != c.Change {
			fmt.Fprintf(&b, "\n%s\n", c.Change)
		}
		fmt.Fprintf(&b, "  %-10s %s: %s\n", leading(c.ControlCode), c.ControlTitle, fromTo(c.Before, c.After))
	}
	return []byte(b.String())
}

func fromTo(before, after string) string {
	switch {
	case before == "":
		return after
	case after == "":
		return "was " + before
	}
	return before + " → " + after
}

func (d *Diff) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Gaps: %s\n\nFrom %s to %s.\n", d.words(), markdown(d.Before), markdown(d.After))
	for i, c := range d.Moved {
		if i == 0 {
			b.WriteString("\n| | control | before | after |\n|---|---|---|---|\n")
		}
		if b.Len() > mostMarkdown {
			fmt.Fprintf(&b, "\n… and %d more.\n", len(d.Moved)-i)
			break
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.Change, markdown(cut(c.ControlCode+" "+c.ControlTitle, cellInMarkdown)), markdown(c.Before), markdown(c.After))
	}
	return b.String()
}

func (d *Diff) csv() ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.UseCRLF = true
	_ = w.Write([]string{"change", "control", "title", "severity", "before", "after"}) // Error tells at the end
	for _, c := range d.Moved {
		_ = w.Write([]string{string(c.Change), inert(c.ControlCode), inert(c.ControlTitle), string(c.Severity), c.Before, c.After})
	}
	w.Flush()
	return out.Bytes(), w.Error()
}
