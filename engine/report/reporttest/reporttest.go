// Package reporttest provides sources for tests that write reports.
package reporttest

import (
	"fmt"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/content"
)

// The source is a fictional company with documents and findings. Its codes, titles and texts don't
// come from any catalog.

// Domains lists the domains in test sources.
var Domains = []struct{ code, name string }{
	{"AST", "Assets"},
	{"BCD", "Continuity"},
	{"CHG", "Changes"},
	{"CLD", "Cloud"},
	{"CRY", "Cryptography"},
	{"DCH", "Data handling"},
	{"END", "Endpoints"},
	{"GOV", "Governance"},
	{"HRS", "People"},
	{"IAC", "Identity and access"},
	{"IRO", "Incidents"},
	{"MON", "Monitoring"},
	{"NET", "Networks"},
	{"RSK", "Risk"},
	{"TPM", "Suppliers"},
}

var sampleTitles = []string{
	"Policy and ownership", "Register kept current", "Yearly review", "Access by role",
	"Second factor for remote access", "Logging and log review",
	"Restore tests", "Supplier checks before signing", "Keys rotated and stored apart", "Training on joining",
}

// Ptr returns a pointer to v.
func Ptr[T any](v T) *T { return &v }

// FakeSHA256 returns a fake SHA-256 hash that is different for each n.
func FakeSHA256(n int) string { return fmt.Sprintf("%064x", uint64(n+1)*0x9e3779b97f4a7c15) }

func fakeID(kind string, n int) string {
	return fmt.Sprintf("01970000-0000-7000-8000-%s%08x", kind[:4], n)
}

// AsOf is the AsOf time of all test sources.
var AsOf = time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)

// SampleSource returns a complete source with the given number of controls. All four deliverables are
// approved.
func SampleSource(controls int) *content.Source {
	s := &content.Source{
		Organization: api.Organization{Name: "Ardent Freight Ltd", Slug: "ardent-freight"},
		Assessment: api.Assessment{
			Name: "Yearly assessment 2026", Description: "Head office and both depots.\nThe warehouse robots come next year.",
			State: api.StatePOAMApproved, DueDate: Ptr(api.Date("2026-12-15")), Revision: 7,
		},
		Catalog: api.CatalogVersion{
			ID: fakeID("cata", 1), Label: "2026.1.1", SourceFilename: Ptr("catalog.xlsx"), SourceSHA256: Ptr(FakeSHA256(900)), ImportedAt: AsOf,
			Counts: api.CatalogCounts{Controls: controls, Domains: len(Domains), Frameworks: 2},
		},
		Frameworks: []api.Framework{{Code: "iso-27001-2022", Name: "ISO/IEC 27001:2022"}, {Code: "eu-gdpr-2016", Name: "GDPR"}},
		Domains:    map[string]string{}, Requirements: map[string][]api.Requirement{}, Tool: "service 0.1.0", AsOf: AsOf,
		Summary: api.AssessmentSummary{
			Controls:          controls,
			CompliancePct:     Ptr(46.25),
			ComplianceFormula: "(implemented + half of partially implemented) over applicable controls",
		},
	}
	s.Organization.ID, s.Assessment.ID = fakeID("orga", 1), fakeID("asse", 1)
	for _, d := range Domains {
		s.Domains[d.code] = d.name
	}
	for i := range 93 {
		part := []int{37, 45, 59, 93}
		chapter, first := 5, 0
		for j, end := range part {
			if i < end {
				chapter = 5 + j
				break
			}
			first = end
		}
		s.Requirements["iso-27001-2022"] = append(
			s.Requirements["iso-27001-2022"],
			api.Requirement{Code: fmt.Sprintf("A.%d.%d", chapter, i-first+1), Title: Ptr(sampleTitles[i%10]), SortOrder: i + 8},
		)
	}
	for i, c := range []string{"4.1", "4.2", "6.1.2", "6.1.3", "8.2", "9.2", "10.1"} {
		s.Requirements["iso-27001-2022"] = append(s.Requirements["iso-27001-2022"], api.Requirement{Code: c, SortOrder: i + 1})
	}
	for i := range 12 {
		s.Requirements["eu-gdpr-2016"] = append(
			s.Requirements["eu-gdpr-2016"],
			api.Requirement{Code: fmt.Sprintf("Art %d", 24+i), SortOrder: i + 1},
		)
	}
	addDocuments(s)
	addScope(s)
	for i := range controls {
		addControlItems(s, i, controls)
	}
	addApprovedVersions(s)
	return s
}

