package content

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/lazyregexp"
	"github.com/scf-service/service/internal/prose"
)

// Document returns the report as a document, with the sections in the order that the template defines.
func (v *Report) Document() block.Document {
	d := v.DocumentWithoutSections()
	v.assignAnchors()
	v.indexQuotedPassages()
	if v.hasStory() {
		d.Front = v.answerBlocks()
	}
	if d.Brief = v.isBrief(); d.Brief {
		d.Facts, d.Versions = block.Facts{}, block.Table{} // the last paragraph names the versions
		d.Notices, d.Draft = v.briefNotices(), v.briefDraftReason()
	}
	for _, p := range v.Template.Sections {
		if s := v.Section(p); len(s.Blocks) > 0 {
			d.Sections = append(d.Sections, s)
		}
	}
	d.Passages = v.PassagesTable()
	return d
}

// provenanceLine returns a single line with the IDs and hashes of the report's sources.
func (v *Report) provenanceLine() string {
	sources := Provenance(v.Source, v.Template.Name)
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		parts = append(parts, name+"="+sources[name])
	}
	return strings.Join(parts, "; ")
}

// isBrief reports whether the report is limited to two pages.
func (v *Report) isBrief() bool { return v.Template.Name == TemplateExecutiveSummary }

// briefNotices returns the notices for a two-page report, which has no room for the reasons behind them.
func (v *Report) briefNotices() (out []string) {
	if v.Catalog.IsStarter {
		out = append(out, "STARTER CATALOG. It is not the Secure Controls Framework, and its framework mappings are not official.")
	}
	var names []string
	for _, o := range v.Outdated {
		if name := plainDeliverableName(o.Gate); v.Template.HasDeliverable(o.Gate) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		out = append(out, outdatedPrefix+"The data used for the "+prose.JoinAnd(names)+" has changed.")
	}
	return out
}

