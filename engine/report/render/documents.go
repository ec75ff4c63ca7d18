package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

// removedDocuments returns the file names that items cite but that are no longer documents of the
// assessment.
func (v *reportData) removedDocuments() (gone []string) {
	there := make(map[string]bool, len(v.Documents))
	for _, d := range v.Documents {
		there[d.ID] = true
	}
	for i := range v.SoAItems {
		for _, e := range v.SoAItems[i].Evidence {
			if e.DocumentID != "" && !there[e.DocumentID] && !slices.Contains(gone, e.Filename) {
				gone = append(gone, e.Filename)
			}
		}
	}
	slices.Sort(gone)
	return gone
}

func (v *reportData) documentsSection() []block {
	gone := v.removedDocuments()
	if len(v.Documents)+len(gone) == 0 {
		return []block{newPara("empty", "No documents have been provided as evidence.")}
	}
	var lost []block
	if len(gone) > 0 {
		lost = append(
			lost,
			newPara(
				"",
				fmt.Sprintf("This report cites %s since been removed.", pluralize(len(gone), "document that has", "documents that have")),
			),
		)
	}
	if len(v.Documents) == 0 {
		return lost
	}
	read, unread := v.partitionDocuments()
	out := []block{
		newPara("", fmt.Sprintf("%s read, %s not.", pluralize(read, "document was", "documents were"), formatCount(len(unread)))),
	}
	out = append(out, lost...)
	if len(unread) > 0 {
		t := table{
			Caption: "Documents that could not be considered",
			Columns: []column{{Name: "File", Width: 5}, {Name: "Status", Width: 4}, {Name: "Why", Width: 9}},
		}
		for _, d := range unread {
			why := "Processing failed; no reason was recorded."
			if d.Status != api.DocumentFailed {
				why = "It had not been processed yet."
			}
			t.Rows = append(
				t.Rows,
				row{
					Cells: []cell{
						userCell(d.Filename),
						badgeCell("draft", displayLabel(string(d.Status))),
						proseCell(orDefault(stringOrEmpty(d.Error), why)),
					},
				},
			)
		}
		out = append(out, t)
	}
	t := table{Caption: "Document register", Columns: []column{
		{Name: "Document", Width: 9},
		{Name: "Kind", Width: 3},
		{Name: "Version", Width: 3},
		{Name: "Date", Width: 4},
		{Name: "Pages", Width: 2, Number: true},
		{Name: "Size", Width: 3, Number: true},
		{Name: "Status", Width: 4},
		{Name: "SHA-256", Width: 8},
	}}
	for _, d := range v.Documents {
		name := userCell(orDefault(d.Title, d.Filename))
		if d.Title != "" && d.Title != d.Filename {
			name = name.with(span{Text: " "}, span{Text: d.Filename, Mono: true})
		}
		class := "approved"
		if d.Status != api.DocumentIngested {
			class = "draft"
		}
		pages := "–"
		if d.PageCount > 0 {
			pages = formatCount(d.PageCount)
		}
		var f facts
		f.addText("Owner", d.Owner)
		f.addText("Approved by", d.ApprovedBy)
		f.addList("Warnings", d.Warnings)
		var detail []block
		if len(f.Items) > 0 {
			detail = []block{f}
		}
		t.Rows = append(t.Rows, row{Cells: []cell{
			name,
			plainCell(orDefault(displayLabel(d.Category), "–")),
			userCell(orDefault(d.DocVersion, "–")),
			noBreakCell(orDefault(dateOrEmpty(d.EffectiveDate), "–")),
			plainCell(pages),
			plainCell(formatSize(d.SizeBytes)),
			badgeCell(class, displayLabel(string(d.Status))),
			monoCell(d.SHA256),
		}, Detail: detail})
	}
	return append(out, t)
}

func (v *reportData) approvalsSection() []block {
	t := table{Caption: "Approval requests and decisions", Empty: "No approval has been requested yet.", Columns: []column{
		{Name: "Deliverable", Width: 4},
		{Name: "Version", Width: 3, Number: true},
		{Name: "Decision", Width: 4},
		{Name: "Requested by", Width: 4},
		{Name: "Decided by", Width: 4},
		{Name: "Reason", Width: 6},
		{Name: "Content SHA-256", Width: 7},
	}}
	for i := range v.Approvals {
		a := &v.Approvals[i]
		if !v.template.hasDeliverable(a.Gate) {
			continue
		}
		class, by, on := "draft", "–", formatDate(a.DecidedAt)
		if a.Status == api.ApprovalApproved {
			class = "approved"
		}
		if a.DecidedBy != nil {
			by = actorName(*a.DecidedBy)
			if a.Delegation != nil {
				by += " for " + a.Delegation.DelegatorName
			}
		}
		t.Rows = append(t.Rows, row{Cells: []cell{
			plainCell(capitalize(a.Gate.Title())), numberCell(a.VersionNumber), badgeCell(class, displayLabel(a.DisplayStatus())),
			userCell(
				actorName(a.RequestedBy),
			).with(
				span{Text: " "},
				span{Text: formatDate(&a.RequestedAt), NoBreak: true},
			), userCell(by).with(span{Text: " "}, span{Text: on, NoBreak: true}),
			proseCell(orDefault(stringOrEmpty(a.Reason), "–")), monoCell(a.TargetSHA256),
		}})
	}
	return []block{newPara("", "An approval applies only to the content with the hash shown."), t}
}

// actorName returns the name of who acted, noting if it was an API key.
func actorName(a api.Actor) string {
	s := orDefault(a.Name, a.ID)
	if a.Type != api.ActorUser && a.Type != "" {
		s += " (" + strings.ReplaceAll(string(a.Type), "_", " ") + ")"
	}
	return s
}
