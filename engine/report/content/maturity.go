package content

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/prose"
)

const maxLevel = len(api.LevelNames) - 1

func (v *Report) maturitySection() []block.Block {
	if v.Maturity == nil {
		return []block.Block{block.NewPara("empty", "No maturity assessment has been drafted yet.")}
	}
	out := []block.Block{block.Heading{ID: v.anchors.assign("maturity", "levels"), Text: "Maturity levels"}, levelTable(v.Scores)}
	if v.MaturitySummary != nil && len(v.MaturitySummary.Domains) > 0 {
		out = append(out, block.Heading{ID: v.anchors.assign("maturity", "domains"), Text: "By domain"})
		out = append(out, v.domainMaturityBlocks()...)
	}
	if len(v.Scores) == 0 {
		return append(out, block.NewPara("empty", "The maturity assessment has no scores."))
	}
	links := block.LinkList{Label: "Domains of the maturity assessment"}
	unrated := block.Table{Caption: "Controls that are not rated because there is no evidence", Columns: []block.Column{
		{Name: "Domain", Width: 6}, {Name: "Not rated", Width: 3, Number: true}, {Name: "Controls", Width: 14},
	}}
	var tables []block.Block
	for i := 0; i < len(v.Scores); {
		j, d := i, v.Scores[i].DomainCode
		var shown []int
		var codes []string
		for ; j < len(v.Scores) && v.Scores[j].DomainCode == d; j++ {
			if s := &v.Scores[j]; s.Assessed || s.EditedBy != nil || s.Note != nil || s.PreviousLevel != nil {
				shown = append(shown, j)
			} else {
				codes = append(codes, s.ControlCode)
			}
		}
		if len(codes) > 0 {
			unrated.Rows = append(unrated.Rows, block.Row{Cells: []block.Cell{
				block.UserText(v.domainLabel(d)), block.Number(len(codes)), block.Text(strings.Join(codes, ", ")),
			}})
		}
		if len(shown) > 0 {
			id := v.anchors.assign("maturity-domain", d)
			links.Items = append(links.Items, block.Cell{{Text: wording.OrDefault(d, "none"), Ref: id}})
			tables = append(tables, block.Heading{ID: id, Text: v.domainLabel(d), Minor: true}, v.scoreTable(d, shown))
		}
		i = j
	}
	if len(links.Items) > 0 {
		out = append(out, links)
	}
	if len(unrated.Rows) > 0 {
		tables = append(tables, block.Heading{ID: v.anchors.assign("maturity", "unrated"), Text: "Not rated"}, unrated)
	}
	return append(out, tables...)
}

// levelTable returns a table that explains the maturity levels and shows the number of controls at each level.
func levelTable(scores []api.MaturityScore) block.Table {
	by, assessed := [len(api.LevelNames)]int{}, 0
	for i := range scores {
		if s := &scores[i]; s.Assessed && s.Level >= 0 && s.Level <= maxLevel {
			by[s.Level]++
			assessed++
		}
	}
	t := block.Table{Caption: "Controls by maturity level (SCR-CMM)", Columns: []block.Column{
		{
			Name:  "Level",
			Width: 2,
		}, {Name: "Name", Width: 6}, {Name: "Controls", Width: 3, Number: true}, {Name: "Chart", Width: 6, Picture: true},
	}}
	for n, name := range api.LevelNames {
		t.Rows = append(t.Rows, block.Row{Cells: []block.Cell{
			block.Number(n), block.Text(prose.Capitalize(name)), block.Number(by[n]),
			{
				{
					Bar: &block.Bar{
						Label: fmt.Sprintf("Level %d: %d", n, by[n]),
						Parts: []block.BarPart{{Fill: "level", Value: float64(by[n])}},
						Max:   float64(max(slices.Max(by[:]), 1)),
						Mark:  -1,
					},
				},
			},
		}})
	}
	t.Rows = append(
		t.Rows,
		block.Row{
			Cells: []block.Cell{
				block.Text("–"),
				block.Text("Not assessed because there is no evidence to rate"),
				block.Number(len(scores) - assessed),
				nil,
			},
		},
	)
	return t
}