func addDocuments(s *content.Source) {
	for i, name := range []string{
		"Information Security Policy.pdf", "Access Control Procedure.docx", "Asset register.xlsx", "Incident log 2026.xlsx", "Supplier policy.md",
		"Business continuity plan.pdf", "Training deck.pptx", "Risikobewertung äöü.pdf",
	} {
		d := api.Document{
			Filename: name,
			Category: []string{"policy", "procedure", "register", "record"}[i%4],
			Title:    strings.TrimSuffix(name, name[strings.LastIndex(name, "."):]),
			SizeBytes: int64(
				1000 + i*i*77777,
			),
			SHA256:        FakeSHA256(100 + i),
			PageCount:     4 + i*3,
			EffectiveDate: Ptr(api.Date("2026-02-01")),
			DocVersion:    fmt.Sprintf("%d.%d", 1+i%3, i%4),
			Owner:         "Head of IT",
			ApprovedBy:    "Managing director",
			Status:        api.DocumentIngested,
			ChunkCount:    30,
		}
		d.ID = fakeID("docu", i)
		s.Documents = append(s.Documents, d)
	}
	s.Documents[4].Warnings = []string{"The next review date, 2025-06-30, has passed."}
	s.Documents[5].Outdated = true
	s.Documents[5].NotRead = []api.NotRead{{Kind: api.UnreadComment, Count: 1}, {Kind: api.UnreadHiddenSheet, Count: 2}}
	s.Documents[6].Status, s.Documents[6].Error = api.DocumentFailed, Ptr(
		"The file is protected by a password. Save the file without a password and add it again.",
	)
}

func sampleEvidence(s *content.Source, i int) []api.Evidence {
	texts := []string{
		"Access to every system is granted by role and reviewed each quarter by the owner of the system.",
		"All laptops are encrypted; keys are kept in the vault and rotated yearly.",
		"We plan to test restores from the second quarter of next year on.",
		"| System | Owner | Last test |\n| ERP | J. Marsh | 2026-03-04 |",
		"Suppliers with access to personal data sign the data processing agreement before work begins.",
	}
	d := s.Documents[i%5]
	e := []api.Evidence{{
		ChunkID: fakeID(
			"chun",
			i,
		),
		DocumentID:    d.ID,
		DocumentTitle: d.Title,
		Filename:      d.Filename,
		HeadingPath:   []string{"4 Rules", "4.2 Access"},
		Locator: api.Locator{
			Page: 1 + i%9,
		},
		Quote:     texts[i%5],
		Score:     0.61 + float64(i%30)/100,
		SHA256:    FakeSHA256(5000 + i),
		Statement: "Access is reviewed at least twice a year.",
		Stance:    "supports",
	}}
	switch i % 5 {
	case 2:
		e[0].Stance = "plans"
	case 3:
		e[0].Locator = api.Locator{Sheet: "Tests 2026", CellRange: "B4:D5"}
	case 4:
		e[0].Locator = api.Locator{LineStart: 40, LineEnd: 44}
	}
	if i%3 == 0 {
		d = s.Documents[(i+1)%5]
		e = append(
			e,
			api.Evidence{
				ChunkID:       fakeID("chun", 9000+i),
				DocumentID:    d.ID,
				DocumentTitle: d.Title,
				Filename:      d.Filename,
				Locator:       api.Locator{Page: 2},
				Quote:         texts[(i+1)%5],
				Score:         0.55,
				SHA256:        FakeSHA256(7000 + i),
				Stance:        "supports",
			},
		)
	}
	return e
}

func addScope(s *content.Source) {
	s.Scope = &api.Scope{
		Title: "Ardent Freight, all sites", Description: "Freight forwarding with two depots.", Status: api.VersionApproved, VersionNumber: 1,
		BusinessUnits: []string{
			"Forwarding",
			"Customs",
		}, Locations: []string{"Rotterdam", "Łódź"}, Systems: []string{"ERP", "Transport management", "Office suite"},
		Exclusions: []string{
			"Warehouse robots, which another company runs",
		}, DataTypes: []string{"Personal data of drivers"}, ApprovedBy: Ptr("u-1"), ApprovedAt: Ptr(AsOf),
		Traits: map[string]api.Trait{
			"uses_cloud": {
				Value:    "true",
				Source:   "evidence",
				Reason:   "Two passages mention a cloud provider.",
				Evidence: sampleEvidence(s, 1),
			},
			"has_ot":            {Value: "unknown", Source: "default", Reason: "Nothing was found either way."},
			"handles_cards":     {Value: "false", Source: "user", Reason: "Customers pay by invoice only."},
			"develops_software": {Value: "false", Source: "evidence", Reason: "All software is bought.", Evidence: sampleEvidence(s, 4)},
		},
	}
	s.Scope.ID = fakeID("scop", 1)
}

