package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

// buildDocument returns the report as a document whose sections follow the template's order.
func (v *reportData) buildDocument() document {
	d := document{
		Title: v.title, Organization: v.Organization.Name, Assessment: v.Assessment.Name,
		Draft: v.draftNotices, AsOf: formatTime(v.AsOf), Tool: v.Tool,
		Facts: v.mastheadFacts(), Versions: v.versionsTable(), Theme: v.theme, Line: v.Brand.Line, Footer: v.Brand.Footer, Logo: v.Brand.Logo,
	}
	if v.Catalog.IsStarter {
		d.Notices = append(d.Notices, "STARTER CATALOG. "+starterNotice)
	}
	if old := v.outdatedMessages(); len(old) > 0 {
		d.Notices = append(d.Notices, outdatedPrefix+strings.Join(old, " "))
	}
	v.assignAnchors()
	v.indexPassages()
	for _, p := range v.template.sections {
		d.Sections = append(d.Sections, v.buildSection(p))
	}
	return d
}

// indexPassages records which passages each section quotes per control, so that later sections need
// not repeat them.
func (v *reportData) indexPassages() {
	v.passages = map[sectionID]map[string][]api.Evidence{sectionGap: {}, sectionSoA: {}}
	if v.template.hasSection(sectionGap) {
		for i := range v.Findings {
			f := &v.Findings[i]
			v.passages[sectionGap][f.ControlCode] = append(v.passages[sectionGap][f.ControlCode], f.Evidence...)
		}
	}
	if v.template.hasSection(sectionSoA) {
		for i := range v.SoAItems {
			v.passages[sectionSoA][v.SoAItems[i].ControlCode] = v.SoAItems[i].Evidence
		}
	}
}

// assignAnchors assigns an anchor to every item up front, so that links may point forward.
func (v *reportData) assignAnchors() {
	if v.template.hasSection(sectionSoA) {
		for i := range v.SoAItems {
			v.ids.soa = append(v.ids.soa, v.anchors.assign("soa", v.SoAItems[i].ControlCode))
		}
	}
	if v.template.hasSection(sectionGap) {
		for i := range v.Findings {
			v.ids.findings = append(v.ids.findings, v.anchors.assign("finding", orDefault(v.Findings[i].ControlCode, "none")))
		}
	}
	if v.template.hasSection(sectionMaturity) {
		for i := range v.Scores {
			v.ids.scores = append(v.ids.scores, v.anchors.assign("level", v.Scores[i].ControlCode))
		}
	}
	if v.template.hasSection(sectionPOAM) {
		for i := range v.POAMItems {
			v.ids.plan = append(v.ids.plan, v.anchors.assign("plan", v.POAMItems[i].POAMCode))
		}
	}
}

func (v *reportData) buildSection(p sectionID) section {
	s := section{ID: string(p)}
	switch p {
	case sectionSummary:
		s.Title, s.Blocks = "Executive summary", v.summarySection()
	case sectionScope:
		s.Title, s.Blocks = "Scope", v.scopeSection()
		switch {
		case v.Scope == nil:
		case v.Scope.Status != api.VersionApproved:
			s.Draft = fmt.Sprintf("The scope (version %d) is %s.", v.Scope.VersionNumber, humanize(string(v.Scope.Status)))
		default:
			s.Approved = approvalSentence(v.optionalPersonName(v.Scope.ApprovedBy), formatDate(v.Scope.ApprovedAt))
		}
		return s
	case sectionCoverage:
		s.Title, s.Blocks = "Framework coverage", v.coverageSection()
		return v.markApproval(s, api.GateSoA)
	case sectionSoA:
		s.Title, s.Blocks = "Statement of Applicability", v.soaSection()
		return v.markApproval(s, api.GateSoA)
	case sectionGap:
		s.Title, s.Blocks = "Gap analysis", v.gapSection()
		return v.markApproval(s, api.GateGapAnalysis)
	case sectionMaturity:
		s.Title, s.Blocks = "Maturity", v.maturitySection()
		return v.markApproval(s, api.GateMaturity)
	case sectionPOAM:
		s.Title, s.Blocks = "Plan of action and milestones", v.poamSection()
		return v.markApproval(s, api.GatePOAM)
	case sectionDocuments:
		s.Title, s.Blocks = "Documents", v.documentsSection()
	case sectionApprovals:
		s.Title, s.Blocks = "Approvals", v.approvalsSection()
	case sectionBasis:
		s.Title, s.Blocks = "Basis and limitations", v.basisSection()
	}
	if len(v.draftNotices) > 0 {
		s.Draft = "Not everything in this report has been approved."
	}
	return s
}

// markApproval states at the start of a section whether its deliverable is approved.
func (v *reportData) markApproval(s section, g api.Gate) section {
	st := v.approvalStatus(g)
	if !st.approved {
		s.Draft = st.reason
		return s
	}
	s.Approved = approvalSentence(v.approverName(st), formatDate(approvedAt(st)))
	return s
}

func approvalSentence(by, on string) string {
	s := "Approved"
	if by != "" {
		s += " by " + by
	}
	if on != "" {
		s += " on " + on
	}
	return s + "."
}