// domainMaturityBlocks returns a table with bars and a radar chart that show the maturity of each domain.
func (v *Report) domainMaturityBlocks() []block.Block {
	t := block.Table{Caption: "Maturity by domain; the line in each bar marks the target", Columns: []block.Column{
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
		t.Rows = append(t.Rows, domainMaturityRow(d, wording.OrDefault(d.DomainName, v.domainLabel(d.DomainCode))))
	}
	all := domainMaturityRow(v.MaturitySummary.Overall, "All domains")
	all.Cells[0] = block.Cell{{Text: "All domains", Strong: true}}
	t.Rows = append(t.Rows, all)
	out := []block.Block{t}
	if r, ok := radarChart(v.MaturitySummary.Domains); ok {
		out = append(out, r)
	}
	return out
}

func domainMaturityRow(d api.DomainMaturity, name string) block.Row {
	b := &block.Bar{Label: name + ": not assessed", Max: float64(maxLevel), Mark: -1}
	if d.Mean != nil {
		b.Parts = []block.BarPart{{Fill: "level", Value: *d.Mean}}
		b.Label = fmt.Sprintf("%s: %s of 5", name, prose.Decimal(*d.Mean))
	}
	if d.TargetMean != nil {
		b.Mark = *d.TargetMean
		b.Label += ", target " + prose.Decimal(*d.TargetMean)
	}
	lowest := "–"
	if d.Minimum != nil {
		lowest = fmt.Sprint(*d.Minimum)
	}
	target := "–"
	if d.TargetMean != nil {
		target = prose.Decimal(*d.TargetMean)
	}
	title := block.Cell{{Text: name, UserText: true}}
	if d.DomainCode != "" {
		title = block.Cell{{Text: d.DomainCode, Strong: true}, {Text: " "}, {Text: name, UserText: true}}
	}
	mean, weighted := "–", "–"
	if d.Mean != nil {
		mean = prose.Decimal(*d.Mean)
	}
	if d.WeightedMean != nil {
		weighted = prose.Decimal(*d.WeightedMean)
	}
	return block.Row{Cells: []block.Cell{
		title, block.Number(d.Controls), block.Text(fmt.Sprintf("%s (%s)", prose.GroupThousands(d.Assessed), wording.FormatPercent(d.Assessed,
			d.Controls))),
		block.Text(mean), block.Text(weighted), block.Text(lowest), block.Text(target),
		{{Bar: b}},
	}}
}

// maxScoreQuotes is the maximum number of passages that a maturity report quotes for a control.
const maxScoreQuotes = 3

// scoreTable returns a table of the scores with the given indexes, which belong to one domain. The column with the
// previous level is left out if there is none.
func (v *Report) scoreTable(domain string, shown []int) block.Table {
	t := block.Table{Caption: "Maturity: " + v.domainLabel(domain), Columns: []block.Column{
		{
			Name:  "Control",
			Width: 8,
		},
		{Name: "Level", Width: 6},
		{Name: "Target", Width: 3, Number: true},
	}}
	compares := slices.ContainsFunc(v.Scores, func(s api.MaturityScore) bool { return s.PreviousLevel != nil })
	if compares {
		t.Columns = append(t.Columns, block.Column{Name: "Previous", Width: 3, Number: true})
	}
	if !v.isForClients() {
		t.Columns = append(t.Columns, block.Column{Name: "Weight", Width: 3, Number: true},
			block.Column{Name: "Confidence", Width: 4, Number: true})
	}
	for _, i := range shown {
		s := &v.Scores[i]
		lvl := block.Badge("not-assessed", "Not assessed")
		confidence := "–"
		if s.Assessed {
			lvl = block.Badge("level", wording.LevelWithName(s.Level))
			if !s.IsLevelOverruled() {
				confidence = formatConfidence(s.Confidence, false)
			}
		}
		previous := "–"
		if s.PreviousLevel != nil {
			previous = fmt.Sprint(*s.PreviousLevel)
		}
		var f block.Facts
		if s.Assessed || s.EditedBy != nil {
			f.AddText("Requirements of this level", s.Criteria)
			f.AddText("Requirements of the next level", s.NextCriteria)
			f.AddText("Rationale", s.Rationale)
		}
		f.AddText("Note", wording.OrEmpty(s.Note))
		v.addEditFact(&f, &s.Item)
		var detail []block.Block
		if len(f.Items) > 0 {
			detail = append(detail, f)
		}
		quoted, more := s.Evidence, 0
		if n := len(quoted) - maxScoreQuotes; n > 0 && v.Template.Name == TemplateMaturity {
			quoted, more = quoted[:maxScoreQuotes], n
		}
		detail = append(detail, v.unquotedEvidenceBlocks(s.ControlCode, quoted, SectionGap, SectionSoA)...)
		if more > 0 {
			detail = append(detail, block.NewPara("empty", fmt.Sprintf("%s in the Statement of Applicability workbook.",
				prose.Count(more, "more passage is", "more passages are"))))
		}
		cells := []block.Cell{
			v.controlCell(block.Span{Text: s.ControlCode}, s.ControlTitle), lvl, block.Number(s.TargetLevel),
		}
		if compares {
			cells = append(cells, block.Text(previous))
		}
		if !v.isForClients() {
			cells = append(cells, block.Number(s.Weight), block.Text(confidence))
		}
		t.Rows = append(t.Rows, block.Row{ID: v.ids.scores[i], Cells: cells, Detail: detail})
	}
	return t
}
