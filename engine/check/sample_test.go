package check

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
)

const today = api.Date("2026-11-22")

// hostileText is text that would be active in a terminal, a log, a spreadsheet, XML or Markdown.
const hostileText = "=cmd()|'<b>&amp;]]>\x1b[31m\r\n::error file=x::owned\n" +
	"##[command]x ##vso[task.setvariable variable=PATH]x\x00\u202e`rm` @all [a](javascript:x) # SKIP \\ \"\xff\ufffe"

// sampleRecords returns an assessment of six controls with difficult values in each part.
func sampleRecords() *Records {
	item := func(code, title string) api.Item {
		domain, _, _ := strings.Cut(code, "-")
		return api.Item{
			ControlCode:      code,
			ControlTitle:     title,
			DomainCode:       domain,
			RequirementCodes: api.RequirementCodes{"iso-27001-2022": {"5.1"}},
		}
	}
	line := func(code, title string, status api.Implementation) api.SoAItem {
		return api.SoAItem{Item: item(code, title), Applicability: api.Applicable, ImplementationStatus: status}
	}
	soc := item("GOV-02", "Policies")
	soc.RequirementCodes = api.RequirementCodes{"soc2-tsc": {"CC1.1"}}
	dated, failed := api.Date("2024-01-31"), "the file is encrypted"
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	version := func(id string, n int) *api.DeliverableVersion {
		v := &api.DeliverableVersion{VersionNumber: n, Status: api.VersionApproved, ContentSHA256: "content of " + id}
		v.ID, v.CreatedAt = id, now
		return v
	}
	approval := func(g api.Gate, id string) api.Approval {
		return api.Approval{
			Gate:          g,
			TargetID:      id,
			TargetSHA256:  "content of " + id,
			VersionNumber: 1,
			Status:        api.ApprovalApproved,
			RequestedAt:   now,
			DecidedAt:     &now,
			DecidedBy:     &api.Actor{Name: "Ada"},
		}
	}
	r := &Records{
		Catalog: api.CatalogVersion{Label: "starter-1", IsStarter: true},
		Versions: map[api.Gate]*api.DeliverableVersion{
			api.GateSoA: version("soa", 1), api.GateGapAnalysis: version("gap", 2),
			api.GateMaturity: version("maturity", 1),
		},
		Items: []api.SoAItem{
			line("IAC-06", "Multi-factor authentication", api.NotImplemented), line("IAC-17", "Account review", api.PartiallyImplemented),
			line("BCD-11", "Backups", api.Implemented), line("END-04", "Malware "+hostileText, api.NotEvidenced),
			{Item: soc, Applicability: api.Applicable, ImplementationStatus: api.Implemented},
			{Item: item("PES-01", "Sites"), Applicability: api.NotApplicable, ImplementationStatus: api.NotAssessed},
		},
		Findings: []api.Finding{
			{
				Item: item(
					"IAC-17",
					"Account review",
				),
				Severity:  api.SeverityMedium,
				Status:    api.PartiallyImplemented,
				Result:    api.PartiallyMet,
				Condition: "Reviews are not recorded.",
				Source:    "analysis",
				MissingElements: []string{
					"A record",
				},
				Evidence: []api.Evidence{{DocumentID: "d2", Quote: "Accounts are reviewed.", Locator: api.Locator{LineStart: 12, LineEnd: 13}}},
			},
			{
				Item: item(
					"IAC-06",
					"Multi-factor authentication",
				),
				Severity:       api.SeverityCritical,
				Status:         api.NotImplemented,
				Result:         api.NotMet,
				Condition:      "There is no second factor.",
				Source:         "analysis",
				Recommendation: "Turn it on.",
				Evidence:       []api.Evidence{{DocumentID: "d1", Quote: hostileText, Locator: api.Locator{Page: 3}}},
			},
			{
				Item:            item("END-04", "Malware "+hostileText),
				Severity:        api.SeverityHigh,
				Status:          api.NotEvidenced,
				Result:          api.ResultNoEvid,
				Condition:       hostileText,
				MissingElements: []string{hostileText, ""},
				Recommendation:  hostileText,
				Source:          "analysis",
			},
			{
				Item:     api.Item{ControlCode: "OWN 1", ControlTitle: "A gap by hand"},
				Severity: api.SeverityLow,
				Status:   api.NotImplemented,
				Result:   api.NotMet,
				Source:   "manual",
			},
		},
		Scores: []api.MaturityScore{
			{Item: item("IAC-17", ""), Level: 2, Assessed: true},
			{Item: item("BCD-11", ""), Level: 3, Assessed: true},
			{Item: item("END-04", ""), Level: 0},
		},
		Documents: []api.Document{
			{
				Path: "evidence/policies, all: 1.pdf", SHA256: "aa", EffectiveDate: &dated, Status: api.DocumentIngested,
				NotRead: []api.NotRead{
					{Kind: api.UnreadPicture, Count: 2, Locator: api.Locator{Page: 1}}, {Kind: api.UnreadPicture, Count: 1, Locator: api.Locator{Page: 4}},
				},
			},
			{
				Path: "evidence/access.md", SHA256: "bb", Status: api.DocumentIngested,
				NotRead: []api.NotRead{{Kind: hostileText, Count: 1}},
			},
			{Path: "evidence/" + hostileText, SHA256: "cc", Status: api.DocumentFailed, Error: &failed},
		},
		Approvals: []api.Approval{approval(api.GateSoA, "soa"), approval(api.GateGapAnalysis, "gap")},
	}
	r.Assessment.Name, r.Assessment.Frameworks = "Acme "+hostileText, []string{"soc2-tsc", "iso-27001-2022"}
	r.Documents[0].ID, r.Documents[1].ID, r.Documents[2].ID = "d1", "d2", "d3"
	return r
}