// addControlItems adds an item for one control to each of the four deliverables.
func addControlItems(s *content.Source, i, n int) {
	d := Domains[i%len(Domains)]
	number := i/len(Domains) + 1
	item := api.Item{
		ControlID: fakeID(
			"ctrl",
			i,
		), ControlCode: fmt.Sprintf("%s-%02d", d.code, number), ControlTitle: sampleTitles[i*7%10], DomainCode: d.code, Revision: 1,
		RequirementCodes: api.RequirementCodes{"iso-27001-2022": {s.Requirements["iso-27001-2022"][i%93].Code}},
	}
	if i%4 == 0 {
		item.RequirementCodes["eu-gdpr-2016"] = []string{fmt.Sprintf("Art %d", 24+i%11)}
	}
	soa := api.SoAItem{
		Item:             item,
		Applicability:    api.Applicable,
		InclusionReasons: []string{"framework", "risk"},
		Rationale:        "Required by the framework, and the required trait is true.",
		EvidenceCoverage: api.CoveragePartial,
		CoverageRatio:    0.5,
		Statements:       []api.Statement{{Text: "a", Verdict: "covered"}, {Text: "b", Verdict: "missing"}},
		Owner: Ptr(
			"Head of IT",
		),
		Confidence:      0.72,
		Reason:          "An approved policy covers one of the two statements.",
		MissingElements: []string{"A record showing that the review took place."},
	}
	soa.ID = fakeID("soai", i)
	statuses := []api.Implementation{
		api.Implemented,
		api.PartiallyImplemented,
		api.NotEvidenced,
		api.Implemented,
		api.Planned,
		api.NotImplemented,
		api.NotEvidenced,
		api.PartiallyImplemented,
	}
	soa.ImplementationStatus = statuses[i*5%len(statuses)]
	switch {
	case i%11 == 7:
		soa.Applicability, soa.Rationale, soa.ImplementationStatus = api.NotApplicable, "No software is developed here, so "+
			"there is no code to review.", api.NotAssessed
		soa.InclusionReasons, soa.MissingElements = nil, nil
	case i%29 == 3:
		soa.Applicability, soa.NeedsReview, soa.ImplementationStatus = api.Undecided, true, api.NotAssessed
	}
	if soa.ImplementationStatus != api.NotEvidenced && soa.ImplementationStatus != api.NotAssessed {
		soa.Evidence = sampleEvidence(s, i)
	}
	if i%17 == 0 {
		soa.EditedBy, soa.EditedFields = Ptr("u-2"), []string{"rationale", "owner"}
	}
	s.SoAItems = append(s.SoAItems, soa)
	if !soa.Applicability.IsApplicable() {
		return
	}
	score := api.MaturityScore{
		Item:         item,
		Level:        i * 3 % 4,
		TargetLevel:  3,
		Weight:       1 + i%10,
		Criteria:     "Done, but as each person sees fit.",
		NextCriteria: "The practice is planned, documented and tracked.",
		Rationale:    "A policy requires the practice, but no records show that it is followed.",
		Evidence:     soa.Evidence,
		Confidence:   0.64,
		Assessed:     len(soa.Evidence) > 0,
	}
	score.ID = fakeID("scor", i)
	if i%2 == 0 {
		score.PreviousLevel = Ptr(1)
	}
	s.Scores = append(s.Scores, score)
	if soa.ImplementationStatus == api.Implemented {
		return
	}
	f := api.Finding{
		Item:            item,
		InCatalog:       true,
		Status:          soa.ImplementationStatus,
		Result:          api.PartiallyMet,
		GapType:         "evidence",
		Severity:        api.Severities[i%5],
		Weight:          10 - i%10,
		SeverityReason:  "weight 8 of 10, no evidence: 8 × 1.0 = 8.0; high from 7.5",
		Condition:       "The procedure asks for quarterly reviews of access. No record of a review was found.",
		Criteria:        "Access rights are reviewed at planned intervals.",
		Cause:           "Nobody is assigned to keep the records.",
		Effect:          "Former employees may retain access rights without anyone noticing.",
		Recommendation:  "Assign an owner, review all access rights now, and keep the signed list.",
		MissingElements: []string{"A signed list of the last review", "The review interval in the procedure"},
		Evidence:        soa.Evidence,
		Confidence:      0.7,
		Owner:           Ptr("Head of IT"),
		Source:          "analysis",
	}
	f.ID = fakeID("find", i)
	if f.Status == api.NotEvidenced {
		f.Result, f.Owner = api.ResultNoEvid, nil
	}
	s.Findings = append(s.Findings, f)
	p := api.POAMItem{
		Item:             item,
		POAMCode:         fmt.Sprintf("P-%04d", len(s.POAMItems)+1),
		FindingID:        f.ID,
		Weakness:         f.Condition,
		CorrectiveAction: f.Recommendation,
		ActionType:       "collect_evidence",
		Priority:         1 + i%5,
		Severity:         f.Severity,
		Effort:           []string{"small", "medium", "large"}[i%3],
		OwnerRole:        "Head of IT",
		DueDate:          api.DateOf(AsOf.AddDate(0, 0, i*3%200-15)),
		Milestones: []api.Milestone{
			{Title: "Owner named", DueDate: "2026-12-01", Status: "completed"},
			{
				Title:   "First review signed",
				DueDate: "2027-02-01",
				Status:  "open",
				Changes: []api.MilestoneChange{{At: "2026-11-10", By: "u-2", DueDate: "2027-03-01", Reason: "The auditor is not available."}},
			},
		},
		AcceptanceCriteria: []string{
			"The list of the last review is signed and dated.",
		},
		ExpectedEvidence: []string{"Signed list"},
		TargetLevel:      3,
		Status:           []string{"open", "in_progress", "open", "completed"}[i%4],
	}
	p.ID = fakeID("plan", i)
	if len(s.POAMItems) > 0 && i%4 == 0 {
		p.Dependencies = []string{"P-0001"}
	}
	s.POAMItems = append(s.POAMItems, p)
}

