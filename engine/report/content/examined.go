package content

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/prose"
)

// maxListedDocuments is the maximum number of documents that a client's report lists.
const maxListedDocuments = 40

// examinedSection describes what was examined and what was not.
func (v *Report) examinedSection() []block.Block {
	var out []block.Block
	s := v.Story()
	read, unread := v.partitionDocuments()
	cited := v.citationsByDocument()
	out = append(out, block.NewPara("", v.describeExamined()+" No systems were tested, no sites were visited and nobody was interviewed."))
	if read > 0 {
		t := block.Table{Caption: "Documents examined, most cited first", Columns: []block.Column{
			{Name: "Document", Width: 10},
			{Name: "Kind", Width: 4},
			{Name: "Date", Width: 4},
			{Name: "Passages cited", Width: 4, Number: true},
		}}
		docs := slices.Clone(v.Documents)
		slices.SortStableFunc(docs, func(a, b api.Document) int { return cited[b.ID] - cited[a.ID] })
		for _, d := range docs[:min(len(docs), maxListedDocuments)] {
			if d.Status != api.DocumentIngested {
				continue
			}
			t.Rows = append(t.Rows, block.Row{Cells: []block.Cell{
				block.UserText(wording.OrDefault(d.Title, d.Filename)), block.Text(wording.OrDefault(wording.Label(d.Category), "–")),
				block.NoBreak(wording.OrDefault(wording.OrEmpty(d.EffectiveDate), "–")), block.Number(cited[d.ID]),
			}})
		}
		out = append(out, t)
		if more := len(docs) - maxListedDocuments; more > 0 {
			out = append(out, block.NewPara("", fmt.Sprintf("Not shown here: %s. See %s for the complete register.",
				prose.Count(more, "document", "documents"), s.appendixName(TemplateSoA))))
		}
	}
	var l block.List
	add := func(format string, args ...any) {
		l.Items = append(l.Items, block.UserText(fmt.Sprintf(format, args...)))
	}
	for _, d := range unread[:min(len(unread), 10)] {
		why := ""
		if d.Error != nil {
			why = ": " + strings.TrimRight(*d.Error, ".")
		}
		add("%s could not be read%s.", d.Filename, why)
	}
	if more := len(unread) - 10; more > 0 {
		add("%s could not be read.", prose.Count(more, "more document", "more documents"))
	}
	if n := v.describeNotRead(); n != "" {
		add("Content of the documents that was not read: %s.", n)
	}
	if v.Scope != nil {
		for _, x := range v.Scope.Exclusions[:min(len(v.Scope.Exclusions), 10)] {
			add("Outside the scope: %s.", strings.TrimRight(x, "."))
		}
	}
	if p := s.Posture; p.Excluded > 0 {
		add("%s not assessed. See %s for the reasons.",
			prose.Count(p.Excluded, "measure does not apply and was", "measures do not apply and were"), s.appendixName(TemplateSoA))
	}
	if n := s.Posture.NotEvidenced; n > 0 {
		line := fmt.Sprintf("Too little evidence was provided for %s", prose.Count(n, "measure", "measures"))
		switch names := s.silentDomains(); {
		case len(names) == len(s.Domains):
			line += fmt.Sprintf(", in all %s", prose.Count(len(names), "domain", "domains"))
		case len(names) > maxNamedDomains:
			line += fmt.Sprintf(", including all measures in %s, which “Results by domain” lists", prose.Count(len(names), "domain", "domains"))
		case len(names) > 0:
			line += fmt.Sprintf(", including all measures in %s: %s", prose.Count(len(names), "domain", "domains"), strings.Join(names, "; "))
		}
		add("%s.", line)
	}
	if wanted := v.listWanted(); len(wanted) > 0 {
		shown := wanted[:min(len(wanted), maxWanted)]
		out = append(out, block.Heading{ID: v.anchors.assign("examined", "wanted"), Text: "Evidence to provide first"},
			block.NewPara("", "With these documents and records, the open measures could be judged; the most useful are listed first. "+
				"Providing the ones that already exist is the cheapest way to improve the result."), wantedTable(shown))
		if more := len(wanted) - len(shown); more > 0 {
			out = append(out, block.NewPara("", fmt.Sprintf("Not shown here: %s. See %s for the complete list with actions.",
				prose.Count(more, "further piece of evidence", "further pieces of evidence"), s.appendixName(TemplatePOAM))))
		}
	}
	if len(l.Items) > 0 {
		out = append(out, block.Heading{ID: v.anchors.assign("examined", "not"), Text: "What was not examined"}, l)
	}
	return out
}

