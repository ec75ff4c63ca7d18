package analysis

import (
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/internal/testutil/longtest"
)

func place(s string) int { return slices.Index(severityLevels, s) }

// TestAddedEvidenceNeverLowersCompliance checks that adding missing evidence never makes an
// evaluation worse.
func TestAddedEvidenceNeverLowersCompliance(t *testing.T) {
	requirement := "Backups are taken daily, encrypted, and restored as a test every quarter."
	text := ""
	last := len(splitElements(requirement)) + 1
	for _, more := range []string{
		"",
		"Backups are taken daily at 01:00.",
		"Backups are encrypted with AES-256.",
		"A restore test of the backups is done each quarter.",
	} {
		text += " " + more
		got, _ := EvaluateEvidence(t.Context(), requirement, text)
		if len(got.MissingElements) > last {
			t.Errorf("with %q more is missing: %v", more, got.MissingElements)
		}
		last = len(got.MissingElements)
	}
	if last != 0 {
		t.Errorf("with all of it %d elements are missing", last)
	}
}

func TestSuccessOutranksFailure(t *testing.T) {
	for _, p := range [][2]string{
		{"Accepted password for root from 203.0.113.9 port 5 ssh2", "Failed password for root from 203.0.113.9 port 5 ssh2"},
	} {
		failures := strings.Repeat("Failed password for root from 203.0.113.9 port 4 ssh2\n", 5)
		in, _ := TriageIncident(t.Context(), "b", failures+p[0])
		out, _ := TriageIncident(t.Context(), "b", failures+p[1])
		if place(in.SeverityLevel) <= place(out.SeverityLevel) {
			t.Errorf("success %s, failure %s", in.SeverityLevel, out.SeverityLevel)
		}
	}
	sql := `1.2.3.4 - - [x] "GET /p?id=1%27%20UNION%20SELECT%20a HTTP/1.1" `
	in, _ := TriageIncident(t.Context(), "b", sql+"200 9")
	out, _ := TriageIncident(t.Context(), "b", sql+"403 9")
	if place(in.SeverityLevel) <= place(out.SeverityLevel) {
		t.Errorf("answered %s, refused %s", in.SeverityLevel, out.SeverityLevel)
	}
}

// TestNoiseHidesNoAttack checks that irrelevant lines never lower the findings of the others.
func TestNoiseHidesNoAttack(t *testing.T) {
	all, err := readCases("incident")
	if err != nil {
		t.Fatal(err)
	}
	noise := strings.Repeat("GET /health HTTP/1.1 200 2\n", 300)
	for i, c := range all {
		a, _ := TriageIncident(t.Context(), c.Module, c.Logs)
		b, _ := TriageIncident(t.Context(), c.Module, noise+c.Logs+"\n"+noise)
		if a.SeverityLevel != b.SeverityLevel || a.IsFalsePositive != b.IsFalsePositive {
			t.Errorf("case %d: %s became %s in the noise", i+1, a.SeverityLevel, b.SeverityLevel)
		}
	}
}

func TestListedSubprocessorsAreNotFlagged(t *testing.T) {
	for _, listed := range []string{
		"Sub-processors: OVH SAS and Brevo SAS.",
		"Subprocessors are Cloudflare, Inc. and Stripe Payments Europe, Ltd.",
		"Supplier uses no sub-processors.",
	} {
		got, _ := ScanVendorContract(t.Context(), "v", "Liability is limited to EUR 5. "+listed)
		for _, f := range got.RedFlagsForNegotiation {
			if strings.Contains(f, "rules for sub-processors") {
				t.Errorf("%q is flagged: %s", listed, f)
			}
		}
	}
}

// TestTermsLowerFlags checks that adding a term to a contract removes flags and never adds one.
func TestTermsLowerFlags(t *testing.T) {
	text, last := "This is an agreement. ", 1000
	for _, term := range []string{
		"Data is processed on documented instructions only. ", "Staff are bound to confidentiality. ",
		"Technical and organisational measures are in place. ",
		"The vendor notifies personal data breaches within 24 hours. ", "Data is deleted at the end. ",
		"The customer may audit. ", "The vendor uses no sub-processors. ",
		"It assists with requests of data subjects. ",
	} {
		text += term
		got, _ := ScanVendorContract(t.Context(), "v", text)
		if len(got.RedFlagsForNegotiation) >= last {
			t.Errorf("%q took no flag away", term)
		}
		last = len(got.RedFlagsForNegotiation)
	}
	if got, _ := ScanVendorContract(t.Context(), "v", text); !got.IsDPACompliant {
		t.Errorf("with all terms: %v", got.RedFlagsForNegotiation)
	}
}