// addApprovedVersions adds an approved version of each of the four deliverables and a maturity summary.
func addApprovedVersions(s *content.Source) {
	version := func(i int, g api.Gate) api.DeliverableVersion {
		v := api.DeliverableVersion{
			VersionNumber: 1 + i%2,
			Status:        api.VersionApproved,
			CreatedBy:     "u-2",
			ApprovedBy:    Ptr("u-1"),
			ApprovedAt:    Ptr(AsOf.Add(-time.Hour)),
			ContentSHA256: FakeSHA256(
				200 + i,
			),
			Inputs: map[string]string{"scope_id": fakeID("scop", 1), "documents_sha256": FakeSHA256(300)},
			Method: "built-in rules, version 1",
		}
		v.ID = fakeID("vers", i)
		a := api.Approval{
			Gate: g, TargetID: v.ID, TargetSHA256: v.ContentSHA256, VersionNumber: v.VersionNumber, Status: api.ApprovalApproved,
			RequestedBy: api.Actor{Type: api.ActorUser, ID: "u-2", Name: "Jo Marsh"}, RequestedAt: AsOf.Add(-5 * time.Hour),
			DecidedBy: &api.Actor{
				Type: api.ActorUser,
				ID:   "u-1",
				Name: "Ana Roe",
			}, DecidedAt: Ptr(AsOf.Add(-time.Hour)), Reason: Ptr("Reviewed together with both depot managers."),
		}
		a.ID = fakeID("appr", i)
		s.Approvals = append(s.Approvals, a)
		return v
	}
	s.SoA = &api.SoAVersion{DeliverableVersion: version(0, api.GateSoA)}
	s.Gap = &api.GapVersion{DeliverableVersion: version(1, api.GateGapAnalysis)}
	s.Maturity = &api.MaturityVersion{DeliverableVersion: version(2, api.GateMaturity)}
	s.POAM = &api.POAMVersion{DeliverableVersion: version(3, api.GatePOAM)}
	sum := api.MaturitySummary{Formula: "the mean of the levels of assessed controls; the weighted mean counts each by its weight"}
	total, assessed := 0, 0
	for _, d := range Domains {
		m := api.DomainMaturity{DomainCode: d.code, DomainName: d.name}
		levels, low := 0, 5
		for i := range s.Scores {
			if sc := &s.Scores[i]; sc.DomainCode == d.code {
				m.Controls++
				if sc.Assessed {
					m.Assessed++
					levels += sc.Level
					low = min(low, sc.Level)
				}
			}
		}
		if m.Assessed > 0 {
			m.Mean, m.WeightedMean, m.Minimum, m.TargetMean = Ptr(
				float64(levels)/float64(m.Assessed),
			), Ptr(
				float64(levels)/float64(m.Assessed)+0.1,
			), Ptr(
				low,
			), Ptr(
				3.0,
			)
		}
		total, assessed = total+levels, assessed+m.Assessed
		sum.Domains = append(sum.Domains, m)
	}
	sum.Overall = api.DomainMaturity{Controls: len(s.Scores), Assessed: assessed}
	if assessed > 0 {
		sum.Overall.Mean, sum.Overall.TargetMean = Ptr(float64(total)/float64(assessed)), Ptr(3.0)
	}
	s.MaturitySummary = &sum
}