func sampleFacts() *Facts { return NewFacts(sampleRecords()) }

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// mustEvaluate checks facts against settings given as key=value.
func mustEvaluate(t testing.TB, f *Facts, settings ...string) *Result {
	t.Helper()
	return must[*Result](t)(Evaluate(input(t, f, settings...)))
}

func input(t testing.TB, f *Facts, settings ...string) Input {
	t.Helper()
	p := must[*Policy](t)(ParsePolicy(nil, "ci/.service.yaml"))
	for _, s := range settings {
		k, v, _ := strings.Cut(s, "=")
		if err := p.Set(k, strings.Split(v, ",")); err != nil {
			t.Fatal(err)
		}
	}
	return Input{Facts: f, Policy: p, Today: today, Tool: "service 1.2.3"}
}

// sampleResults returns results that every format must be able to represent.
func sampleResults(t testing.TB) map[string]*Result {
	full := input(
		t,
		sampleFacts(),
		"fail-on=high",
		"fail-on-new=any",
		"min-coverage=70",
		"min-maturity=2.5",
		"max-stale-days=365",
		"require-approved=soa,maturity",
		"baseline=b.json",
		"waivers=w.yaml",
		"threshold=t.json",
	)
	before := sampleFacts()
	before.Findings = before.Findings[1:3]
	before.Findings[0].Severity = api.SeverityLow
	full.Baseline = NewBaseline(before)
	full.Threshold = &Threshold{comparisonScope: full.Facts.scopeForComparison(), Gaps: map[api.Severity]int{api.SeverityLow: 5}}
	full.Waivers = must[[]Waiver](t)(ParseWaivers([]byte(`waivers:
- {control: end-04, reason: 'moved # to a new "agent"', approver: Bo, expiry: 2026-11-22}
- {control: IAC-17, reason: late, approver: Bo, expiry: 2026-11-21}
- {control: BCD-12, reason: typo, approver: Bo, expiry: 2027-01-01}
`), "w.yaml"))
	full.Policy.InEvidence = []InputInEvidence{
		{Kind: "waivers", Path: "evidence/" + hostileText}, {Path: "evidence/.service.yaml", IsIgnored: true},
	}
	nothing := sampleFacts()
	nothing.Findings, nothing.Controls, nothing.Documents = nil, nil, nil
	clean := sampleFacts()
	clean.Findings = nil
	out := map[string]*Result{
		"full":    must[*Result](t)(Evaluate(full)),
		"nothing": mustEvaluate(t, nothing, "min-coverage=1"),
		"clean":   mustEvaluate(t, clean, "fail-on=low"),
		"large":   largeResult(t, 300),
	}
	return out
}

// largeResult returns a result with many gaps.
func largeResult(t testing.TB, gaps int) *Result {
	f := sampleFacts()
	for i := range gaps {
		g := f.Findings[i%4]
		g.Control, g.Fingerprint = fmt.Sprintf("GEN-%04d", i), fingerprint("gap", fmt.Sprint(i))
		f.Findings = append(f.Findings, g)
	}
	return mustEvaluate(t, f, "fail-on=low")
}
