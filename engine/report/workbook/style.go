package workbook

import (
	"errors"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/engine/report/drawing"
)

// styleIDs holds the IDs of the styles in a workbook, by purpose.
type styleIDs struct {
	title, heading, label, lead, text, fixed, strong, mono, head, editable, number, date, mark int
	// fills maps status classes to formats.
	fills map[string]int
}

// fillClass returns the class that determines the fill color of a value, or "" if the value has none.
func fillClass(field, value string) string {
	switch value {
	case "implemented", "met", "completed", "strong":
		return "good"
	case "partially_implemented", "partially_met", "in_progress", "partial", "medium", "weak":
		return "fair"
	case "not_implemented", "not_met", "critical", "absent":
		return "bad"
	case "high", "blocked":
		return "poor"
	case "planned", "low", "risk_accepted":
		return "calm"
	case "not_evidenced", "not_assessed", "undecided", "informational":
		return "open"
	case "yes":
		if field == "overdue" || field == "needs_review" {
			return "poor"
		}
	}
	return ""
}

// fillColors lists the fill color of each class. All fill colors are light enough for black text.
var fillColors = []struct {
	class string
	color drawing.ColorName
}{
	{
		"good",
		drawing.GoodGround,
	},
	{"fair", drawing.WarnGround},
	{"bad", drawing.HeatShade(2)},
	{"poor", drawing.HeatShade(1)},
	{"calm", drawing.InfoGround},
	{"open", drawing.Rule},
}

func newStyles(f *excelize.File, theme drawing.Theme) (styleIDs, error) {
	c := func(n drawing.ColorName) string { return theme.Color(n).HexDigits() }
	s := styleIDs{fills: map[string]int{}}
	top := func(wrap bool) *excelize.Alignment { return &excelize.Alignment{Vertical: "top", WrapText: wrap} }
	line := []excelize.Border{{Type: "bottom", Color: c(drawing.Rule), Style: 1}}
	const asText = 49 // input in a text cell is never interpreted as a formula
	iso, family := "yyyy-mm-dd", "Calibri"
	var errs []error
	for _, e := range []struct {
		id *int
		st excelize.Style
	}{
		{
			&s.title,
			excelize.Style{
				Font:      &excelize.Font{Family: family, Bold: true, Size: 16, Color: c(drawing.Accent)},
				Alignment: &excelize.Alignment{Vertical: "center"},
				NumFmt:    asText,
			},
		},
		{
			&s.heading,
			excelize.Style{
				Font:      &excelize.Font{Family: family, Bold: true, Size: 12, Color: c(drawing.Accent)},
				Alignment: &excelize.Alignment{Vertical: "bottom"},
				NumFmt:    asText,
			},
		},
		{
			&s.label,
			excelize.Style{Font: &excelize.Font{Family: family, Size: 11, Bold: true}, Alignment: top(true), Border: line, NumFmt: asText},
		},
		{&s.lead, excelize.Style{Alignment: top(true), NumFmt: asText}},
		{&s.text, excelize.Style{Alignment: top(true), Border: line, NumFmt: asText}},
		{
			&s.fixed,
			excelize.Style{
				Font:      &excelize.Font{Family: family, Size: 11, Color: c(drawing.Soft)},
				Alignment: top(true),
				Border:    line,
				NumFmt:    asText,
			},
		},
		{
			&s.strong,
			excelize.Style{Font: &excelize.Font{Family: family, Size: 11, Bold: true}, Alignment: top(true), Border: line, NumFmt: asText},
		},
		{&s.mono, excelize.Style{Font: &excelize.Font{Family: "Consolas", Size: 9}, Alignment: top(true), Border: line, NumFmt: asText}},
		{&s.head, excelize.Style{
			Font:      &excelize.Font{Family: family, Size: 11, Bold: true, Color: c(drawing.Paper)},
			Fill:      excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{c(drawing.Soft)}},
			Alignment: &excelize.Alignment{Vertical: "center", WrapText: true},
			NumFmt:    asText,
		}},
		{&s.editable, excelize.Style{
			Font:      &excelize.Font{Family: family, Size: 11, Bold: true, Color: c(drawing.Paper)},
			Fill:      excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{c(drawing.Link)}},
			Alignment: &excelize.Alignment{Vertical: "center", WrapText: true},
			NumFmt:    asText,
		}},
		{&s.number, excelize.Style{Alignment: &excelize.Alignment{Vertical: "top", Horizontal: "right"}, Border: line}},
		{&s.date, excelize.Style{Alignment: &excelize.Alignment{Vertical: "top", Horizontal: "left"}, Border: line, CustomNumFmt: &iso}},
		{&s.mark, excelize.Style{
			Font:      &excelize.Font{Family: family, Bold: true, Size: 14, Color: c(drawing.Bad)},
			Fill:      excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{c(drawing.BadGround)}},
			Alignment: top(true),
			NumFmt:    asText,
		}},
	} {
		id, err := f.NewStyle(&e.st)
		*e.id, errs = id, append(errs, err)
	}
	for _, x := range fillColors {
		id, err := f.NewConditionalStyle(&excelize.Style{Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{c(x.color)}}})
		s.fills[x.class], errs = id, append(errs, err)
	}
	return s, errors.Join(errs...)
}
