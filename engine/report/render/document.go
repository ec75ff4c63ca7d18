package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

// document tells the view's template as sections, in the template's order.
func (v *view) document() document {
	d := document{
		Title: v.title, Organization: v.Organization.Name, Assessment: v.Assessment.Name,
		Draft: v.draft, AsOf: moment(v.AsOf), Tool: v.Tool,
		Facts: v.masthead(), Versions: v.versions(), Theme: v.theme, Line: v.Brand.Line, Footer: v.Brand.Footer, Logo: v.Brand.Logo,
	}
	if v.Catalog.IsStarter {
		d.Notices = append(d.Notices, "STARTER CATALOG. "+starterNotice)
	}
	if old := v.outdated(); len(old) > 0 {
		d.Notices = append(d.Notices, outdatedMark+strings.Join(old, " "))
	}
	v.nameAnchors()
	v.notePassages()
	for _, p := range v.kind.parts {
		d.Sections = append(d.Sections, v.section(p))
	}
	return d
}

// notePassages notes which passages a control has in each part that quotes them, so that the parts
// after it needn't.
func (v *view) notePassages() {
	v.passages = map[part]map[string][]api.Evidence{partGap: {}, partSoA: {}}
	if v.kind.shows(partGap) {
		for i := range v.Findings {
			f := &v.Findings[i]
			v.passages[partGap][f.ControlCode] = append(v.passages[partGap][f.ControlCode], f.Evidence...)
		}
	}
	if v.kind.shows(partSoA) {
		for i := range v.SoAItems {
			v.passages[partSoA][v.SoAItems[i].ControlCode] = v.SoAItems[i].Evidence
		}
	}
}

// nameAnchors gives every item its anchor first, so that links may point forward.
func (v *view) nameAnchors() {
	if v.kind.shows(partSoA) {
		for i := range v.SoAItems {
			v.ids.soa = append(v.ids.soa, v.anchors.add("soa", v.SoAItems[i].ControlCode))
		}
	}
	if v.kind.shows(partGap) {
		for i := range v.Findings {
			v.ids.findings = append(v.ids.findings, v.anchors.add("finding", or(v.Findings[i].ControlCode, "none")))
		}
	}
	if v.kind.shows(partMaturity) {
		for i := range v.Scores {
			v.ids.scores = append(v.ids.scores, v.anchors.add("level", v.Scores[i].ControlCode))
		}
	}
	if v.kind.shows(partPOAM) {
		for i := range v.POAMItems {
			v.ids.plan = append(v.ids.plan, v.anchors.add("plan", v.POAMItems[i].POAMCode))
		}
	}
}

func (v *view) section(p part) section {
	s := section{ID: string(p)}
	switch p {
	case partSummary:
		s.Title, s.Blocks = "Executive summary", v.summarySection()
	case partScope:
		s.Title, s.Blocks = "Scope", v.scopeSection()
		switch {
		case v.Scope == nil:
		case v.Scope.Status != api.VersionApproved:
			s.Draft = fmt.Sprintf("The scope (version %d) is %s.", v.Scope.VersionNumber, words(string(v.Scope.Status)))
		default:
			s.Approved = approvedWords(v.personOf(v.Scope.ApprovedBy), day(v.Scope.ApprovedAt))
		}
		return s
	case partCoverage:
		s.Title, s.Blocks = "Coverage of the frameworks", v.coverageSection()
		return v.marked(s, api.GateSoA)
	case partSoA:
		s.Title, s.Blocks = "Statement of Applicability", v.soaSection()
		return v.marked(s, api.GateSoA)
	case partGap:
		s.Title, s.Blocks = "Gap analysis", v.gapSection()
		return v.marked(s, api.GateGapAnalysis)
	case partMaturity:
		s.Title, s.Blocks = "Maturity", v.maturitySection()
		return v.marked(s, api.GateMaturity)
	case partPOAM:
		s.Title, s.Blocks = "Plan of action and milestones", v.poamSection()
		return v.marked(s, api.GatePOAM)
	case partDocuments:
		s.Title, s.Blocks = "Documents", v.documentsSection()
	case partApprovals:
		s.Title, s.Blocks = "Approvals", v.approvalsSection()
	case partBasis:
		s.Title, s.Blocks = "Basis and limits", v.basisSection()
	}
	if len(v.draft) > 0 {
		s.Draft = "Not everything this report shows was approved."
	}
	return s
}

// marked says at the head of a section whether its deliverable was approved.
func (v *view) marked(s section, g api.Gate) section {
	st := v.standing(g)
	if !st.approved {
		s.Draft = st.why
		return s
	}
	s.Approved = approvedWords(v.approver(st), day(approvedAt(st)))
	return s
}

func approvedWords(by, on string) string {
	s := "Approved"
	if by != "" {
		s += " by " + by
	}
	if on != "" {
		s += " on " + on
	}
	return s + "."
}

