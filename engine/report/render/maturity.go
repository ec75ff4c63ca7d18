package render

import (
	"fmt"
	"slices"

	"github.com/scf-service/service/api"
)

const maxLevel = len(api.LevelNames) - 1

func (v *reportData) maturitySection() []block {
	if v.Maturity == nil {
		return []block{newPara("empty", "No maturity assessment has been drafted yet.")}
	}
	out := []block{heading{ID: v.anchors.assign("maturity", "levels"), Text: "Maturity levels"}, levelTable(v.Scores)}
	if v.MaturitySummary != nil && len(v.MaturitySummary.Domains) > 0 {
		out = append(out, heading{ID: v.anchors.assign("maturity", "domains"), Text: "By domain"})
		out = append(out, v.maturityBlocks()...)
	}
	if len(v.Scores) == 0 {
		return append(out, newPara("empty", "The maturity assessment has no scores."))
	}
	links := linkList{Label: "Domains of the maturity assessment"}
	var tables []block
	for i := 0; i < len(v.Scores); {
		j, d := i, v.Scores[i].DomainCode
		for j < len(v.Scores) && v.Scores[j].DomainCode == d {
			j++
		}
		id := v.anchors.assign("maturity-domain", d)
		links.Items = append(links.Items, cell{{Text: orDefault(d, "none"), Ref: id}})
		tables = append(tables, heading{ID: id, Text: v.domainLabel(d), Minor: true}, v.scoreTable(d, i, j))
		i = j
	}
	return append(append(out, links), tables...)
}

// levelTable explains the levels and counts the controls at each.
func levelTable(scores []api.MaturityScore) table {
	by, assessed := [len(api.LevelNames)]int{}, 0
	for i := range scores {
		if s := &scores[i]; s.Assessed && s.Level >= 0 && s.Level <= maxLevel {
			by[s.Level]++
			assessed++
		}
	}
	t := table{Caption: "Controls by level (SCR-CMM)", Columns: []column{
		{
			Name:  "Level",
			Width: 2,
		}, {Name: "Name", Width: 6}, {Name: "Controls", Width: 3, Number: true}, {Name: "Picture", Width: 6, Picture: true},
	}}
	for n, name := range api.LevelNames {
		t.Rows = append(t.Rows, row{Cells: []cell{
			numberCell(n), plainCell(capitalize(name)), numberCell(by[n]),
			{
				{
					Bar: &bar{
						Label: fmt.Sprintf("Level %d: %d", n, by[n]),
						Parts: []barPart{{"level", float64(by[n])}},
						Max:   float64(max(slices.Max(by[:]), 1)),
						Mark:  -1,
					},
				},
			},
		}})
	}
	t.Rows = append(
		t.Rows,
		row{Cells: []cell{plainCell("–"), plainCell("Not assessed: no evidence to rate"), numberCell(len(scores) - assessed), nil}},
	)
	return t
}

// maturityBlocks returns the domains as a table with bars, and a radar chart.
func (v *reportData) maturityBlocks() []block {
	t := table{Caption: "Maturity by domain; the line in each bar marks the target", Columns: []column{
		{Name: "Domain", Width: 8},
		{Name: "Controls", Width: 3, Number: true},
		{Name: "Assessed", Width: 4, Number: true},
		{Name: "Mean", Width: 3, Number: true},
		{Name: "Weighted", Width: 3, Number: true},
		{Name: "Lowest", Width: 3, Number: true},
		{Name: "Target", Width: 3, Number: true},
		{Name: "Chart, 0 to 5", Width: 8, Picture: true},
	}}
	for _, d := range v.MaturitySummary.Domains {
		t.Rows = append(t.Rows, domainMaturityRow(d, orDefault(d.DomainName, v.domainLabel(d.DomainCode))))
	}
	all := domainMaturityRow(v.MaturitySummary.Overall, "All domains")
	all.Cells[0] = cell{{Text: "All domains", Strong: true}}
	t.Rows = append(t.Rows, all)
	out := []block{t}
	if r, ok := radarChart(v.MaturitySummary.Domains); ok {
		out = append(out, r)
	}
	return out
}

func domainMaturityRow(d api.DomainMaturity, name string) row {
	b := &bar{Label: name + ": not assessed", Max: float64(maxLevel), Mark: -1}
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
	title := cell{{Text: name, UserText: true}}
	if d.DomainCode != "" {
		title = cell{{Text: d.DomainCode, Strong: true}, {Text: " "}, {Text: name, UserText: true}}
	}
	weighted := "–"
	if d.WeightedMean != nil {
		weighted = formatMean(d.WeightedMean)
	}
	return row{Cells: []cell{
		title, numberCell(d.Controls), plainCell(fmt.Sprintf("%s (%s)", formatCount(d.Assessed), formatPercent(d.Assessed, d.Controls))),
		plainCell(formatMean(d.Mean)), plainCell(weighted), plainCell(lowest), plainCell(target),
		{{Bar: b}},
	}}
}

func (v *reportData) scoreTable(domain string, from, to int) table {
	t := table{Caption: "Maturity: " + v.domainLabel(domain), Columns: []column{
		{
			Name:  "Control",
			Width: 8,
		},
		{Name: "Level", Width: 6},
		{Name: "Target", Width: 3, Number: true},
		{Name: "Previous", Width: 3, Number: true},
		{Name: "Weight", Width: 3, Number: true},
		{Name: "Confidence", Width: 4, Number: true},
	}}
	for i := from; i < to; i++ {
		s := &v.Scores[i]
		lvl := badgeCell("not-assessed", "Not assessed")
		confidence := "–"
		if s.Assessed {
			lvl = badgeCell("level", levelName(s.Level))
			if !s.IsOverruled() {
				confidence = formatConfidence(s.Confidence, false)
			}
		}
		previous := "–"
		if s.PreviousLevel != nil {
			previous = fmt.Sprint(*s.PreviousLevel)
		}
		var f facts
		if s.Assessed || s.EditedBy != nil {
			f.addText("Requirements of this level", s.Criteria)
			f.addText("Requirements of the next level", s.NextCriteria)
			f.addText("Rationale", s.Rationale)
		}
		f.addText("Note", stringOrEmpty(s.Note))
		v.addEdits(&f, &s.Item)
		var detail []block
		if len(f.Items) > 0 {
			detail = append(detail, f)
		}
		detail = append(detail, v.unquotedEvidenceBlocks(s.ControlCode, s.Evidence, sectionGap, sectionSoA)...)
		t.Rows = append(t.Rows, row{
			ID: v.ids.scores[i],
			Cells: []cell{
				v.controlCell(span{Text: s.ControlCode}, s.ControlTitle),
				lvl,
				numberCell(s.TargetLevel),
				plainCell(previous),
				numberCell(s.Weight),
				plainCell(confidence),
			},
			Detail: detail,
		})
	}
	return t
}