func TestMeasuresNeverRaiseTheResidualRisk(t *testing.T) {
	text, last := "Automated loan decisions with scores of applicants.", 9
	for _, m := range []string{
		"",
		" Data is encrypted.",
		" Access is limited by role.",
		" Data is deleted after a year.",
		" Each refusal is reviewed by a person.",
		" Models are tested for bias.",
	} {
		text += m
		got, _ := AssessDPIA(t.Context(), text, nil, everyControl{})
		if p := place(got.ResidualRiskLevel); p > last {
			t.Errorf("%q raised the risk to %s", m, got.ResidualRiskLevel)
		} else {
			last = p
		}
		if !got.IsDraft {
			t.Error("it is no draft")
		}
	}
}

func TestMoreGapsNeverLowerThePriority(t *testing.T) {
	var gaps []any
	last := -1
	for _, g := range []string{
		"privacy notice",
		"annual training",
		"access review",
		"multi-factor authentication",
		"encryption of data at rest",
		"patches",
	} {
		gaps = append(gaps, g)
		got, _ := PlanRemediation(t.Context(), map[string]any{"missing_elements": gaps}, "AWS", everyControl{})
		if p := place(got.PriorityLevel); p < last {
			t.Errorf("with %q the priority fell to %s", g, got.PriorityLevel)
		} else {
			last = p
		}
		if len(got.SprintActionItems) <= len(gaps)-1 {
			t.Errorf("%d actions for %d gaps", len(got.SprintActionItems), len(gaps))
		}
	}
}

func TestUrgencyFollowsTheFacts(t *testing.T) {
	base, _ := TranslateRisk(t.Context(), "The payment API has a flaw.", "security", "")
	worse, _ := TranslateRisk(t.Context(), "The payment API has a flaw that is exploited in the wild.", "security", "")
	if worse.UrgencyMetric <= base.UrgencyMetric {
		t.Errorf("%v, exploited %v", base.UrgencyMetric, worse.UrgencyMetric)
	}
	if strings.ContainsAny(base.FinancialImpactEstimate, "€$") {
		t.Errorf("a figure was invented: %s", base.FinancialImpactEstimate)
	}
}

// FuzzAnalyses checks that any input gets an answer within the limits.
func FuzzAnalyses(f *testing.F) {
	for _, s := range []string{
		"",
		"\x00\xff",
		strings.Repeat("a ", 1000),
		"日本語のログ",
		"Failed password for root from 1.2.3.4",
		strings.Repeat("(", 3000),
		"1.1.1.1 %zz",
	} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		e, _ := EvaluateEvidence(t.Context(), a, b)
		r, _ := TranslateRisk(t.Context(), a, "security", b)
		if e.ConfidenceScore < 0 || e.ConfidenceScore > 100 || r.UrgencyMetric < 0 || r.UrgencyMetric > 100 ||
			e.IsCompliant && len(e.MissingElements) > 0 {
			t.Errorf("%+v %+v", e, r)
		}
		i, _ := TriageIncident(t.Context(), a, b)
		if i.IsFalsePositive && i.SeverityLevel != "low" {
			t.Errorf("%+v", i)
		}
		ScanVendorContract(t.Context(), a, b)
		AnalyzeRoPA(t.Context(), b, everyControl{})
		AssessDPIA(t.Context(), b, nil, everyControl{})
		PlanRemediation(t.Context(), map[string]any{"missing_elements": []any{a, 7}}, b, everyControl{})
	})
}

func TestLargeAndStrangeTexts(t *testing.T) {
	times := 1
	if longtest.Enabled() {
		times = 10
	}
	for _, s := range []string{
		strings.Repeat("Backups are encrypted and restored. ", 1400*times),
		strings.Repeat("x", 50_000*times),
		strings.Repeat("Failed password for root from 203.0.113.9\n", 1100*times),
		"Резервные копии делаются ежедневно.",
		"\x7fELF\x02\x01\x00\x00",
	} {
		if e, _ := EvaluateEvidence(t.Context(), "Visitors are escorted.", s); e.IsCompliant {
			t.Errorf("%.20q is compliant", s)
		}
		TriageIncident(t.Context(), "m", s)
		ScanVendorContract(t.Context(), "v", s)
		AssessDPIA(t.Context(), s, nil, everyControl{})
	}
}
