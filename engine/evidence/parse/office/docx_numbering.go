package office

import (
	"encoding/xml"
	"errors"
	"strconv"
	"strings"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/zipfile"
)

// numbering computes the numbers of lists and headings as Word does. This is necessary because a file only
// stores which list a paragraph belongs to.
type numbering struct {
	lists    map[string]*numberList // by numId
	counters map[string]*[9]int     // by the definition that several lists may share
}

// numberList is one list: the formats of its levels, and the definition (abstract) that determines which
// counters it shares with other lists.
type numberList struct {
	abstract string
	levels   [9]numberLevel
}

type numberLevel struct {
	start  int
	format string // "decimal", "lowerLetter", "bullet", …; empty: not defined
	text   string // "%1.%2" with placeholders for the levels' numbers
}

type xmlLevel struct {
	Level  string   `xml:"ilvl,attr"`
	Start  xmlValue `xml:"start"`
	Format xmlValue `xml:"numFmt"`
	Text   xmlValue `xml:"lvlText"`
}

// readNumbering reads the list definitions in word/numbering.xml, if the document has any.
func (d *docxReader) readNumbering(name string) error {
	raw, err := zipfile.ReadPart(d.z, name, maxSidePart)
	if errors.Is(err, zipfile.ErrNoPart) {
		return nil
	}
	if err != nil {
		return err
	}
	var doc struct {
		Abstract []struct {
			ID    string     `xml:"abstractNumId,attr"`
			Level []xmlLevel `xml:"lvl"`
		} `xml:"abstractNum"`
		Num []struct {
			ID       string   `xml:"numId,attr"`
			Abstract xmlValue `xml:"abstractNumId"`
			Override []struct {
				Level string    `xml:"ilvl,attr"`
				Start *xmlValue `xml:"startOverride"`
				Def   xmlLevel  `xml:"lvl"`
			} `xml:"lvlOverride"`
		} `xml:"num"`
	}
	if err := xml.Unmarshal(raw, &doc); err != nil {
		d.b.Warn("The numbering of the document could not be read; list numbers are missing.")
		return nil
	}
	abstract := map[string][9]numberLevel{}
	for _, a := range doc.Abstract {
		var levels [9]numberLevel
		for _, l := range a.Level {
			if i, ok := parseLevel(l.Level); ok {
				levels[i] = l.toNumberLevel()
			}
		}
		abstract[a.ID] = levels
	}
	for _, n := range doc.Num {
		list := &numberList{abstract: n.Abstract.Val, levels: abstract[n.Abstract.Val]}
		for _, o := range n.Override {
			i, ok := parseLevel(o.Level)
			if !ok {
				continue
			}
			if o.Def.Format.Val != "" {
				list.levels[i] = o.Def.toNumberLevel()
			}
			if o.Start != nil { // a restarted list has its own counters
				list.abstract = "num " + n.ID
				if v, err := strconv.Atoi(o.Start.Val); err == nil {
					list.levels[i].start = v
				}
			}
		}
		d.numbering.lists[n.ID] = list
	}
	return nil
}

func parseLevel(s string) (int, bool) {
	i, err := strconv.Atoi(s)
	return i, err == nil && i >= 0 && i < 9
}

func (l xmlLevel) toNumberLevel() numberLevel {
	out := numberLevel{start: 1, format: l.Format.Val, text: l.Text.Val}
	if v, err := strconv.Atoi(l.Start.Val); err == nil {
		out.start = v
	} else if l.Start.Val == "" {
		out.start = 0
	}
	return out
}

// nextNumber increments the counter of a list level and returns the number as displayed, or "" for a bullet.
func (n *numbering) nextNumber(numID string, level int) string {
	list := n.lists[numID]
	if list == nil || level < 0 || level > 8 || list.levels[level].format == "" {
		return ""
	}
	c := n.counters[list.abstract]
	if c == nil {
		c = &[9]int{}
		for i := range c {
			c[i] = list.levels[i].start - 1
		}
		n.counters[list.abstract] = c
	}
	c[level]++
	for i := level + 1; i < 9; i++ {
		c[i] = list.levels[i].start - 1
	}
	def := list.levels[level]
	if def.format == "bullet" || def.format == "none" {
		return ""
	}
	out := def.text
	for i := range level + 1 {
		// A skipped level counts as having its start value.
		v := max(c[i], list.levels[i].start)
		out = strings.ReplaceAll(out, "%"+strconv.Itoa(i+1), document.FormatListNumber(v, list.levels[i].format))
	}
	if len(out) > 40 {
		return ""
	}
	return document.CleanLine(out)
}