// briefDraftReason returns a single sentence that names the deliverables that have not been approved, or nothing if
// all have been.
func (v *Report) briefDraftReason() []string {
	var names []string
	for _, g := range v.Template.Gates {
		st := v.approvalStatus(g)
		if st.approved {
			continue
		}
		name := plainDeliverableName(g)
		if st.version != nil {
			name += fmt.Sprintf(" (version %d)", st.version.VersionNumber)
		} else {
			name += " (not drafted)"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil
	}
	return []string{"Not approved: " + prose.JoinAnd(names) + "."}
}

// DocumentWithoutSections is like Document, but omits all sections.
func (v *Report) DocumentWithoutSections() block.Document {
	d := block.Document{
		Title: v.Title, Organization: v.client, Assessment: v.Assessment.Name,
		Draft: v.DraftReasons, Unseen: v.approvedInAdvance(), AsOf: wording.TimeOrNotSpecified(v.AsOf), Time: v.AsOf, Tool: v.Tool,
		Provenance: v.provenanceLine(),
		Facts:      v.aboutReportFacts(), Versions: v.versionsTable(),
		Theme: v.theme, Paper: v.Paper, Line: v.Brand.Line, Footer: v.Brand.Footer, Logo: v.Brand.Logo,
	}
	if d.Organization == d.Assessment {
		d.Organization = "" // it is the same as the assessment's name
	}
	if v.Catalog.IsStarter {
		d.Notices = append(d.Notices, "STARTER CATALOG. "+StarterNotice)
	}
	if old := v.outdatedMessages(); len(old) > 0 {
		d.Notices = append(d.Notices, outdatedPrefix+strings.Join(old, " "))
	}
	return d
}

// indexQuotedPassages records which passages each section quotes for each control, so that later sections
// don't have to repeat them.
func (v *Report) indexQuotedPassages() {
	v.passages = map[SectionID]map[string][]api.Evidence{SectionGap: {}, SectionSoA: {}}
	if v.Template.hasSection(SectionGap) {
		for i := range v.Findings {
			f := &v.Findings[i]
			v.passages[SectionGap][f.ControlCode] = append(v.passages[SectionGap][f.ControlCode], f.Evidence...)
		}
	}
	if v.Template.hasSection(SectionSoA) {
		for i := range v.SoAItems {
			v.passages[SectionSoA][v.SoAItems[i].ControlCode] = v.SoAItems[i].Evidence
		}
	}
}

// assignAnchors assigns an anchor to every item in advance, so that links can point to items that come later in the
// document.
func (v *Report) assignAnchors() {
	if v.Template.hasSection(SectionSoA) {
		for i := range v.SoAItems {
			v.ids.soa = append(v.ids.soa, v.anchors.assign("soa", v.SoAItems[i].ControlCode))
		}
	}
	if v.Template.hasSection(SectionGap) {
		for i := range v.Findings {
			v.ids.findings = append(v.ids.findings, v.anchors.assign("finding", wording.OrDefault(v.Findings[i].ControlCode, "none")))
		}
	}
	if v.Template.hasSection(SectionMaturity) {
		for i := range v.Scores {
			v.ids.scores = append(v.ids.scores, v.anchors.assign("level", v.Scores[i].ControlCode))
		}
	}
	if v.Template.hasSection(SectionPOAM) {
		for i := range v.POAMItems {
			v.ids.plan = append(v.ids.plan, v.anchors.assign("plan", v.POAMItems[i].POAMCode))
		}
	}
}

func (v *Report) Section(p SectionID) block.Section {
	s := block.Section{ID: string(p)}
	switch p {
	case SectionBrief:
		s.Title, s.Blocks = "Risks and plan", v.briefSection()
		return s
	case SectionAnnex:
		s.Title, s.Blocks = "Applicability of each Annex A control", v.annexSection()
		return v.withApprovalNote(s, api.GateSoA)
	case SectionRisks:
		s.Title, s.Blocks = "Key risks", v.risksSection()
		return s
	case SectionPosture:
		s.Title, s.Blocks = "Where the organization stands", v.postureSection()
		return s
	case SectionTrend:
		s.Title, s.Blocks = "Changes since the earlier assessment", v.trendSection()
		return s
	case SectionRoadmap:
		s.Title, s.Blocks = "Roadmap", v.roadmapSection()
		return s
	case SectionStandards:
		s.Title, s.Blocks = "Results by standard", v.standardsSection()
		return s
	case SectionProfiles:
		s.Title, s.Blocks = "Results by domain", v.profilesSection()
		return s
	case SectionExamined:
		s.Title, s.Blocks = "What was examined", v.examinedSection()
		return s
	case SectionMethod:
		s.Title, s.Blocks = "Method and limits", v.methodSection()
		return s
	case SectionAppendices:
		s.Title, s.Blocks = "Appendices", v.appendicesSection()
		return s
	case SectionSummary:
		s.Title, s.Blocks = "Executive summary", v.summarySection()
	case SectionScope:
		s.Title, s.Blocks = "Scope", v.scopeSection()
		switch {
		case v.Scope == nil:
		case v.Scope.Status != api.VersionApproved && v.Template.Name == TemplateSoA && v.approvalStatus(api.GateSoA).approved:
			s.Approved = "The approved Statement of Applicability is based on this scope."
		case v.Scope.Status != api.VersionApproved:
			s.Draft = fmt.Sprintf("The scope (version %d) is %s.", v.Scope.VersionNumber, describeStatus(v.Scope.Status))
		default:
			s.Approved = approvalSentence(v.optionalPersonName(v.Scope.ApprovedBy), wording.ISODateOrEmpty(v.Scope.ApprovedAt), false)
		}
		return s
	case SectionCoverage:
		s.Title, s.Blocks = "Framework coverage", v.coverageSection()
		return v.withApprovalNote(s, api.GateSoA)
	case SectionSoA:
		s.Title, s.Blocks = "Statement of Applicability", v.soaSection()
		if v.hasAnnex() {
			s.Title = "Controls behind it"
		}
		return v.withApprovalNote(s, api.GateSoA)
	case SectionGap:
		s.Title, s.Blocks = "Gap analysis", v.gapSection()
		return v.withApprovalNote(s, api.GateGapAnalysis)
	case SectionMaturity:
		s.Title, s.Blocks = "Maturity", v.maturitySection()
		return v.withApprovalNote(s, api.GateMaturity)
	case SectionPOAM:
		s.Title, s.Blocks = "Plan of action and milestones", v.poamSection()
		return v.withApprovalNote(s, api.GatePOAM)
	case SectionDocuments:
		s.Title, s.Blocks = "Documents", v.documentsSection()
	case SectionApprovals:
		s.Title, s.Blocks = "Approvals", v.approvalsSection()
	case SectionBasis:
		s.Title, s.Blocks = "Basis and limitations", v.basisSection()
	}
	if len(v.DraftReasons) > 0 {
		s.Draft = "Not everything in this report has been approved."
	}
	return s
}

// withApprovalNote returns the section preceded by a note on whether its deliverable is approved.
func (v *Report) withApprovalNote(s block.Section, g api.Gate) block.Section {
	st := v.approvalStatus(g)
	if st.version == nil || st.approved && v.hasAnnex() {
		return s // the section says itself that nothing was drafted; the table of Annex A begins with the approval
	}
	if !st.approved {
		s.Draft = st.reason
		return s
	}
	s.Approved = v.describeApproval(st)
	return s
}

// describeApproval returns a sentence that says who approved a version and when.
func (v *Report) describeApproval(st approvalStatus) string {
	return approvalSentence(v.approverName(st), wording.ISODateOrEmpty(approvedAt(st)), st.wasGivenInAdvance())
}

// approvalSentence returns a sentence that says who gave an approval and when. It also states whether the approval
// was given in advance, that is, before anybody had seen the content.
func approvalSentence(approver, date string, inAdvance bool) string {
	s := "Approved"
	if inAdvance {
		s += " in advance, unseen,"
		approver = strings.Replace(approver, " (in advance)", "", 1)
	}
	if approver != "" {
		s += " by " + approver
	}
	if date != "" {
		s += " on " + date
	}
	return s + "."
}

func (v *Report) aboutReportFacts() block.Facts {
	var f block.Facts
	f.Add("Organization", block.UserText(wording.OrDefault(v.client, "not specified")))
	f.Add("Assessment", block.UserText(wording.OrDefault(v.Assessment.Name, "not specified")))
	f.AddText("About", v.Assessment.Description)
	f.Add("State", block.Text(wording.Label(string(v.Assessment.State))))
	if v.Assessment.DueDate != nil {
		f.Add("Due", block.NoBreak(wording.OrEmpty(v.Assessment.DueDate)))
	}
	var frameworks []block.Cell
	for _, fw := range v.Frameworks {
		frameworks = append(
			frameworks,
			block.UserText(wording.OrDefault(fw.Name, fw.Code)).With(block.Span{Text: " "}, block.Span{Text: fw.Code, Mono: true}),
		)
	}
	if len(frameworks) == 0 {
		f.Add("Frameworks", block.Text("none selected"))
	} else {
		f.Items = append(f.Items, block.Fact{Label: "Frameworks", List: frameworks})
	}
	f.Add("Catalog", block.Text(prose.Capitalize(v.CatalogName())))
	f.Add("Catalog SHA-256", v.catalogHashCell())
	f.Add("As of", block.Text(wording.TimeOrNotSpecified(v.AsOf)))
	f.Add("Written by", block.UserText(wording.OrDefault(v.Tool, "not specified")))
	return f
}

func (v *Report) catalogHashCell() block.Cell {
	if v.Catalog.SourceSHA256 == nil {
		return block.Text("none (the catalog has no source file)")
	}
	return block.Mono(*v.Catalog.SourceSHA256)
}

// versionsTable returns a table of the versions that the report is based on.
func (v *Report) versionsTable() block.Table {
	t := block.Table{Caption: "Versions this report is based on", Columns: []block.Column{
		{Name: "Deliverable", Width: 5},
		{Name: "Version", Width: 3, Number: true},
		{Name: "Status", Width: 6},
		{Name: "Items", Width: 2, Number: true},
		{Name: "Prepared by", Width: 4},
		{Name: "Approved by", Width: 4},
		{Name: "Approved on", Width: 4},
		{Name: "Content SHA-256", Width: 7},
	}}
	for _, g := range v.Template.Gates {
		st := v.approvalStatus(g)
		name := block.Text(prose.Capitalize(g.Title()))
		if st.version == nil {
			t.Rows = append(
				t.Rows,
				block.Row{
					Cells: []block.Cell{
						name,
						block.Text("–"),
						block.Badge("draft", "Not drafted yet"),
						block.Text("–"),
						block.Text("–"),
						block.Text("–"),
						block.Text("–"),
						block.Text("–"),
					},
				},
			)
			continue
		}
		status := block.Badge("approved", "Approved")
		if st.wasGivenInAdvance() {
			status = block.Badge("draft", "Approved in advance")
		}
		switch {
		case st.approved:
		case st.version.Status == api.VersionApproved:
			status = block.Badge("draft", "Changed since approval")
		default:
			status = block.Badge("draft", wording.Label(string(st.version.Status)))
		}
		t.Rows = append(t.Rows, block.Row{Cells: []block.Cell{
			name, block.Number(st.version.VersionNumber), status, block.Number(v.itemCount(g)), block.UserText(v.PersonName(st.version.CreatedBy)),
			block.UserText(
				wording.OrDefault(v.approverName(st), "–"),
			), block.NoBreak(wording.OrDefault(wording.ISODateOrEmpty(approvedAt(st)), "–")), block.Mono(st.version.ContentSHA256),
		}})
	}
	return t
}

// versionsSentence names the versions that the report is based on, each with the first digits of its hash. The
// complete hashes are in the file's properties.
func (v *Report) versionsSentence() string {
	var parts []string
	for _, g := range v.Template.Gates {
		st := v.approvalStatus(g)
		if st.version == nil {
			continue
		}
		part := fmt.Sprintf("version %d of the %s", st.version.VersionNumber, plainDeliverableName(g))
		if sum := st.version.ContentSHA256; len(sum) >= shortHash {
			part += " (" + sum[:shortHash] + ")"
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return "Nothing has been drafted yet."
	}
	return "Based on " + prose.JoinAnd(parts) + ". The values in parentheses are the first digits of each version’s SHA-256 hash."
}

// shortHash is the number of hexadecimal digits of a hash to show where there is no room for the whole hash.
const shortHash = 12

func (v *Report) itemCount(g api.Gate) int {
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

// isForClients reports whether the report or appendix is for readers who don't know the method. Such a report omits
// scores, confidences and the rules' comments on passages, which the full report contains.
func (v *Report) isForClients() bool {
	return slices.Contains([]string{TemplateClient, TemplateExecutiveSummary, TemplateSoA, TemplateGapAnalysis}, v.Template.Name)
}

// missingElements returns the missing elements of a control. For clients, a note that explains why a passage covers
// an element only in part is shortened to "(in part)".
func (v *Report) missingElements(all []string) []string {
	if !v.isForClients() {
		return all
	}
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = differencePattern.ReplaceAllString(s, "(in part)")
	}
	return out
}

// differencePattern matches a note that explains why a passage covers an element only in part.
var differencePattern = lazyregexp.New(
	`\(in part: (?:related, but doesn't mention|covers part of (?:it|the requirement), but doesn't mention|the heading is relevant)[^()]*\)`)

// evidenceBlocks returns a quote for each passage of evidence.
func (v *Report) evidenceBlocks(all []api.Evidence) []block.Block {
	if len(all) == 0 {
		return nil
	}
	q := block.Quotes{}
	for i, e := range all {
		q.Items = append(q.Items, block.Quote{
			Text:     e.Quote,
			Document: wording.OrDefault(e.DocumentTitle, e.Filename),
			Place:    wording.FormatLocator(e.Locator),
			Headings: strings.Join(e.HeadingPath, " › "),
			Stance:   wording.Humanize(e.Stance),
			Supports: e.Statement,
			Passage:  v.quoted.number(&all[i]),
		})
		if !v.isForClients() {
			q.Items[len(q.Items)-1].Score = fmt.Sprintf("%.2f", e.Score)
		}
	}
	return []block.Block{q}
}

// maxQuotes returns how many of n passages to quote: for clients at most limit, otherwise all of them.
func (v *Report) maxQuotes(n, limit int) int {
	if v.isForClients() {
		return min(n, limit)
	}
	return n
}

// unquotedEvidenceBlocks returns a quote for each passage of evidence, except for those that the given
// sections already quote for the same control.
func (v *Report) unquotedEvidenceBlocks(code string, all []api.Evidence, parts ...SectionID) []block.Block {
	quoted := map[string]bool{}
	for _, p := range parts {
		for _, e := range v.passages[p][code] {
			quoted[e.SHA256+"\x00"+e.Quote] = true
		}
	}
	return v.evidenceBlocks(slices.DeleteFunc(slices.Clone(all), func(e api.Evidence) bool { return quoted[e.SHA256+"\x00"+e.Quote] }))
}

// formatConfidence formats a confidence as a percentage. If overridden is set, it adds a note that a user has
// changed the verdict.
func formatConfidence(confidence float64, overridden bool) string {
	out := fmt.Sprintf("%.0f%%", confidence*100)
	if overridden {
		out += " for the automatic verdict, which was overridden"
	}
	return out
}

// addEditFact adds a fact that states which fields of an item were changed after the draft, and by whom.
func (v *Report) addEditFact(f *block.Facts, it *api.Item) {
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
			names[i] = wording.Humanize(strings.TrimPrefix(n, "traits."))
		}
		s += ": " + strings.Join(names, ", ")
	}
	f.Add("Changed", block.UserText(s))
}

// approverName returns the name of the person who gave the approval, or the person's ID if the name is unknown. It
// returns "" if there is no approval.
func (v *Report) approverName(st approvalStatus) string {
	if !st.approved {
		return ""
	}
	if st.approval != nil && st.approval.DecidedBy != nil {
		return st.approval.Decider()
	}
	return v.optionalPersonName(st.version.ApprovedBy)
}
