package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// document is a text read into blocks. The form is a small Markdown:
//
//	---
//	title: Access Control Policy      what the document calls itself
//	author: Tobias Venterhof
//	date: 2026-03-18                  when the file was last saved
//	footer: HQ-POL-02 · v3.2          at the foot of every page (not in workbooks)
//	---
//	# Title   ## Heading   ### Smaller heading
//	Paragraphs with **bold** words; "- " and "1. " lists; | tables | with | a header row |.
//
// In a workbook each "# Heading" begins a sheet.
type document struct {
	title, author, footer string
	date                  time.Time
	blocks                []block
}

type blockKind int

const (
	kindHeading blockKind = iota
	kindParagraph
	kindBullets
	kindNumbers
	kindTable
)

// block is a part of a document; which fields are used depends on its kind.
type block struct {
	kind  blockKind
	level int        // heading: 1 to 3
	text  string     // heading, paragraph
	items []string   // bullets, numbers
	rows  [][]string // table: the first row is the header, all have its width
}

// span is a run of text in one weight.
type span struct {
	text string
	bold bool
}

var (
	headingLine = regexp.MustCompile(`^(#{1,3}) (.+)$`)
	bulletLine  = regexp.MustCompile(`^- (.+)$`)
	numberLine  = regexp.MustCompile(`^\d+\. (.+)$`)
	ruleLine    = regexp.MustCompile(`^\|[-| ]*-[-| ]*\|$`)
)

// parseDocument parses a text; errors name the line.
func parseDocument(text string) (*document, error) {
	lines := strings.Split(text, "\n")
	doc, body, err := parseFrontMatter(lines)
	if err != nil {
		return nil, err
	}
	open := false // whether the next plain line continues the last block
	for i := body; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " \t\r")
		if line == "" {
			open = false
			continue
		}
		var last *block
		if open {
			last = &doc.blocks[len(doc.blocks)-1]
		}
		if err := doc.addLine(line, last); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		open = true
	}
	return doc, nil
}

// addLine adds one line, either continuing last or as a new block.
func (d *document) addLine(line string, last *block) error {
	continues := func(k blockKind) bool { return last != nil && last.kind == k }
	item := func(k blockKind, text string) {
		if continues(k) {
			last.items = append(last.items, text)
		} else {
			d.blocks = append(d.blocks, block{kind: k, items: []string{text}})
		}
	}
	if m := headingLine.FindStringSubmatch(line); m != nil {
		d.blocks = append(d.blocks, block{kind: kindHeading, level: len(m[1]), text: m[2]})
		return nil
	}
	if m := bulletLine.FindStringSubmatch(line); m != nil {
		item(kindBullets, m[1])
		return nil
	}
	if m := numberLine.FindStringSubmatch(line); m != nil {
		item(kindNumbers, m[1])
		return nil
	}
	if strings.HasPrefix(line, "|") {
		return d.addTableRow(line, last, continues(kindTable))
	}
	switch {
	case continues(kindParagraph):
		last.text += " " + line
	case continues(kindBullets), continues(kindNumbers):
		last.items[len(last.items)-1] += " " + strings.TrimSpace(line)
	default:
		d.blocks = append(d.blocks, block{kind: kindParagraph, text: line})
	}
	return nil
}

func (d *document) addTableRow(line string, last *block, continues bool) error {
	if ruleLine.MatchString(line) {
		return nil
	}
	if !strings.HasSuffix(line, "|") || len(line) < 2 {
		return fmt.Errorf("a table row must end with |")
	}
	cells := strings.Split(line[1:len(line)-1], "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	if !continues {
		d.blocks = append(d.blocks, block{kind: kindTable, rows: [][]string{cells}})
		return nil
	}
	if want := len(last.rows[0]); len(cells) != want {
		return fmt.Errorf("the row has %d cells, its header %d", len(cells), want)
	}
	last.rows = append(last.rows, cells)
	return nil
}

// parseFrontMatter reads the keys and returns the index of the first body line.
func parseFrontMatter(lines []string) (*document, int, error) {
	if strings.TrimSpace(lines[0]) != "---" {
		return nil, 0, fmt.Errorf("line 1: begin with --- and title, author, date")
	}
	doc := &document{}
	for i, line := range lines[1:] {
		line = strings.TrimSpace(line)
		if line == "---" {
			if doc.title == "" || doc.author == "" || doc.date.IsZero() {
				return nil, 0, fmt.Errorf("line %d: title, author and date are needed", i+2)
			}
			return doc, i + 2, nil
		}
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch key {
		case "title":
			doc.title = value
		case "author":
			doc.author = value
		case "footer":
			doc.footer = value
		case "date":
			date, err := time.Parse(time.DateOnly, value)
			if err != nil {
				return nil, 0, fmt.Errorf("line %d: write the date as 2026-03-18: %w", i+2, err)
			}
			doc.date = date.Add(9 * time.Hour)
		default:
			return nil, 0, fmt.Errorf("line %d: unknown key %q", i+2, key)
		}
	}
	return nil, 0, fmt.Errorf("the front matter has no closing ---")
}

// splitSpans splits a text at its ** markers.
func splitSpans(text string) []span {
	var out []span
	for i, part := range strings.Split(text, "**") {
		if part != "" {
			out = append(out, span{text: part, bold: i%2 == 1})
		}
	}
	return out
}

// stripMarks returns the text without ** markers.
func stripMarks(text string) string { return strings.ReplaceAll(text, "**", "") }
