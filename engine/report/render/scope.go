package render

import (
	"slices"

	"github.com/scf-service/service/api"
)

func (v *reportData) scopeSection() []block {
	s := v.Scope
	if s == nil {
		return []block{newPara("empty", "No scope has been drafted yet.")}
	}
	var f facts
	f.add("Title", userCell(orDefault(s.Title, "not specified")))
	f.addText("Description", s.Description)
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
		if len(l.items) == 0 {
			f.add(l.name, plainCell("none specified"))
			continue
		}
		f.addList(l.name, l.items)
	}
	if len(s.EditedFields) > 0 {
		v.addEdits(&f, &api.Item{EditedFields: s.EditedFields})
	}
	return []block{
		f,
		heading{ID: v.anchors.assign("scope", "traits"), Text: "Traits"},
		newPara("", "A control that only concerns organizations with a trait applies if the trait is true."), v.traitsTable(),
	}
}

func (v *reportData) traitsTable() table {
	t := table{Caption: "Traits of the organization, with reasons", Empty: "No traits have been determined.", Columns: []column{
		{Name: "Trait", Width: 4}, {Name: "Value", Width: 2}, {Name: "Decided by", Width: 3}, {Name: "Reason", Width: 9},
	}}
	names := slices.Clone(api.TraitNames)
	for _, n := range sortedKeys(v.Scope.Traits) {
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
		t.Rows = append(t.Rows, row{
			Cells: []cell{
				plainCell(displayLabel(n)),
				plainCell(orDefault(value, "Unknown")),
				plainCell(displayLabel(trait.Source)),
				proseCell(trait.Reason),
			},
			Detail: evidenceBlocks(trait.Evidence),
		})
	}
	return t
}
