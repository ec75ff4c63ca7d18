package officelayout

import (
	"bytes"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/render/docx"
	"github.com/scf-service/service/engine/report/render/pptx"
)

// Example returns an example of a layout in the format.
func Example(format string) ([]byte, error) {
	switch format {
	case "docx":
		return ExampleDocument()
	case "pptx":
		return ExamplePresentation()
	}
	return nil, api.Invalid("format", "there is no example layout for the format %q; choose docx or pptx", format)
}

// ExamplePresentation returns a presentation that uses everything a layout can contain.
func ExamplePresentation() ([]byte, error) {
	texts := func(all ...string) (out []content.SlideText) {
		for _, t := range all {
			out = append(out, content.SlideText{Text: t})
		}
		return out
	}
	var b bytes.Buffer
	err := pptx.Write(&b, pptx.Document{
		Frame: block.Document{
			Title: "{{report.title}}", Organization: "{{client.name}}", Assessment: "{{assessment.name}}", Tool: "{{report.tool}}",
		},
		Slides: []content.Slide{
			{
				Cover: true, Title: "{{report.title}}",
				Texts: texts("{{client.name}}", "{{assessment.name}}", "{{report.date | date}}", "{{report.line}}"),
				Small: "{{#if draft}}DRAFT. {{#each draft_reasons}}{{this}} {{/each}}{{/if}}",
			},
			{
				Title: "{{headline}}",
				Tiles: []content.SlideTile{
					{Label: "Overall", Value: "{{posture.rating | label}}"},
					{Label: "Measures in place", Value: "{{posture.implemented}} of {{posture.applicable}}"},
					{Label: "Maturity (of 5)", Value: `{{figures.maturity | round 1 | default "–"}}`},
					{Label: "Critical and high", Value: "{{posture.critical}} + {{posture.high}}"},
				},
				Texts: texts("{{#each answer}}", "{{this}}", "{{/each}}", "{{#if trend}}{{trend.summary}}{{/if}}", "{{decision}}"),
			},
			{
				Title: "{{#if risks}}{{risks | count}} key risks{{else}}No key risks{{/if}}",
				Table: &content.SlideTable{
					Columns: []string{"Risk", "Severity", "What may happen", "Owner"}, Widths: []int{30, 12, 40, 20},
					Rows: [][]content.SlideCell{content.PlainCells(
						"{{#each risks limit 6}}{{@number}}. {{title}}", "{{severity | label}}", "{{consequence | first_sentence}}",
						`{{owner | default "open"}}{{/each}}`,
					)},
				},
			},
			{
				Title: "{{@number}}. {{title}}",
				Texts: texts(
					"Cause: {{cause}}", "Event: {{event}}", "Consequence: {{consequence}}",
					"{{#if first_step}}Main action: {{first_step}}{{/if}}",
				),
				Small: `{{#slide each risks where severity == "critical" or severity == "high" limit 4}}`,
			},
			{Title: "{{charts.heat_map.title}}", Texts: texts("{{image charts.heat_map}}"), Small: "{{#slide if charts.heat_map}}"},
			{
				Title: "Maturity {{figures.maturity | round 1}} of 5", Texts: texts("{{chart charts.maturity_radar}}"),
				Small: "{{#slide if charts.maturity_radar}}",
			},
			{
				Title: "{{figures.open_plan_items}} open actions",
				Table: &content.SlideTable{
					Columns: []string{"Due in", "Actions", "Effort"}, Widths: []int{20, 60, 30},
					Rows: [][]content.SlideCell{content.PlainCells(
						"{{#each roadmap}}{{name}}", "{{items | count}}: {{#each items limit 2}}{{action | first_sentence}} {{/each}}",
						"{{effort}}{{/each}}",
					)},
				},
			},
			{Title: "Limits", Texts: texts("{{report.limits}}", "Written by {{report.tool}}.")},
		},
	})
	return b.Bytes(), err
}