func (v *view) masthead() facts {
	var f facts
	f.add("Organization", free(or(v.Organization.Name, "not stated")))
	f.add("Assessment", free(or(v.Assessment.Name, "not stated")))
	f.addText("About", v.Assessment.Description)
	f.add("State", plain(label(string(v.Assessment.State))))
	if v.Assessment.DueDate != nil {
		f.add("Due", keep(date(v.Assessment.DueDate)))
	}
	var frameworks []cell
	for _, fw := range v.Frameworks {
		frameworks = append(frameworks, free(or(fw.Name, fw.Code)).and(span{Text: " "}, span{Text: fw.Code, Mono: true}))
	}
	if len(frameworks) == 0 {
		f.add("Frameworks", plain("none was chosen"))
	} else {
		f.Items = append(f.Items, fact{Label: "Frameworks", List: frameworks})
	}
	f.add("Catalog", plain(sentence(v.catalogName())))
	f.add("Catalog SHA-256", v.catalogHash())
	f.add("As of", plain(moment(v.AsOf)))
	f.add("Written by", free(or(v.Tool, "not stated")))
	return f
}

func (v *view) catalogHash() cell {
	if v.Catalog.SourceSHA256 == nil {
		return plain("none: the catalog has no source file")
	}
	return mono(*v.Catalog.SourceSHA256)
}

// versions is the table of what the report rests on.
func (v *view) versions() table {
	t := table{Caption: "Versions this report is made from", Columns: []column{
		{Name: "Deliverable", Width: 5}, {Name: "Version", Width: 3, Number: true}, {Name: "Status", Width: 5}, {Name: "Items", Width: 2, Number: true},
		{Name: "Prepared by", Width: 4}, {Name: "Approved by", Width: 4}, {Name: "Approved on", Width: 4}, {Name: "Content SHA-256", Width: 7},
	}}
	for _, g := range v.kind.gates {
		st := v.standing(g)
		name := plain(sentence(g.Title()))
		if st.version == nil {
			t.Rows = append(t.Rows, row{Cells: []cell{name, plain("–"), badge("draft", "Not drafted yet"), plain("–"), plain("–"), plain("–"), plain("–"), plain("–")}})
			continue
		}
		status := badge("approved", "Approved")
		switch {
		case st.approved:
		case st.version.Status == api.VersionApproved:
			status = badge("draft", "Changed since its approval")
		default:
			status = badge("draft", label(string(st.version.Status)))
		}
		t.Rows = append(t.Rows, row{Cells: []cell{
			name, number(st.version.VersionNumber), status, number(v.itemCount(g)), free(v.person(st.version.CreatedBy)),
			free(or(v.approver(st), "–")), keep(or(day(approvedAt(st)), "–")), mono(st.version.ContentSHA256),
		}})
	}
	return t
}

func (v *view) itemCount(g api.Gate) int {
	switch g {
	case api.GateSoA:
		return len(v.SoAItems)
	case api.GateGapAnalysis:
		return len(v.Findings)
	case api.GateMaturity:
		return len(v.Scores)
	}
	return len(v.POAMItems)
}

// evidence is an item's passages as quotes.
func evidence(all []api.Evidence) []block {
	if len(all) == 0 {
		return nil
	}
	q := quotes{}
	for _, e := range all {
		q.Items = append(q.Items, quote{
			Text: e.Quote, Document: or(e.DocumentTitle, e.Filename), Place: place(e.Locator), Headings: strings.Join(e.HeadingPath, " › "),
			Stance: words(e.Stance), Supports: e.Supports, SHA256: e.SHA256, Score: fmt.Sprintf("%.2f", e.Score),
		})
	}
	return []block{q}
}

// untold are the passages of an item as quotes, but for those that its control has in other parts
// of the report.
func (v *view) untold(code string, all []api.Evidence, parts ...part) []block {
	told := map[string]bool{}
	for _, p := range parts {
		for _, e := range v.passages[p][code] {
			told[e.SHA256+"\x00"+e.Quote] = true
		}
	}
	return evidence(slices.DeleteFunc(slices.Clone(all), func(e api.Evidence) bool { return told[e.SHA256+"\x00"+e.Quote] }))
}

// sureness is a confidence; overruled where a person said otherwise than what it is of.
func sureness(confidence float64, overruled bool) string {
	out := fmt.Sprintf("%.0f%%", confidence*100)
	if overruled {
		out += ", of the rules in their own verdict; a person set another"
	}
	return out
}

// edited says what people changed after the draft.
func (v *view) edited(f *facts, it *api.Item) {
	if len(it.EditedFields) == 0 && it.EditedBy == nil {
		return
	}
	s := "after the draft"
	if who := v.personOf(it.EditedBy); who != "" {
		s = "by " + who + " " + s
	}
	if len(it.EditedFields) > 0 {
		names := make([]string, len(it.EditedFields))
		for i, n := range it.EditedFields {
			names[i] = words(n)
		}
		s += ": " + strings.Join(names, ", ")
	}
	f.add("Changed", free(s))
}

// approver is who approved, by name where it is known.
func (v *view) approver(st standing) string {
	if !st.approved {
		return ""
	}
	if st.approval != nil && st.approval.DecidedBy != nil {
		return or(st.approval.DecidedBy.Name, st.approval.DecidedBy.ID)
	}
	return v.personOf(st.version.ApprovedBy)
}
