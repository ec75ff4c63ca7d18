package render

import (
	"fmt"
	"slices"

	"github.com/scf-service/service/api"
)

const topLevel = len(api.LevelNames) - 1

func (v *view) maturitySection() []block {
	if v.Maturity == nil {
		return []block{say("empty", "No maturity assessment has been drafted yet.")}
	}
	out := []block{heading{ID: v.anchors.add("maturity", "levels"), Text: "The levels"}, levelTable(v.Scores)}
	if v.MaturitySummary != nil && len(v.MaturitySummary.Domains) > 0 {
		out = append(out, heading{ID: v.anchors.add("maturity", "domains"), Text: "By domain"})
		out = append(out, v.maturityPictures()...)
	}
	if len(v.Scores) == 0 {
		return append(out, say("empty", "The maturity assessment has no scores."))
	}
	links := jumps{Label: "Domains of the maturity assessment"}
	var tables []block
	for i := 0; i < len(v.Scores); {
		j, d := i, v.Scores[i].DomainCode
		for j < len(v.Scores) && v.Scores[j].DomainCode == d {
			j++
		}
		id := v.anchors.add("maturity-domain", d)
		links.Items = append(links.Items, cell{{Text: or(d, "none"), Ref: id}})
		tables = append(tables, heading{ID: id, Text: v.domain(d), Minor: true}, v.scoreTable(d, i, j))
		i = j
	}
	return append(append(out, links), tables...)
}

// levelTable explains the scale and counts it.
func levelTable(scores []api.MaturityScore) table {
	by, assessed := [len(api.LevelNames)]int{}, 0
	for i := range scores {
		if s := &scores[i]; s.Assessed && s.Level >= 0 && s.Level <= topLevel {
			by[s.Level]++
			assessed++
		}
	}
	t := table{Caption: "Controls by level (SCR-CMM)", Columns: []column{
		{Name: "Level", Width: 2}, {Name: "Name", Width: 6}, {Name: "Controls", Width: 3, Number: true}, {Name: "Picture", Width: 6, Picture: true},
	}}
	for n, name := range api.LevelNames {
		t.Rows = append(t.Rows, row{Cells: []cell{number(n), plain(sentence(name)), number(by[n]),
			{{Bar: &bar{Label: fmt.Sprintf("Level %d: %d", n, by[n]), Parts: []barPart{{"level", float64(by[n])}}, Max: float64(max(slices.Max(by[:]), 1)), Mark: -1}}}}})
	}
	t.Rows = append(t.Rows, row{Cells: []cell{plain("–"), plain("Not assessed: no evidence to rate by"), number(len(scores) - assessed), nil}})
	return t
}

// maturityPictures are the domains as a table with bars, and a radar beside it.
func (v *view) maturityPictures() []block {
	t := table{Caption: "Maturity by domain; the line in a bar is the target", Columns: []column{
		{Name: "Domain", Width: 8}, {Name: "Controls", Width: 3, Number: true}, {Name: "Assessed", Width: 4, Number: true}, {Name: "Mean", Width: 3, Number: true},
		{Name: "Weighted", Width: 3, Number: true}, {Name: "Lowest", Width: 3, Number: true}, {Name: "Target", Width: 3, Number: true}, {Name: "Picture, 0 to 5", Width: 8, Picture: true},
	}}
	for _, d := range v.MaturitySummary.Domains {
		t.Rows = append(t.Rows, domainRow(d, or(d.DomainName, v.domain(d.DomainCode))))
	}
	all := domainRow(v.MaturitySummary.Overall, "All domains")
	all.Cells[0] = cell{{Text: "All domains", Strong: true}}
	t.Rows = append(t.Rows, all)
	out := []block{t}
	if r, ok := radar(v.MaturitySummary.Domains); ok {
		out = append(out, r)
	}
	return out
}

func domainRow(d api.DomainMaturity, name string) row {
	b := &bar{Label: name + ": not assessed", Max: float64(topLevel), Mark: -1}
	if d.Mean != nil {
		b.Parts = []barPart{{"level", *d.Mean}}
		b.Label = fmt.Sprintf("%s: %.2f of 5", name, *d.Mean)
	}
	if d.TargetMean != nil {
		b.Mark = *d.TargetMean
		b.Label += fmt.Sprintf(", target %.2f", *d.TargetMean)
	}
	lowest := "–"
	if d.Minimum != nil {
		lowest = fmt.Sprint(*d.Minimum)
	}
	target := "–"
	if d.TargetMean != nil {
		target = fmt.Sprintf("%.2f", *d.TargetMean)
	}
	title := cell{{Text: name, Free: true}}
	if d.DomainCode != "" {
		title = cell{{Text: d.DomainCode, Strong: true}, {Text: " "}, {Text: name, Free: true}}
	}
	weighted := "–"
	if d.WeightedMean != nil {
		weighted = level(d.WeightedMean)
	}
	return row{Cells: []cell{title, number(d.Controls), plain(fmt.Sprintf("%s (%s)", count(d.Assessed), percent(d.Assessed, d.Controls))),
		plain(level(d.Mean)), plain(weighted), plain(lowest), plain(target), {{Bar: b}}}}
}

func (v *view) scoreTable(domain string, from, to int) table {
	t := table{Caption: "Maturity: " + v.domain(domain), Columns: []column{
		{Name: "Control", Width: 8}, {Name: "Level", Width: 6}, {Name: "Target", Width: 3, Number: true}, {Name: "Previous", Width: 3, Number: true}, {Name: "Weight", Width: 3, Number: true}, {Name: "Confidence", Width: 4, Number: true},
	}}
	for i := from; i < to; i++ {
		s := &v.Scores[i]
		lvl := badge("not-assessed", "Not assessed")
		confidence := "–"
		if s.Assessed {
			lvl = badge("level", levelName(s.Level))
			if !s.Overruled() {
				confidence = sureness(s.Confidence, false)
			}
		}
		previous := "–"
		if s.PreviousLevel != nil {
			previous = fmt.Sprint(*s.PreviousLevel)
		}
		var f facts
		if s.Assessed || s.EditedBy != nil {
			f.addText("The level asks for", s.Criteria)
			f.addText("The next level asks for", s.NextCriteria)
			f.addText("Rationale", s.Rationale)
		}
		f.addText("Note", text(s.Note))
		v.edited(&f, &s.Item)
		var detail []block
		if len(f.Items) > 0 {
			detail = append(detail, f)
		}
		detail = append(detail, v.untold(s.ControlCode, s.Evidence, partGap, partSoA)...)
		t.Rows = append(t.Rows, row{
			ID:     v.ids.scores[i],
			Cells:  []cell{v.controlCell(span{Text: s.ControlCode}, s.ControlTitle), lvl, number(s.TargetLevel), plain(previous), number(s.Weight), plain(confidence)},
			Detail: detail,
		})
	}
	return t
}