// maxNamedDomains is the maximum number of domains without evidence that a sentence names.
const maxNamedDomains = 6

// ownerOfEach is shown in place of the owners of evidence that several people have to provide.
const ownerOfEach = "the owner of each measure"

// maxWanted is the maximum number of pieces of evidence that a client's report requests.
const maxWanted = 25

// wantedEvidence is a piece of evidence that open actions request.
type wantedEvidence struct {
	name, owner string
	controls    int
}

// listWanted returns the evidence requested by open actions, sorted by the number of controls that each piece would
// help to assess.
func (v *Report) listWanted() (out []wantedEvidence) {
	at := map[string]int{}
	for i := range v.POAMItems { // by priority
		it := &v.POAMItems[i]
		if !it.IsOpen() || it.ActionType != "collect_evidence" {
			continue
		}
		for _, name := range it.ExpectedEvidence {
			n, seen := at[name]
			if !seen {
				n = len(out)
				at[name] = n
				out = append(out, wantedEvidence{name: name, owner: ownerName(it)})
			}
			if out[n].owner != ownerName(it) {
				out[n].owner = ownerOfEach
			}
			out[n].controls += 1 + len(it.AlsoCloses)
		}
	}
	general := func(w wantedEvidence) int { // evidence that many have to provide comes last: it names nothing in particular
		if w.owner == ownerOfEach {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(out, func(a, b wantedEvidence) int { return cmp.Or(general(a)-general(b), b.controls-a.controls) })
	return out
}

// wantedTable returns a table of the evidence to provide.
func wantedTable(all []wantedEvidence) block.Table {
	t := block.Table{Caption: "Evidence to provide", Columns: []block.Column{
		{Name: "Evidence", Width: 11}, {Name: "Measures", Width: 3, Number: true}, {Name: "Ask", Width: 10},
	}}
	differ := slices.ContainsFunc(all, func(w wantedEvidence) bool { return w.controls != 1 })
	if !differ {
		t.Columns = slices.Delete(t.Columns, 1, 2)
	}
	for _, w := range all {
		r := block.Row{Cells: []block.Cell{block.UserText(w.name)}}
		if differ {
			r.Cells = append(r.Cells, block.Number(w.controls))
		}
		r.Cells = append(r.Cells, block.UserText(w.owner))
		t.Rows = append(t.Rows, r)
	}
	return t
}

// describeExamined returns a sentence that says how many documents were read, and how many of these only in part.
func (v *Report) describeExamined() string {
	read, _ := v.partitionDocuments()
	partly := 0
	for i := range v.Documents {
		if d := &v.Documents[i]; d.Status == api.DocumentIngested && len(d.NotRead) > 0 {
			partly++
		}
	}
	switch all := len(v.Documents); {
	case all == 0:
		return "No documents have been provided."
	case read == 0:
		return fmt.Sprintf("None of the %s could be read.", prose.Count(all, "document", "documents"))
	case partly > 0:
		return fmt.Sprintf("%s of %s could be opened; %s not read completely, as described below.",
			prose.GroupThousands(read), prose.Count(all, "document", "documents"), prose.Count(partly, "of them was", "of them were"))
	case read == all:
		return fmt.Sprintf("All %s were read and examined.", prose.Count(all, "document", "documents"))
	}
	return fmt.Sprintf("%s of %s could be read and examined.", prose.GroupThousands(read), prose.Count(len(v.Documents), "document", "documents"))
}

// silentDomains returns the names of domains in which no control has evidence.
func (s *Story) silentDomains() (out []string) {
	for _, d := range s.Domains {
		if d.Counts[statusNotEvidenced] == d.Applicable {
			out = append(out, d.Name)
		}
	}
	return out
}

// citationsByDocument returns, for each document, how many of its passages are cited in the Statement of
// Applicability.
func (v *Report) citationsByDocument() map[string]int {
	out := map[string]int{}
	for i := range v.SoAItems {
		for _, e := range v.SoAItems[i].Evidence {
			out[e.DocumentID]++
		}
	}
	return out
}
