package office

import (
	"strconv"
	"strings"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

// readFormWord executes a control word if it belongs to a form field.
func (r *rtfReader) readFormWord(word string, v int) (isFormWord bool) {
	if word == "formfield" {
		r.form = &wordField{}
		r.currentGroup().dest, r.currentGroup().starred = rtfIgnored, false
		return true
	}
	f := r.form
	if f == nil || !strings.HasPrefix(word, "ff") {
		return false
	}
	set := flagOff
	if v == 1 {
		set = flagOn
	}
	const undefined = 25
	switch word {
	case "fftype":
		f.isCheckBox, f.isList = v == 1, v == 2
	case "ffres":
		if v == undefined {
			break
		}
		f.isTicked, f.chosen = set, v
	case "ffdefres":
		if f.isDefault = set; f.isTicked == 0 {
			f.chosen = v
		}
	case "ffl":
		r.currentGroup().dest, r.currentGroup().starred = rtfEntry, false
		r.sideText.Reset()
	default:
		return false
	}
	return true
}

// endField writes the value of a field without its own text: the value of a form field at the end
// of its instruction, and a symbol at the end of the field unless the field has a result.
func (r *rtfReader) endField(closed rtfGroup) {
	if r.currentGroup().dest == rtfBody && closed.dest == rtfInstruction {
		if r.form != nil {
			r.putText(r.form.value())
			r.form = nil
		}
		if args := strings.Fields(r.instruction.String()); len(args) > 1 && args[0] == "SYMBOL" {
			_, font, _ := strings.Cut(r.instruction.String(), `"`)
			font, _, _ = strings.Cut(font, `"`)
			if code, err := strconv.ParseUint(strings.TrimPrefix(args[1], "0x"), 0, 16); err == nil {
				r.symbol, r.symbolAt, r.fieldDepth = document.SymbolText(font, rune(code)), r.text.Len(), len(r.stack)
			}
		}
		r.instruction.Reset()
	}
	if r.symbol != "" && len(r.stack) < r.fieldDepth {
		if r.text.Len() == r.symbolAt {
			r.putText(r.symbol)
		}
		r.symbol = ""
	}
}

// readFontName reads the names of fonts and records those of symbol fonts.
func (r *rtfReader) readFontName(s string) {
	name, _, ends := strings.Cut(s, ";")
	if r.fontName += name; !ends {
		return
	}
	if name := strings.ToLower(strings.TrimSpace(r.fontName)); document.IsSymbolFont(name) && len(r.symbolFonts) < maxRTFColors {
		r.symbolFonts[r.currentGroup().font] = name
	}
	r.fontName = ""
}
