// Package facts finds what a document states about itself: its language, title, version, owner, approver and
// effective date.
package facts

import (
	"path"
	"strings"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

// Complete sets the language, facts and title of the document that was read into b, and returns the document. If no
// title is found, it is derived from the file name.
func Complete(b *document.Builder, name string) *document.Document {
	d := b.Doc
	d.Language = detectLanguage(d.Blocks)
	if !b.IsCollection {
		readFacts(d, b.Facts)
	}
	if d.Title = document.CleanLine(d.Title); d.Title == "" && !b.IsCollection {
		d.Title = document.CleanLine(b.MemberTitle)
	}
	if d.Title == "" && len(d.Blocks) > 0 {
		// Only a heading at the start of the document is its title.
		if first := d.Blocks[0]; first.Kind == document.Heading && len(first.HeadingPath) == 0 && first.Level == 1 &&
			hasSingleTopHeading(d.Blocks) {
			d.Title = first.Text
		}
	}
	if d.Title == "" {
		d.Title = titleFromName(name)
	}
	return d
}

// hasSingleTopHeading reports whether the document has exactly one heading of level 1, which is then its title.
func hasSingleTopHeading(blocks []document.Block) bool {
	n := 0
	for _, blk := range blocks {
		if blk.Kind == document.Heading && blk.Level == 1 {
			n++
		}
	}
	return n == 1
}

// titleFromName returns the file name without its folder and extension. It is used if there is no other title.
func titleFromName(name string) string {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	base = strings.TrimSuffix(base, path.Ext(base))
	return document.CleanLine(strings.NewReplacer("_", " ", "-", " ").Replace(base))
}
