package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

// goneDocuments are the files that lines cite and that are no document of the assessment any more.
func (v *view) goneDocuments() (gone []string) {
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

func (v *view) documentsSection() []block {
	gone := v.goneDocuments()
	if len(v.Documents)+len(gone) == 0 {
		return []block{say("empty", "No document has been given as evidence.")}
	}
	var lost []block
	if len(gone) > 0 {
		lost = append(lost, say("", fmt.Sprintf("Lines cite %s been taken away since.", some(len(gone), "document that has", "documents that have"))))
	}
	if len(v.Documents) == 0 {
		return lost
	}
	read, unread := v.readDocuments()
	out := []block{say("", fmt.Sprintf("%s read, %s not.", some(read, "document was", "documents were"), count(len(unread))))}
	out = append(out, lost...)
	if len(unread) > 0 {
		t := table{Caption: "Documents that could not be taken into account", Columns: []column{{Name: "File", Width: 5}, {Name: "Status", Width: 4}, {Name: "Why", Width: 9}}}
		for _, d := range unread {
			why := "It failed without a reason."
			if d.Status != api.DocumentFailed {
				why = "It was still waiting to be read."
			}
			t.Rows = append(t.Rows, row{Cells: []cell{free(d.Filename), badge("draft", label(string(d.Status))), prose(or(text(d.Error), why))}})
		}
		out = append(out, t)
	}
	t := table{Caption: "Register of documents", Columns: []column{
		{Name: "Document", Width: 9}, {Name: "Kind", Width: 3}, {Name: "Version", Width: 3}, {Name: "Date", Width: 4}, {Name: "Pages", Width: 2, Number: true},
		{Name: "Size", Width: 3, Number: true}, {Name: "Status", Width: 4}, {Name: "SHA-256", Width: 8},
	}}
	for _, d := range v.Documents {
		name := free(or(d.Title, d.Filename))
		if d.Title != "" && d.Title != d.Filename {
			name = name.and(span{Text: " "}, span{Text: d.Filename, Mono: true})
		}
		class := "approved"
		if d.Status != api.DocumentIngested {
			class = "draft"
		}
		pages := "–"
		if d.PageCount > 0 {
			pages = count(d.PageCount)
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
			name, plain(or(label(d.Category), "–")), free(or(d.DocVersion, "–")), keep(or(date(d.EffectiveDate), "–")), plain(pages),
			plain(size(d.SizeBytes)), badge(class, label(string(d.Status))), mono(d.SHA256),
		}, Detail: detail})
	}
	return append(out, t)
}

func (v *view) approvalsSection() []block {
	t := table{Caption: "Decisions that were asked for and made", Empty: "No approval has been asked for yet.", Columns: []column{
		{Name: "Deliverable", Width: 4}, {Name: "Version", Width: 3, Number: true}, {Name: "Decision", Width: 4}, {Name: "Asked by", Width: 4}, {Name: "Decided by", Width: 4},
		{Name: "Reason", Width: 6}, {Name: "Content SHA-256", Width: 7},
	}}
	for i := range v.Approvals {
		a := &v.Approvals[i]
		if !v.kind.tells(a.Gate) {
			continue
		}
		class, by, on := "draft", "–", day(a.DecidedAt)
		if a.Status == api.ApprovalApproved {
			class = "approved"
		}
		if a.DecidedBy != nil {
			by = actor(*a.DecidedBy)
			if a.Delegation != nil {
				by += " for " + a.Delegation.DelegatorName
			}
		}
		t.Rows = append(t.Rows, row{Cells: []cell{
			plain(sentence(a.Gate.Title())), number(a.VersionNumber), badge(class, label(a.Told())),
			free(actor(a.RequestedBy)).and(span{Text: " "}, span{Text: day(&a.RequestedAt), Keep: true}), free(by).and(span{Text: " "}, span{Text: on, Keep: true}),
			prose(or(text(a.Reason), "–")), mono(a.TargetSHA256),
		}})
	}
	return []block{say("", "An approval counts for exactly the content whose hash it carries."), t}
}

// actor is who did something; that a key did it is said.
func actor(a api.Actor) string {
	s := or(a.Name, a.ID)
	if a.Type != api.ActorUser && a.Type != "" {
		s += " (" + strings.ReplaceAll(string(a.Type), "_", " ") + ")"
	}
	return s
}
