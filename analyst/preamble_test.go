package analyst

import (
	"strings"
	"testing"
)

// What stands under "Purpose" or "Scope" says what a document is for; the rules stand elsewhere.
func TestPreamblesBearNothingInFull(t *testing.T) {
	const statement, text = "Backups are taken every day.", "Backups of all servers are taken every day."
	for heading, want := range map[string]string{
		"Purpose": partial, "1. Purpose and Scope": partial, "Scope of this policy": partial, "Terms and definitions": partial, "Background": partial,
		"Backups": covered, "Scope of backups": covered, "4 Rules": covered, "Terms of service": covered, "Policy": covered, "": covered,
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

// What asks for a scope is said there.
func TestScopeIsSaidUnderScope(t *testing.T) {
	p := policy("We confirm the scope of the management system every year.")
	p.HeadingPath = []string{"Manual", "Scope"}
	if v := judge(t, control("Scope", "The scope of the management system is confirmed every year."), p).Statements[0]; v.Verdict != covered {
		t.Errorf("%s (%s)", v.Verdict, v.Reason)
	}
}

// A document full of blanks is a template, also where a sentence of it has none.
func TestManyBlanksMakeATemplate(t *testing.T) {
	rule := policy("Backups of all servers are taken every day.")
	for blanks, want := range map[string]string{
		"Recovery takes [set the time]. It is led by [job title]. Call [name of supplier].": partial,
		"Recovery takes [set the time].":                              covered,
		"See [1], [x], [the list](list.md), [a](b) and [c] for more.": covered,
	} {
		form := policy(blanks)
		form.DocumentID, form.ChunkID = rule.DocumentID, "c-2"
		v := judge(t, control("Backups", "Backups are taken every day."), rule, form).Statements[0]
		if v.Verdict != want || (want == partial) != strings.Contains(v.Reason, "template with 3 blanks") {
			t.Errorf("beside %q: %s (%s), want %s", blanks, v.Verdict, v.Reason, want)
		}
	}
}