// ExampleDocument returns a Word document that uses everything a layout can contain. Users adapt it in Word by
// changing texts and styles, and by keeping, moving or deleting placeholders.
func ExampleDocument() ([]byte, error) {
	para := func(text string) block.Para { return block.NewPara("", text) }
	heading := func(text string) block.Heading { return block.Heading{Text: text} }
	table := func(caption string, columns []block.Column, row ...string) block.Table {
		cells := make([]block.Cell, len(row))
		for i, text := range row {
			cells[i] = block.Text(text)
		}
		return block.Table{Caption: caption, Columns: columns, Rows: []block.Row{{Cells: cells}}}
	}
	summary := []block.Block{
		para("{{#if draft}}DRAFT. {{#each draft_reasons}}{{this}} {{/each}}{{/if}}"),
		para("{{#if logo}}{{image logo width 4}}{{/if}}"),
		para("Prepared for {{client.name}}, {{report.date | date}}. {{report.line}}"),
		para("{{! This is a comment. It does not appear in the report. }}"),
		block.Heading{Text: "{{headline}}"},
		para("{{#each answer}}"),
		block.Para{Class: "lead", Text: block.Text("{{this}}")},
		para("{{/each}}"),
		para("{{#if trend}}{{trend.summary}}{{/if}}"),
		para("{{decision}}"),
		block.Facts{Tiles: true, Items: []block.Fact{
			{Label: "Applicable controls", Value: block.Text("{{figures.applicable}}")},
			{Label: "Implemented", Value: block.Text("{{figures.implemented}}")},
			{Label: "In place, with partly in place counted as half (%)", Value: block.Text(`{{figures.compliance_pct | round 1 | default "–"}}`)},
			{Label: "Maturity (of 5)", Value: block.Text(`{{figures.maturity | round 1 | default "–"}}`)},
		}},
	}
	risks := []block.Block{
		para("{{#if risks}}{{risks | count}} risks, the most serious first:{{else}}There are no findings.{{/if}}"),
		table(
			"Key risks",
			[]block.Column{
				{Name: "No.", Width: 2},
				{Name: "Risk", Width: 7},
				{Name: "Possible consequences", Width: 9},
				{Name: "Main action", Width: 8},
				{Name: "Owner", Width: 4},
			},
			`{{#each risks}}{{@number}}`, `{{title}} ({{severity | label}})`, `{{consequence | first_sentence}}`, "{{first_step | first_sentence}}",
			`{{owner | default "open"}}{{#if step_due}}, {{step_due | date}}{{/if}}{{/each}}`,
		),
		para("{{#if charts.heat_map}}"),
		para("{{image charts.heat_map}}"),
		para("{{charts.heat_map.title}}"),
		para("{{/if}}"),
	}
	domains := []block.Block{
		para("{{#if charts.maturity_radar}}{{image charts.maturity_radar width 11}}{{/if}}"),
		table(
			"Domains",
			[]block.Column{
				{Name: "Domain", Width: 8},
				{Name: "Controls", Width: 3, Number: true},
				{Name: "Implemented", Width: 4, Number: true},
				{Name: "Findings", Width: 3, Number: true},
				{Name: "Maturity", Width: 3, Number: true},
			},
			"{{#each domain_results}}{{name}}", "{{controls}}", "{{implemented}}",
			"{{findings}}{{#if critical > 0}} ({{critical}} critical){{/if}}", `{{maturity | round 1 | default "–"}}{{/each}}`,
		),
		para("{{#each framework_results as framework}}"),
		heading("{{framework.name}}"),
		para("{{implemented}} requirements are implemented, {{partially_implemented}} in part, {{not_implemented}} are not; " +
			"for {{not_evidenced}} there is no evidence."),
		table(
			"Requirements that need work",
			[]block.Column{{Name: "Requirement", Width: 3}, {Name: "Title", Width: 9}, {Name: "Controls", Width: 6}},
			`{{#each requirements where status != "Implemented" and status != "Excluded" limit 20}}{{code}}`, "{{title}}", "{{controls | join}}{{/each}}",
		),
		para("{{/each}}"),
	}
	plan := []block.Block{
		para("{{#each roadmap}}"),
		heading("{{name}}: {{items | count}} to complete, {{effort}}"),
		table(
			"Due in {{name}}",
			[]block.Column{{Name: "Item", Width: 3}, {Name: "Action", Width: 12}, {Name: "Effort", Width: 3}, {Name: "Owner", Width: 4}},
			"{{#each items}}{{code}}", "{{action | first_sentence}}", "{{effort | label}}", `{{owner | default "open"}}{{/each}}`,
		),
		para("{{else}}"),
		para("The plan has no open items."),
		para("{{/each}}"),
		para("{{#if charts.timeline}}{{image charts.timeline}}{{/if}}"),
	}
	findings := []block.Block{
		para(`{{#each findings where severity == "critical" or severity == "high"}}`),
		heading("{{@number}}. {{control_code}} {{control_title}}"),
		para("{{severity | label}}, {{domain}}. {{requirements}}"),
		para("{{condition}}"),
		para("{{#unless effect == \"\"}}Effect: {{effect}}{{/unless}}"),
		para("Recommendation: {{recommendation}}"),
		para("{{#each evidence limit 3}}"),
		para("“{{quote}}” ({{document}}{{#if place}}, {{place}}{{/if}})"),
		para("{{else}}"),
		para("No supporting passage was found."),
		para("{{/each}}"),
		para("{{/each}}"),
	}
	theme, err := drawing.NewTheme(nil, nil)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = docx.WriteBlocks(&b, block.Document{
		Title: "{{report.title}}", Organization: "{{#if draft}}DRAFT · {{/if}}{{client.name}}", Assessment: "{{assessment.name}}",
		AsOf: "{{report.date | date}}", Footer: "{{report.footer}}", Theme: theme,
		Sections: []block.Section{
			{Title: "Summary", Blocks: summary},
			{Title: "Key risks", Blocks: risks},
			{Title: "Domains and frameworks", Blocks: domains},
			{Title: "Roadmap", Blocks: plan},
			{Title: "Critical and high findings", Blocks: findings},
			{Title: "Limits", Blocks: []block.Block{para("{{report.limits}}"), para("Written by {{report.tool}}.")}},
		},
	})
	return b.Bytes(), err
}