// HostileSource returns a small source in which all text from users and documents attempts an attack, such as
// an injection.
func HostileSource() *content.Source {
	s := SampleSource(3)
	bad := []string{
		"<script>alert(1)</script> & \"quotes\" 'and' `ticks`",
		"=HYPERLINK(\"http://evil.example\",\"x\")",
		"| a | b |\n|---|---|\n# heading\n- list\n1. one\n    code\n===\n" +
			"[x](http://evil.example) ![i](http://evil.example/i.png) <img src=x onerror=alert(1)>",
		"نص عربي \u202e من اليمين \u0000\u0007 end\x80\xff",
		strings.Repeat("x", 10000),
		"--><svg onload=alert(1)> ]]> {{.Title}} https://evil.example www.evil.example",
	}
	s.Organization.Name, s.Assessment.Name, s.Assessment.Description = bad[0], bad[3], bad[2]
	s.Tool, s.Domains["AST"], s.Frameworks[0].Name = bad[5], bad[5], bad[0]
	s.Scope.Title, s.Scope.Systems = bad[3], bad
	for i := range s.SoAItems {
		it := &s.SoAItems[i]
		it.ControlCode, it.ControlTitle, it.Rationale, it.Note, it.Owner, it.MissingElements = bad[5]+fmt.Sprint(
			i,
		), bad[2], bad[4], Ptr(
			bad[0],
		), Ptr(
			bad[1],
		), bad
		it.Evidence = nil
		for j, q := range bad {
			it.Evidence = append(
				it.Evidence,
				api.Evidence{
					Quote:         q,
					DocumentTitle: bad[(j+1)%6],
					Filename:      bad[(j+2)%6],
					HeadingPath:   bad,
					Locator:       api.Locator{Sheet: bad[0], CellRange: bad[1]},
					Statement:     bad[2],
					SHA256:        FakeSHA256(j),
					Stance:        "supports",
				},
			)
		}
	}
	for i := range s.Findings {
		f := &s.Findings[i]
		f.ControlCode = bad[5]
		f.ControlTitle = bad[1]
		f.Condition = bad[1]
		f.Criteria = bad[2]
		f.Cause = bad[3]
		f.Effect = bad[4]
		f.Recommendation = bad[5]
		f.Evidence = s.SoAItems[0].Evidence
		f.Severity, f.Result, f.GapType, f.Status = api.Severity(bad[0]), api.Result(bad[1]), bad[2], api.Implementation(bad[5])
	}
	for i := range s.POAMItems {
		p := &s.POAMItems[i]
		p.POAMCode, p.Weakness, p.Comments, p.Dependencies = bad[1], bad[2], Ptr(bad[0]), bad
		p.Milestones[0].Title, p.Milestones[0].DueDate, p.Milestones[0].Status = bad[2], api.Date(bad[0]), bad[1]
		p.Status, p.Effort, p.DueDate, p.Severity, p.ActionType = bad[0], bad[2], api.Date(bad[3]), api.Severity(bad[5]), bad[0]
	}
	for i := range s.Documents {
		s.Documents[i].Filename, s.Documents[i].Title, s.Documents[i].Warnings = bad[i%6], bad[(i+1)%6], bad
	}
	return s
}
