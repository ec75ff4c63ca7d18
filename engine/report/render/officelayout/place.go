package officelayout

import (
	"fmt"
	"path"
	"strings"

	"github.com/scf-service/service/internal/prose"
)

// setPlaces records the location of each paragraph and picture of a part, such as "table 2, row 3, column 1".
func setPlaces(root *node) {
	paragraphs, tables := 0, 0
	var visit func(n *node, where string)
	visit = func(n *node, where string) {
		switch {
		case n.hasName("w:tbl", "a:tbl"):
			tables++
			table := fmt.Sprintf("table %d", tables)
			rows := 0
			for _, r := range n.children {
				if !r.hasName("w:tr", "a:tr") {
					continue
				}
				rows++
				columns := 0
				for _, c := range r.children {
					if c.hasName("w:tc", "a:tc") {
						columns++
						visit(c, fmt.Sprintf("%s, row %d, column %d", joinPlace(where, table), rows, columns))
					}
				}
			}
			return
		case n.hasName("p:sp", "p:pic", "p:graphicFrame"):
			if name := n.find("p:cNvPr"); name != nil {
				where = joinPlace(where, fmt.Sprintf("shape “%s”", prose.Truncate(name.attr("name"), 60)))
			}
			paragraphs = 0
		case n.hasName("w:txbxContent"):
			where = joinPlace(where, "text box")
		case n.hasName("w:p", "a:p"):
			if !strings.Contains(where, "row ") {
				paragraphs++
				where = joinPlace(where, fmt.Sprintf("paragraph %d", paragraphs))
			}
		}
		n.place = where
		for _, c := range n.children {
			visit(c, where)
		}
	}
	visit(root, "")
}

func joinPlace(a, b string) string {
	switch "" {
	case a:
		return b
	case b:
		return a
	}
	return a + ", " + b
}

// placeOf returns the location of n, or of the closest enclosing element that has one.
func placeOf(n *node) string {
	for ; n != nil; n = n.parent {
		if n.place != "" {
			return n.place
		}
	}
	return ""
}

// splitPartName returns the file name of a part without its number and extension, and the number. For example,
// "ppt/slides/slide3.xml" yields "slide" and "3".
func splitPartName(name string) (kind, number string) {
	base := strings.TrimSuffix(path.Base(name), ".xml")
	kind = strings.TrimRight(base, "0123456789")
	return kind, base[len(kind):]
}

// partTitle returns the name of a part as users know it: "slide 3" for "ppt/slides/slide3.xml".
func partTitle(name string) string {
	kind, number := splitPartName(name)
	for _, k := range []struct{ kind, title string }{
		{"header", "header"},
		{"footer", "footer"},
		{"slide", "slide"},
		{"notesSlide", "notes of slide"},
		{"slideLayout", "slide layout"},
		{"slideMaster", "slide master"},
	} {
		if k.kind == kind {
			return strings.TrimSpace(k.title + " " + number)
		}
	}
	switch name {
	case "word/document.xml":
		return "document"
	case "word/footnotes.xml", "word/endnotes.xml":
		return kind
	case "docProps/core.xml", "docProps/app.xml":
		return "document properties"
	}
	return name
}
