package office

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/scf-service/service/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

const maxRTFColors = 10_000

// rtfFormat holds the formatting that determines whether text is visible. A group inherits it from
// the enclosing group.
type rtfFormat struct {
	vanish, strike, deleted flag
	character               int // number of the character style; 0 if none
	color, background       int // in the color table; 0 if not set
	halfPoints              int
}

// rtfStyleFormat is the format that a style applies.
type rtfStyleFormat struct {
	rtfFormat
	basedOn int
}

// setFormat executes a control word if it sets formatting.
func (r *rtfReader) setFormat(word string, v int, on bool) (isFormatWord bool) {
	g := r.currentGroup()
	set := flagOff
	if on {
		set = flagOn
	}
	switch word {
	case "v":
		g.format.vanish = set
	case "strike", "striked":
		g.format.strike = set
	case "deleted":
		g.format.deleted = set
	case "cs":
		g.format.character = v
	case "cf":
		g.format.color = v
	case "highlight", "cb", "chcbpat":
		g.format.background = v
	case "fs":
		g.format.halfPoints = v
	case "plain":
		g.format, g.bold = rtfFormat{deleted: g.format.deleted}, false
	case "sbasedon":
		g.basedOn = v
	case "cbpat":
		r.para.background = v
	case "trowd":
		r.cellColors, r.cellMerges, r.cellEdges = r.cellColors[:0], r.cellMerges[:0], r.cellEdges[:0]
		r.cellColor, r.cellMerge = 0, ""
	case "clmrg":
		r.cellMerge = document.MergedLeft
	case "clvmrg":
		r.cellMerge = document.MergedUp
	case "clcbpat":
		r.cellColor = v
	case "cellx":
		if len(r.cellColors) < maxRTFColors {
			r.cellColors, r.cellMerges = append(r.cellColors, r.cellColor), append(r.cellMerges, r.cellMerge)
			r.cellEdges = append(r.cellEdges, v)
		}
		r.cellColor, r.cellMerge = 0, ""
	case "red", "green", "blue":
		if g.dest == rtfColors {
			r.color[strings.Index("rgb", word[:1])] = min(max(v, 0), 255)
			r.isColorSet = true
		}
	default:
		return false
	}
	return true
}

// endColor adds a color to the table, at the semicolon that ends it. A color without values is the
// automatic color.
func (r *rtfReader) endColor() {
	color := ""
	if r.isColorSet {
		color = fmt.Sprintf("%02X%02X%02X", r.color[0], r.color[1], r.color[2])
	}
	if len(r.colors) < maxRTFColors {
		r.colors = append(r.colors, color)
	}
	r.color, r.isColorSet = [3]int{}, false
}

func (r *rtfReader) colorAt(index int) string {
	if index <= 0 || index >= len(r.colors) {
		return ""
	}
	return r.colors[index]
}

// styleFormat returns the format of a style, including inherited properties. Paragraph styles (word
// "s") and character styles (word "cs") are numbered separately.
func (r *rtfReader) styleFormat(word string, number int) (f rtfFormat) {
	for range 20 { // limited because styles may be circular
		style, ok := r.formats[rtfStyleKey{word, number}]
		if !ok {
			return f
		}
		f.vanish, f.strike = cmp.Or(f.vanish, style.vanish), cmp.Or(f.strike, style.strike)
		f.color, f.background = cmp.Or(f.color, style.color), cmp.Or(f.background, style.background)
		f.halfPoints = cmp.Or(f.halfPoints, style.halfPoints)
		number = style.basedOn
	}
	return f
}

type rtfStyleKey struct {
	word   string
	number int
}

// unreadKind returns the api.Unread… kind that hides the text of the open group, or "" if it is visible.
func (r *rtfReader) unreadKind() string {
	f := r.currentGroup().format
	for _, style := range []rtfFormat{r.styleFormat("cs", f.character), r.styleFormat("s", r.para.style)} {
		f.vanish, f.strike = cmp.Or(f.vanish, style.vanish), cmp.Or(f.strike, style.strike)
		f.color, f.background = cmp.Or(f.color, style.color), cmp.Or(f.background, style.background)
		f.halfPoints = cmp.Or(f.halfPoints, style.halfPoints)
	}
	background := cmp.Or(r.colorAt(f.background), r.colorAt(r.para.background))
	if n := len(r.cells); background == "" && r.para.inTable && n < len(r.cellColors) {
		background = r.colorAt(r.cellColors[n])
	}
	switch {
	case f.deleted == flagOn:
		return api.UnreadDeletedText
	case r.hiddenShapeAt > 0, f.vanish == flagOn, f.halfPoints > 0 && f.halfPoints <= 2,
		isSameColor(r.colorAt(f.color), cmp.Or(background, "FFFFFF")):
		return api.UnreadHiddenText
	case f.strike == flagOn:
		return api.UnreadStruckText
	}
	return ""
}

// countIfUnread reports whether text isn't visible. If so, it counts the text, once per paragraph and kind.
func (r *rtfReader) countIfUnread(text string) (isUnread bool) {
	if !r.kindKnown {
		r.kind, r.kindKnown = r.unreadKind(), true
	}
	if r.kind == "" {
		return false
	}
	if !strings.Contains(r.counted, r.kind) && strings.TrimSpace(text) != "" {
		r.counted += r.kind + " "
		r.b.Doc.AddNotRead(r.kind, 1, api.Locator{})
	}
	return true
}
