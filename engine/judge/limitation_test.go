package judge

import (
	"strings"
	"testing"
)

// Sentences under "Purpose" or "Scope" describe the document and support a statement only in part.
func TestPreambleSupportsOnlyInPart(t *testing.T) {
	const statement, text = "Backups are taken every day.", "Backups of all servers are taken every day."
	for heading, want := range map[string]string{
		"Purpose": VerdictPartial, "1. Purpose and Scope": VerdictPartial, "Scope of this policy": VerdictPartial,
		"Terms and definitions": VerdictPartial, "Background": VerdictPartial,
		"Backups": VerdictCovered, "Scope of backups": VerdictCovered, "4 Rules": VerdictCovered,
		"Terms of service": VerdictCovered, "Policy": VerdictCovered, "": VerdictCovered,
	} {
		p := policy(text)
		if heading != "" {
			p.HeadingPath = []string{"Backup policy", heading}
		}
		if v := judge(t, control("Backups", statement), p).Statements[0]; v.Verdict != want {
			t.Errorf("under %q: %s (%s), want %s", heading, v.Verdict, v.Reason, want)
		}
	}
}

// A statement about scope is met by a sentence under "Scope".
func TestScopeStatementIsMetUnderScope(t *testing.T) {
	p := policy("We confirm the scope of the management system every year.")
	p.HeadingPath = []string{"Manual", "Scope"}
	if v := judge(
		t,
		control("Scope", "The scope of the management system is confirmed every year."),
		p,
	).Statements[0]; v.Verdict != VerdictCovered {
		t.Errorf("%s (%s)", v.Verdict, v.Reason)
	}
}

// A document with many blanks is a template, which also limits its sentences without blanks.
func TestManyBlanksMakeATemplate(t *testing.T) {
	rule := policy("Backups of all servers are taken every day.")
	for blanks, want := range map[string]string{
		"Recovery takes [set the time]. It is led by [job title]. Call [name of supplier].": VerdictPartial,
		"Recovery takes [set the time].": VerdictCovered,
		"Template B-3: call of the crisis team\n" +
			"Recovery takes [set the time]. It is led by [job title]. Call [name of " +
			"supplier].": VerdictCovered, // a form to be copied, which doesn't make the document a template
		"See [1], [x], [the list](list.md), [a](b) and " +
			"[c] for more.": VerdictCovered,
	} {
		form := policy(blanks)
		form.DocumentID, form.ChunkID = rule.DocumentID, "c-2"
		v := judge(t, control("Backups", "Backups are taken every day."), rule, form).Statements[0]
		if v.Verdict != want || (want == VerdictPartial) != strings.Contains(v.Reason, "template with 3 blanks") {
			t.Errorf("beside %q: %s (%s), want %s", blanks, v.Verdict, v.Reason, want)
		}
	}
}

// An example that has not been adapted and marketing material support a statement only in part.
func TestExamplesAndMarketingLimit(t *testing.T) {
	for notice, want := range map[string]string{
		"Example text, replace before use.":                                     VerdictPartial,
		"This document is a template.":                                          VerdictPartial,
		"Adapt this policy to your organization.":                               VerdictPartial,
		"For illustration purposes only.":                                       VerdictPartial,
		"The sample policy of the association was adapted in 2025.":             VerdictCovered,
		"Send us a sample of the text before the contract template is changed.": VerdictCovered,
	} {
		rule := policy("Backups of all servers are taken every day.")
		said := policy(notice)
		said.DocumentID, said.ChunkID = rule.DocumentID, "c-2"
		v := judge(t, control("Backups", "Backups are taken every day."), rule, said).Statements[0]
		if v.Verdict != want || (want == VerdictPartial) != strings.Contains(v.Reason, "hasn't been adapted") {
			t.Errorf("beside %q: %s (%s), want %s", notice, v.Verdict, v.Reason, want)
		}
	}
	for name, want := range map[string]string{
		"brochure.pdf":          VerdictPartial,
		"Press release 2026.md": VerdictPartial,
		"whitepaper.md":         VerdictPartial,
		"release.md":            VerdictCovered,
		"papers.md":             VerdictCovered,
	} {
		p := policy("Backups of all servers are taken every day.")
		p.Filename = name
		if v := judge(t, control("Backups", "Backups are taken every day."), p).Statements[0]; v.Verdict != want {
			t.Errorf("in %s: %s (%s), want %s", name, v.Verdict, v.Reason, want)
		}
	}
}
