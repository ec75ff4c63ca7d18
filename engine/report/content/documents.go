package content

import (
	"fmt"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/prose"
)

// removedCitedDocuments returns the names of files that items cite as evidence although they are no longer
// documents of the assessment.
func (v *Report) removedCitedDocuments() (removed []string) {
	present := make(map[string]bool, len(v.Documents))
	for _, d := range v.Documents {
		present[d.ID] = true
	}
	for i := range v.SoAItems {
		for _, e := range v.SoAItems[i].Evidence {
			if e.DocumentID != "" && !present[e.DocumentID] && !slices.Contains(removed, e.Filename) {
				removed = append(removed, e.Filename)
			}
		}
	}
	slices.Sort(removed)
	return removed
}

// describeNotRead lists the unread contents of the documents, or returns "" if everything was read.
func (v *Report) describeNotRead() string {
	var all []api.NotRead
	for _, d := range v.Documents {
		all = append(all, d.NotRead...)
	}
	return api.DescribeNotRead(all)
}

func (v *Report) documentsSection() []block.Block {
	removed := v.removedCitedDocuments()
	if len(v.Documents)+len(removed) == 0 {
		return []block.Block{block.NewPara("empty", "No documents have been provided as evidence.")}
	}
	var lost []block.Block
	if len(removed) > 0 {
		lost = append(
			lost,
			block.NewPara(
				"",
				fmt.Sprintf(
					"This report cites %s been removed in the meantime.",
					prose.Count(len(removed), "document that has", "documents that have"),
				),
			),
		)
	}
	if len(v.Documents) == 0 {
		return lost
	}
	read, unread := v.partitionDocuments()
	summary := prose.Count(read, "document was read.", "documents were read.")
	if len(unread) > 0 {
		summary = fmt.Sprintf(
			"%s of %s could be read.",
			prose.GroupThousands(read),
			prose.Count(len(v.Documents), "document", "documents"),
		)
	}
	if unread := v.describeNotRead(); unread != "" {
		summary += " The following content was not read: " + unread + ". The register lists it for each document."
	}
	if note := v.Summary.UnreadEvidence.Note(); note != "" {
		summary += " " + note
	}
	out := []block.Block{block.NewPara("", summary)}
	out = append(out, lost...)
	if len(unread) > 0 {
		t := block.Table{
			Caption: "Documents that could not be considered",
			Columns: []block.Column{{Name: "File", Width: 5}, {Name: "Status", Width: 4}, {Name: "Why", Width: 9}},
		}
		for _, d := range unread {
			why := "Processing failed; no reason was recorded."
			if d.Status != api.DocumentFailed {
				why = "The document had not been processed yet."
			}
			t.Rows = append(
				t.Rows,
				block.Row{
					Cells: []block.Cell{
						block.UserText(d.Filename),
						block.Badge("draft", wording.Label(string(d.Status))),
						block.Prose(wording.OrDefault(wording.OrEmpty(d.Error), why)),
					},
				},
			)
		}
		out = append(out, t)
	}
	t := block.Table{Caption: "Document register", Columns: []block.Column{
		{Name: "Document", Width: 9},
		{Name: "Kind", Width: 4},
		{Name: "Version", Width: 3},
		{Name: "Date", Width: 4},
		{Name: "Pages", Width: 3, Number: true},
		{Name: "Size", Width: 3, Number: true},
		{Name: "Status", Width: 4},
		{Name: "SHA-256", Width: 8},
	}}
	for _, d := range v.Documents {
		name := block.UserText(wording.OrDefault(d.Title, d.Filename))
		if d.Title != "" && d.Title != d.Filename {
			name = name.With(block.Span{Text: " "}, block.Span{Text: d.Filename, Mono: true})
		}
		class, status := "approved", "Read"
		switch {
		case d.Status != api.DocumentIngested:
			class, status = "draft", wording.Label(string(d.Status))
		case len(d.NotRead) > 0:
			class, status = "draft", "Read in part"
		}
		pages := "–"
		if d.PageCount > 0 {
			pages = prose.GroupThousands(d.PageCount)
		}
		var f block.Facts
		f.AddText("Owner", d.Owner)
		f.AddText("Approved by", d.ApprovedBy)
		f.AddList("Warnings", d.Warnings)
		f.AddText("Not read", api.DescribeNotRead(d.NotRead))
		if d.Outdated {
			f.AddText("Outdated", "The document was read by an older version of this program.")
		}
		var detail []block.Block
		if len(f.Items) > 0 {
			detail = []block.Block{f}
		}
		t.Rows = append(t.Rows, block.Row{Cells: []block.Cell{
			name,
			block.Text(wording.OrDefault(wording.Label(d.Category), "–")),
			block.UserText(wording.OrDefault(d.DocVersion, "–")),
			block.NoBreak(wording.OrDefault(wording.OrEmpty(d.EffectiveDate), "–")),
			block.Text(pages),
			block.Text(wording.FormatByteSize(d.SizeBytes)),
			block.Badge(class, status),
			block.Mono(d.SHA256),
		}, Detail: detail})
	}
	return append(out, t)
}

func (v *Report) approvalsSection() []block.Block {
	t := block.Table{Caption: "Approval requests and decisions", Empty: "No approval has been requested yet.", Columns: []block.Column{
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
		if !v.Template.HasDeliverable(a.Gate) {
			continue
		}
		class, status, by, on := "draft", wording.Label(a.DisplayStatus()), "–", wording.ISODateOrEmpty(a.DecidedAt)
		switch {
		case a.Status == api.ApprovalApproved && a.InAdvance:
			status = "Approved in advance"
		case a.Status == api.ApprovalApproved:
			class = "approved"
		}
		if a.DecidedBy != nil {
			by = ActorNameWithType(*a.DecidedBy) + a.DeciderSuffix()
		}
		t.Rows = append(t.Rows, block.Row{Cells: []block.Cell{
			block.Text(
				prose.Capitalize(a.Gate.Title()),
			), block.Number(a.VersionNumber), block.Badge(class, status),
			block.UserText(
				ActorNameWithType(a.RequestedBy),
			).With(
				block.Span{Text: " "},
				block.Span{Text: wording.ISODateOrEmpty(&a.RequestedAt), NoBreak: true},
			), block.UserText(by).With(block.Span{Text: " "}, block.Span{Text: on, NoBreak: true}),
			block.Prose(wording.OrDefault(wording.OrEmpty(a.Reason), "–")), block.Mono(a.TargetSHA256),
		}})
	}
	return []block.Block{block.NewPara("", "An approval applies only to content with the hash shown."), t}
}

// ActorNameWithType returns the name of an actor. If the actor is not a user, the type of actor is added.
func ActorNameWithType(a api.Actor) string {
	s := wording.OrDefault(a.Name, a.ID)
	if a.Type != api.ActorUser && a.Type != "" {
		s += " (" + prose.Humanize(a.Type) + ")"
	}
	return s
}
