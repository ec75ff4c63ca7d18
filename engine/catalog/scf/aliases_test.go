package scf

import (
	"slices"
	"strings"
	"testing"
)

// TestBuiltinAliases checks that each name in the built-in table has one code, and that codes
// resolve to themselves.
func TestBuiltinAliases(t *testing.T) {
	a := BuiltinAliases()
	if len(a.Aliases) < 20 || len(a.Laws) < 50 || len(a.Editions) < 30 {
		t.Fatalf("%d, %d, %d entries", len(a.Aliases), len(a.Laws), len(a.Editions))
	}
	for _, e := range slices.Concat(a.Aliases, a.Laws) {
		if FrameworkCode(e.Code) != e.Code {
			t.Errorf("the code %s is also a name of %s", e.Code, FrameworkCode(e.Code))
		}
		for _, name := range e.Names {
			if got := FrameworkCode(name); got != e.Code {
				t.Errorf("%q is %s, not %s", name, got, e.Code)
			}
		}
	}
	seen := map[string]bool{}
	for _, line := range a.Editions {
		for _, code := range line {
			if FrameworkCode(code) != code || seen[code] {
				t.Errorf("edition %s is %s, or in two lines", code, FrameworkCode(code))
			}
			seen[code] = true
		}
	}
	if got := a.NewerEditions("pci-dss-3.2"); !slices.Equal(got, []string{"pci-dss-4.0", "pci-dss-4.0.1"}) {
		t.Errorf("%q", got)
	}
}

func TestNamesOverTheYears(t *testing.T) {
	for _, names := range [][]string{
		{"StateRAMP Low+\nCategory 2", "US\nStateRAMP\nLow+\nCategory 2", "GovRAMP\nLow+"},
		{"EMEA\nAustria", "EMEA\nAustria\nFAPPD\n2000"},
		{"APAC\nJapan", "APAC\nJapan\nAPPI", "APAC\nJapan\nAPPI\n2020"},
		{"US-VA\nCDPA", "US-VA\nCDPA\n2023", "US - VA\nCDPA 2023"},
		{"EMEA\nSaudi Arabia\nSAAM CSFv1.0", "EMEA\nSaudi Arabia\nSAMA CSF 1.0\n2017"},
		{"US\nFedRAMP\n[moderate]", "US\nFedRAMP\nR4 (moderate)"},
	} {
		for _, name := range names {
			if FrameworkCode(name) != FrameworkCode(names[0]) {
				t.Errorf("%q is %s, %q is %s", names[0], FrameworkCode(names[0]), name, FrameworkCode(name))
			}
		}
	}
	if FrameworkCode("US\nFedRAMP\nR5 (low)") == FrameworkCode("US\nFedRAMP\n(low)") ||
		FrameworkCode("NIST\nCSF\nv1.1") == FrameworkCode("NIST\nCSF\n2.0") {
		t.Error("another edition is not the same framework")
	}
}

// TestUsersAliases checks that a user's table overrides the built-in one, and that the first name
// of a list gets the code.
func TestUsersAliases(t *testing.T) {
	a, err := ParseAliases(
		[]byte(
			"aliases:\n  - code: moon-act\n    names: [Moon Base Act 2030, Lunar Ordinance]\n  - {code: our-csf, names: ['NIST CSF v2.0']}\n",
		),
	)
	if err != nil {
		t.Fatal(err)
	}
	frameworks := []Framework{
		{Column: "Lunar\nOrdinance"},
		{Column: "Moon Base\nAct 2030"},
		{Column: "NIST\nCSF\nv2.0"},
		{Column: "NIST\nSSDF"},
		{Column: "NIST\n800-218\nv1.1"},
	}
	AssignFrameworkCodes(frameworks, a)
	var got []string
	for _, f := range frameworks {
		got = append(got, f.Code)
	}
	if want := "lunar-ordinance moon-act our-csf nist-ssdf nist-800-218"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %s", got, want)
	}
}

func TestAliasesAreRefused(t *testing.T) {
	for text, words := range map[string]string{
		"aliases: 7":                          "can't be read",
		"similar: []":                         "similar",
		"aliases: [{code: Moon Act}]":         "lower-case",
		"aliases: [{code: a, names: ['  ']}]": "empty or too long",
		"aliases: [{code: a, names: [x]}, {code: b, names: [X]}]": "both a and b",
		"editions: [" + strings.Repeat("[a],", 3000) + "]":        "more than",
		"a: &a [x, x]\naliases: [*a]":                             "can't be read",
	} {
		if _, err := ParseAliases([]byte(text)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
	if a, err := ParseAliases(nil); err != nil || len(a.Aliases) != 0 {
		t.Errorf("an empty table: %v", err)
	}
}

func FuzzAliases(f *testing.F) {
	f.Add("aliases:\n  - {code: moon-act, names: [Lunar Ordinance]}\nlaws: [{code: x}]\neditions: [[a, b]]")
	f.Add("aliases: [{code: é, names: [a+]}]")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ParseAliases([]byte(text))
		if err != nil {
			return
		}
		frameworks := []Framework{{Column: "Lunar Ordinance"}, {Column: "NIST CSF 2.0"}, {Column: "NIST CSF 2.0"}, {Name: "x"}}
		AssignFrameworkCodes(frameworks, a)
		for i, f := range frameworks {
			if f.Code == "" || slices.ContainsFunc(frameworks[:i], func(o Framework) bool { return o.Code == f.Code }) {
				t.Errorf("codes %+v", frameworks)
			}
		}
	})
}
