package content

import (
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/prose"
)

func (v *Report) scopeSection() []block.Block {
	s := v.Scope
	if s == nil {
		return []block.Block{block.NewPara("empty", "No scope has been drafted yet.")}
	}
	var f block.Facts
	var open []string
	f.Add("Title", block.UserText(wording.OrDefault(s.Title, "not specified")))
	f.AddText("Description", s.Description)
	for _, l := range []struct {
		name  string
		items []string
	}{
		{"Legal entities", s.LegalEntities},
		{"Business units", s.BusinessUnits},
		{"Locations", s.Locations},
		{"Processes", s.Processes},
		{"Systems", s.Systems},
		{"Data types", s.DataTypes},
		{"Third parties", s.ThirdParties},
		{"Exclusions", s.Exclusions},
		{"Assumptions", s.Assumptions},
		{"Constraints", s.Constraints},
	} {
		switch {
		case len(l.items) > 0:
			f.AddList(l.name, l.items)
		case v.isForClients():
			open = append(open, strings.ToLower(l.name))
		default:
			f.Add(l.name, block.Text("none specified"))
		}
	}
	if len(open) > 0 {
		f.AddText("Limits", "The scope has no limits for "+prose.JoinAnd(open)+".")
	}
	if len(s.EditedFields) > 0 {
		v.addEditFact(&f, &api.Item{EditedFields: s.EditedFields})
	}
	if v.isForClients() {
		return []block.Block{
			f,
			block.Heading{ID: v.anchors.assign("scope", "traits"), Text: "What decides whether some controls apply"},
			block.NewPara("", "Some controls concern only organizations that, for example, develop software. "+
				"Where the documents don't say, such controls stay in."),
			v.traitsTable(),
		}
	}
	return []block.Block{
		f,
		block.Heading{ID: v.anchors.assign("scope", "traits"), Text: "Traits"},
		block.NewPara("", "Controls that only concern organizations with a certain trait apply if the trait is true."), v.traitsTable(),
	}
}

func (v *Report) traitsTable() block.Table {
	t := block.Table{Caption: "Traits of the organization, with reasons", Empty: "No traits have been determined.", Columns: []block.Column{
		{Name: "Trait", Width: 4}, {Name: "Value", Width: 2}, {Name: "Decided by", Width: 3}, {Name: "Reason", Width: 9},
	}}
	clients := v.isForClients()
	if clients {
		t.Caption = "The organization, as described in its documents"
		t.Columns[0].Name, t.Columns[1].Name, t.Columns[2].Name = "Characteristic", "Answer", "Based on"
	}
	names := slices.Clone(api.TraitNames)
	for _, n := range slices.Sorted(maps.Keys(v.Scope.Traits)) {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	for _, n := range names {
		trait, ok := v.Scope.Traits[n]
		if !ok {
			continue
		}
		value := map[string]string{"true": "Yes", "false": "No"}[trait.Value]
		source, reason := wording.Label(trait.Source), trait.Reason
		if clients && trait.Source == "default" {
			source, reason = "–", "The documents don't mention this."
		}
		t.Rows = append(t.Rows, block.Row{
			Cells: []block.Cell{
				block.Text(wording.Label(n)),
				block.Text(wording.OrDefault(value, "Unknown")),
				block.Text(source),
				block.Prose(reason),
			},
			Detail: v.evidenceBlocks(trait.Evidence[:v.maxQuotes(len(trait.Evidence), 1)]),
		})
	}
	return t
}
