package custom_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/scf-service/service/engine/catalog/custom"
)

const both = `
frameworks:
  - code: yard-rules
    name: Yard rules
    requirements:
      - code: 1.10
        title: One
        controls: [IAC-06]
        relations:
          - {control: GOV-01, relationship: subset, strength: 3}
controls:
  - {code: yard-01, title: Whistles, description: Blown., maturity: {3: Always blown.}, requirements: {iso-27001-2022: [A.5.1]}}
`

func TestReadSet(t *testing.T) {
	set, err := custom.ReadSet("yard.yaml", []byte(both), custom.SetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := set.Frameworks[0].Requirements[0]
	if r.Code != "1.10" || r.Controls[0] != "IAC-06" || *r.Relations[0].Strength != 3 {
		t.Errorf("%+v", r)
	}
	if c := set.Controls[0]; c.Code != "YARD-01" || c.Maturity["3"] != "Always blown." || c.Requirements["iso-27001-2022"][0] != "A.5.1" {
		t.Errorf("%+v", c)
	}
	json := `{"code": "yard-rules", "name": "Yard", "is_custom": true, "requirements": [{"code": "1", "text": "Do \"it\"\nnow"}], "requirement_count": 1, "unresolved": []}`
	if set, err = custom.ReadSet("x.json", []byte(json), custom.SetOptions{}); err != nil ||
		*set.Frameworks[0].Requirements[0].Text != "Do \"it\"\nnow" {
		t.Errorf("%+v, %v", set, err)
	}
}

func inUTF16(s string, order binary.AppendByteOrder) string {
	var out []byte
	for _, u := range utf16.Encode([]rune(s)) {
		out = order.AppendUint16(out, u)
	}
	return string(out)
}

func TestReadCSV(t *testing.T) {
	table := "\xef\xbb\xbfRequirement;Title;Controls;Relationship;Strength\nQ1;First;IAC-06 / GOV-01;;\n;;;;\nQ1;;IAC-07;Subset;5\n" +
		"Q2;Second;;;\n"
	set, err := custom.ReadSet("/tmp/ACME Questions 2026.csv", []byte(table), custom.SetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f := set.Frameworks[0]
	if f.Code != "acme-questions-2026" || f.Name != "ACME Questions 2026" || len(f.Requirements) != 2 {
		t.Fatalf("%+v", f)
	}
	if r := f.Requirements[0]; strings.Join(r.Controls, " ") != "IAC-06 GOV-01" || r.Relations[0].Control != "IAC-07" ||
		r.Relations[0].Relationship != "subset" {
		t.Errorf("%+v", r)
	}
	plain := "requirement;title;controls\r\nQ1;\"Prüfung; jährlich\";IAC-06\r\n1.10;Zwei;GOV-01\r\n"
	for name, data := range map[string]string{
		"sep=": "sep=;\r\n" + plain, "quoted sep=": "\ufeff\"sep=;\"\n" + plain,
		"UTF-16":           "\xff\xfe" + inUTF16(plain, binary.LittleEndian),
		"UTF-16 and sep=":  "\xfe\xff" + inUTF16("SEP=;\n"+plain, binary.BigEndian),
		"UTF-16, unmarked": inUTF16(plain, binary.LittleEndian),
		"Windows-1252":     strings.NewReplacer("ü", "\xfc", "ä", "\xe4").Replace(plain),
	} {
		set, err := custom.ReadSet("x.csv", []byte(data), custom.SetOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if r := set.Frameworks[0].Requirements; len(r) != 2 || *r[0].Title != "Prüfung; jährlich" || r[1].Code != "1.10" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	table = "control\ttitle\tdescription\tweight\nyard-01\tWhistles\tBlown, loudly\t7\n"
	if set, err = custom.ReadSet("pasted", []byte(table), custom.SetOptions{}); err != nil || *set.Controls[0].Weight != 7 {
		t.Errorf("%+v, %v", set, err)
	}
}

func TestRejectedSets(t *testing.T) {
	for name, c := range map[string]struct{ file, data, says string }{
		"nothing":   {"x.yaml", " \n", "it is empty"},
		"not UTF-8": {"x.csv", "requirement\né\xff", "UTF-8"},
		"a picture": {"x.csv", "\x89PNG\r\n\x1a\n", "not a text file"},
		"a program": {"x.yaml", "\x7fELF\x00", "not a text file"},
		"a list":    {"x.yaml", "- a\n- b", "the top level must have the field"},
		"a word":    {"x.yaml", "hello", "the top level must have the field"},
		"neither":   {"x.yaml", "frameworks: []", "no frameworks or controls"},
		"OSCAL": {
			"x.json", `{"catalog": {"uuid": "1"}}`,
			"the file is an OSCAL catalog; import it into the catalog: service catalog import",
		},
		"an unknown field":    {"x.yaml", "frameworks:\n  - code: a\n    nime: b", "line 3: field nime not found"},
		"a number for a list": {"x.yaml", "frameworks: 7", "line 1"},
		"two documents":       {"x.yaml", both + "---\n" + both, "more than one document"},
		"an alias":            {"x.yaml", "frameworks: &a []\ncontrols: *a", "line 2: replace *a with its value"},
		"a bomb":              {"x.yaml", "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nframeworks: *c", "references are not allowed"},
		"10,000 deep":         {"x.yaml", "frameworks: " + strings.Repeat("[", 10000), "nested"},
		"10,000 deep in JSON": {"x.json", strings.Repeat(`{"a":`, 10000), "nested"},
		"10,000 lines deep":   {"x.yaml", deep(10000), "nested"},
		"a huge number":       {"x.json", `{"frameworks": [{"code": 1e99999999}]}`, "number"},
		"a key twice":         {"x.json", `{"frameworks": [], "frameworks": []}`, "twice"},
		"no known header":     {"x.csv", "a,b\n1,2", "line 1: unknown header"},
		"a wrong column":      {"x.csv", "requirement,contrlos\n1,2", `line 1: unknown column "contrlos"`},
		"a column twice":      {"x.csv", "requirement,title,title\n", "twice"},
		"too many cells":      {"x.csv", "requirement,title\n1,a,b\n", "line 2: the row has 3 cells"},
		"a quote left open":   {"x.csv", "requirement,title\n1,\"a\n", "line 2"},
		"no code":             {"x.csv", "requirement,title\n,a\n", "line 2: the requirement has no code"},
		"two titles":          {"x.csv", "requirement,title\n1,a\n1,b\n", "line 3: requirement 1 has a different title or text on line 2"},
		"a control twice":     {"x.csv", "control,title\nA-1,a\nA-1,b\n", "line 3: control A-1 is already listed on line 2"},
		"a strength of words": {"x.csv", "requirement,controls,strength\n1,IAC-06,strong\n", `line 2: the strength "strong"`},
		"only a header":       {"x.csv", "requirement,title\n", "no framework"},
	} {
		_, err := custom.ReadSet(c.file, []byte(c.data), custom.SetOptions{})
		if err == nil || !strings.Contains(err.Error(), c.says) || len(err.Error()) > 500 {
			t.Errorf("%s: %v; want %q", name, err, c.says)
		}
	}
}

// deep returns YAML nested n levels by indentation.
func deep(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i%200) + "a:\n")
		if i%200 == 199 {
			break
		}
	}
	return b.String()
}

func FuzzReadSet(f *testing.F) {
	f.Add("x.yaml", []byte(both))
	f.Add("x.json", []byte(`{"frameworks": [{"code": "a", "name": "b", "requirements": [{"code": "1"}]}]}`))
	f.Add("x.csv", []byte("requirement;title;controls\n1;One;IAC-06\n"))
	f.Add("x.csv", []byte("control,title,description\nA-1,\"a\nb\",c\n"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		set, err := custom.ReadSet(name, data, custom.SetOptions{})
		if err == nil && len(set.Frameworks)+len(set.Controls) == 0 {
			t.Fatal("nothing was read, and nothing said")
		}
		if err != nil && len(err.Error()) > 2000 {
			t.Fatalf("the error has %d bytes", len(err.Error()))
		}
	})
}