func (v *reportData) mastheadFacts() facts {
	var f facts
	f.add("Organization", userCell(orDefault(v.Organization.Name, "not specified")))
	f.add("Assessment", userCell(orDefault(v.Assessment.Name, "not specified")))
	f.addText("About", v.Assessment.Description)
	f.add("State", plainCell(displayLabel(string(v.Assessment.State))))
	if v.Assessment.DueDate != nil {
		f.add("Due", noBreakCell(dateOrEmpty(v.Assessment.DueDate)))
	}
	var frameworks []cell
	for _, fw := range v.Frameworks {
		frameworks = append(frameworks, userCell(orDefault(fw.Name, fw.Code)).with(span{Text: " "}, span{Text: fw.Code, Mono: true}))
	}
	if len(frameworks) == 0 {
		f.add("Frameworks", plainCell("none selected"))
	} else {
		f.Items = append(f.Items, fact{Label: "Frameworks", List: frameworks})
	}
	f.add("Catalog", plainCell(capitalize(v.catalogName())))
	f.add("Catalog SHA-256", v.catalogHashCell())
	f.add("As of", plainCell(formatTime(v.AsOf)))
	f.add("Written by", userCell(orDefault(v.Tool, "not specified")))
	return f
}

func (v *reportData) catalogHashCell() cell {
	if v.Catalog.SourceSHA256 == nil {
		return plainCell("none (the catalog has no source file)")
	}
	return monoCell(*v.Catalog.SourceSHA256)
}

// versionsTable returns the table of the versions the report is based on.
func (v *reportData) versionsTable() table {
	t := table{Caption: "Versions this report is based on", Columns: []column{
		{Name: "Deliverable", Width: 5},
		{Name: "Version", Width: 3, Number: true},
		{Name: "Status", Width: 5},
		{Name: "Items", Width: 2, Number: true},
		{Name: "Prepared by", Width: 4},
		{Name: "Approved by", Width: 4},
		{Name: "Approved on", Width: 4},
		{Name: "Content SHA-256", Width: 7},
	}}
	for _, g := range v.template.gates {
		st := v.approvalStatus(g)
		name := plainCell(capitalize(g.Title()))
		if st.version == nil {
			t.Rows = append(
				t.Rows,
				row{
					Cells: []cell{
						name,
						plainCell("–"),
						badgeCell("draft", "Not drafted yet"),
						plainCell("–"),
						plainCell("–"),
						plainCell("–"),
						plainCell("–"),
						plainCell("–"),
					},
				},
			)
			continue
		}
		status := badgeCell("approved", "Approved")
		switch {
		case st.approved:
		case st.version.Status == api.VersionApproved:
			status = badgeCell("draft", "Changed since approval")
		default:
			status = badgeCell("draft", displayLabel(string(st.version.Status)))
		}
		t.Rows = append(t.Rows, row{Cells: []cell{
			name, numberCell(st.version.VersionNumber), status, numberCell(v.itemCount(g)), userCell(v.personName(st.version.CreatedBy)),
			userCell(
				orDefault(v.approverName(st), "–"),
			), noBreakCell(orDefault(formatDate(approvedAt(st)), "–")), monoCell(st.version.ContentSHA256),
		}})
	}
	return t
}

func (v *reportData) itemCount(g api.Gate) int {
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

// evidenceBlocks returns an item's passages as quotes.
func evidenceBlocks(all []api.Evidence) []block {
	if len(all) == 0 {
		return nil
	}
	q := quotes{}
	for _, e := range all {
		q.Items = append(q.Items, quote{
			Text:     e.Quote,
			Document: orDefault(e.DocumentTitle, e.Filename),
			Place:    formatLocator(e.Locator),
			Headings: strings.Join(e.HeadingPath, " › "),
			Stance:   humanize(e.Stance),
			Supports: e.Supports,
			SHA256:   e.SHA256,
			Score:    fmt.Sprintf("%.2f", e.Score),
		})
	}
	return []block{q}
}

// unquotedEvidenceBlocks returns an item's passages as quotes, except those already quoted for its
// control in the given parts of the report.
func (v *reportData) unquotedEvidenceBlocks(code string, all []api.Evidence, parts ...sectionID) []block {
	quoted := map[string]bool{}
	for _, p := range parts {
		for _, e := range v.passages[p][code] {
			quoted[e.SHA256+"\x00"+e.Quote] = true
		}
	}
	return evidenceBlocks(slices.DeleteFunc(slices.Clone(all), func(e api.Evidence) bool { return quoted[e.SHA256+"\x00"+e.Quote] }))
}

// formatConfidence formats a confidence as a percentage; overridden adds that the verdict has been
// changed by a user.
func formatConfidence(confidence float64, overridden bool) string {
	out := fmt.Sprintf("%.0f%%", confidence*100)
	if overridden {
		out += " for the automatic verdict (overridden)"
	}
	return out
}

// addEdits adds which fields were changed after the draft, and by whom.
func (v *reportData) addEdits(f *facts, it *api.Item) {
	if len(it.EditedFields) == 0 && it.EditedBy == nil {
		return
	}
	s := "after the draft"
	if who := v.optionalPersonName(it.EditedBy); who != "" {
		s = "by " + who + " " + s
	}
	if len(it.EditedFields) > 0 {
		names := make([]string, len(it.EditedFields))
		for i, n := range it.EditedFields {
			names[i] = humanize(n)
		}
		s += ": " + strings.Join(names, ", ")
	}
	f.add("Changed", userCell(s))
}

// approverName returns the approver's name, or the ID if the name is unknown; "" if not approved.
func (v *reportData) approverName(st approvalStatus) string {
	if !st.approved {
		return ""
	}
	if st.approval != nil && st.approval.DecidedBy != nil {
		return orDefault(st.approval.DecidedBy.Name, st.approval.DecidedBy.ID)
	}
	return v.optionalPersonName(st.version.ApprovedBy)
}
