package officelayout

import (
	"bytes"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/render/docx"
)

// Example returns an example of a layout in the format.
func Example(format string) ([]byte, error) {
	if format != "docx" {
		return nil, api.Invalid("format", "there is no example for %q; there is one for docx", format)
	}
	return ExampleDocument()
}

// ExampleDocument returns a Word document that uses everything a layout can contain. Its author changes texts and
// styles in Word, and keeps, moves or deletes placeholders.
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
		para("{{! A note to yourself: it does not appear in the report. }}"),
		block.Heading{Text: "{{headline}}"},
		para("{{#each answer}}"),
		block.Para{Class: "lead", Text: block.Text("{{this}}")},
		para("{{/each}}"),
		para("{{#if trend}}{{trend.summary}}{{/if}}"),
		para("{{decision}}"),
		block.Facts{Tiles: true, Items: []block.Fact{
			{Label: "Applicable controls", Value: block.Text("{{figures.applicable}}")},
			{Label: "Implemented", Value: block.Text("{{figures.implemented}}")},
			{Label: "Compliance", Value: block.Text(`{{figures.compliance_pct | percent | default "–"}}`)},
			{Label: "Maturity (of 5)", Value: block.Text(`{{figures.maturity | round 1 | default "–"}}`)},
		}},
	}
	risks := []block.Block{
		para("{{#if risks}}{{risks | count}} risks, the most serious first:{{else}}There are no findings.{{/if}}"),
		table(
			"Key risks",
			[]block.Column{{Name: "No.", Width: 2}, {Name: "Risk", Width: 7}, {Name: "What it may lead to", Width: 9}, {Name: "First step", Width: 8}, {Name: "Owner", Width: 4}},
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
		para("{{implemented}} requirements are implemented, {{partially_implemented}} in part, {{not_implemented}} are not; for {{not_evidenced}} there is no evidence."),
		table(
			"Requirements that are not met", []block.Column{{Name: "Requirement", Width: 3}, {Name: "Title", Width: 9}, {Name: "Controls", Width: 6}},
			`{{#each requirements where status == "Not implemented" limit 20}}{{code}}`, "{{title}}", "{{controls | join}}{{/each}}",
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
		para("There is no open item in the plan."),
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
