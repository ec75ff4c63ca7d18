package starter

import (
	"archive/zip"
	"fmt"
	"html"
	"io/fs"
	"iter"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/internal/testutil/shareddata"
)

const versionID = "01930000-0000-7000-8000-000000000001"

func loaded(t testing.TB) *scf.Source {
	t.Helper()
	src, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// loadFullCatalog returns the starter catalog, or skips the test if domains are missing.
func loadFullCatalog(t *testing.T) *scf.Source {
	t.Helper()
	names, err := fs.Glob(embeddedFiles, "data/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 33 {
		t.Skipf("%d of 33 domains are there", len(names))
	}
	return loaded(t)
}

func TestLoad(t *testing.T) {
	src := loaded(t)
	if again := loaded(t); !reflect.DeepEqual(again, src) {
		t.Error("loaded twice, it differs")
	}
	s, err := scf.NewSnapshot(src, scf.Version{ID: versionID})
	if err != nil {
		t.Fatal(err)
	}
	if v := s.Version(); !v.IsStarter || v.Label != Label || v.SourceFilename != nil {
		t.Errorf("%+v", v)
	}
	for i := range src.Controls {
		c := &src.Controls[i]
		if !scf.IsControlCode(c.Code) {
			t.Errorf("code %q", c.Code)
		}
		mappings, err := s.ControlMappings(c.Code)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range mappings {
			if m.IsOfficial || m.Source != "starter" || m.Relationship != nil {
				t.Fatalf("a mapping of ours passes for official: %+v", m)
			}
		}
	}
}

func TestFrameworkLists(t *testing.T) {
	counts := map[string]int{}
	for _, f := range loaded(t).Frameworks {
		if scf.FrameworkCode(f.Code) != f.Code {
			t.Errorf("a workbook would call %s %s", f.Code, scf.FrameworkCode(f.Code))
		}
		if f.Name == "" || f.Publisher == "" || f.Jurisdiction == "" || f.Title == "" || !strings.HasPrefix(f.SourceURL, "https://") {
			t.Errorf("%s is not described: %+v", f.Code, f)
		}
		for _, q := range f.Requirements {
			counts[f.Code]++
			if annexA.MatchString(q.Code) && f.Code == "iso-27001-2022" {
				counts["annex a"]++
			}
			if (f.Code == "iso-27001-2022" || f.Code == "nist-csf-2.0" || f.Code == "soc2-tsc") && q.Title == "" {
				t.Errorf("%s of %s has no title", q.Code, f.Code)
			}
		}
	}
	for code, want := range map[string]int{"annex a": 93, "iso-27001-2022": 93 + 30, "nist-csf-2.0": 106, "soc2-tsc": 61} {
		if counts[code] != want {
			t.Errorf("%s has %d requirements, want %d", code, counts[code], want)
		}
	}
}

var annexA = regexp.MustCompile(`^A\.[5-8]\.\d+$`)

func TestControlsAreWhole(t *testing.T) {
	src := loaded(t)
	material := 0
	titles := map[string]string{}
	for i := range src.Controls {
		c := &src.Controls[i]
		if other, twice := titles[c.Title]; twice {
			t.Errorf("%s and %s are both called %q", other, c.Code, c.Title)
		}
		titles[c.Title] = c.Code
		if n := len(c.Objectives); n < 2 || n > 5 {
			t.Errorf("%s has %d objectives", c.Code, n)
		}
		if n := len(c.Evidence); n < 1 || n > 4 {
			t.Errorf("%s has %d evidence requests", c.Code, n)
		}
		if n := len(c.Tags); n < 1 || n > 4 {
			t.Errorf("%s has %d tags", c.Code, n)
		}
		if len(c.Applicability) == 0 || !strings.HasSuffix(c.Question, "?") {
			t.Errorf("%s: applicability %q, question %q", c.Code, c.Applicability, c.Question)
		}
		for level := 1; level <= 5; level++ {
			if c.Maturity[level] == "" {
				t.Errorf("%s has no criteria for level %d", c.Code, level)
			}
		}
		if c.Weight == 10 {
			material++
		}
	}
	// At most one control in eight is material, with some slack while domains are missing.
	if limit := len(src.Controls)/8 + 4; material > limit {
		t.Errorf("%d of %d controls are material, more than %d", material, len(src.Controls), limit)
	}
}

func TestWholeCatalog(t *testing.T) {
	src := loadFullCatalog(t)
	if len(src.Controls) < 180 || len(src.Domains) != 33 {
		t.Errorf("%d controls in %d domains", len(src.Controls), len(src.Domains))
	}
	s, err := scf.NewSnapshot(src, scf.Version{ID: versionID})
	if err != nil {
		t.Fatal(err)
	}
	mapped := 0
	for _, f := range s.Frameworks() {
		if f.MappingCount > 0 {
			mapped++
		}
	}
	if mapped < 12 {
		t.Errorf("%d frameworks are mapped", mapped)
	}
	for _, d := range s.Domains() {
		if d.ControlCount == 0 || d.Principle == nil || d.Intent == nil {
			t.Errorf("domain %s is not whole", d.Code)
		}
	}
	requirements, err := s.Requirements("iso-27001-2022")
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range requirements {
		if !annexA.MatchString(q.Code) {
			continue
		}
		if m, err := s.RequirementMappings(q.ID); err != nil || len(m) == 0 {
			t.Errorf("no control maps to %s (%s), %v", q.Code, *q.Title, err)
		}
	}
	for i := range src.Controls {
		for _, k := range src.Controls[i].Compensating {
			if _, err := s.Control(k.Control); err != nil {
				t.Errorf("%s: compensating %v", src.Controls[i].Code, err)
			}
		}
	}
}

// TestOurOwnWords compares runs of eight words with every cell of official SCF workbooks.
func TestOurOwnWords(t *testing.T) {
	const run = 8
	ours := map[string]string{}
	texts(loaded(t), func(where, text string) {
		for _, r := range runs(text, run) {
			ours[r] = where
		}
	})
	for _, name := range []string{"scf-2022.3.xlsx", "scf-2026.1.1-like.xlsx"} {
		compared := 0
		reported := map[string]bool{}
		for text := range workbookTexts(t, shareddata.PathOrSkip(t, "scf", name)) {
			for _, r := range runs(text, run) {
				compared++
				if where, ok := ours[r]; ok && !reported[where] {
					reported[where] = true
					t.Errorf("%s shares %q with a cell of %s", where, r, name)
				}
			}
		}
		if compared < 100_000 {
			t.Errorf("%s: only %d runs of words were compared", name, compared)
		}
	}
}

// workbookTexts yields the text of every cell of an .xlsx file, from its table of shared texts
// and from its sheets. It is ten times faster than reading the sheets as tables.
func workbookTexts(t *testing.T, path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		z, err := zip.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		for _, part := range z.File {
			if part.Name != "xl/sharedStrings.xml" && !strings.HasPrefix(part.Name, "xl/worksheets/sheet") {
				continue
			}
			data, err := fs.ReadFile(z, part.Name)
			if err != nil {
				t.Fatal(err)
			}
			// <si> and <is> hold one text each, as <t> elements for its formatted parts.
			for item := range strings.SplitSeq(strings.ReplaceAll(string(data), "</is>", "</si>"), "</si>") {
				var text strings.Builder
				for piece := range strings.SplitSeq(item, "</t>") {
					text.WriteString(piece[strings.LastIndexByte(piece, '>')+1:])
				}
				if !yield(html.UnescapeString(text.String())) {
					return
				}
			}
		}
	}
}

// texts yields every text of a source that someone wrote.
func texts(src *scf.Source, yield func(where, text string)) {
	for _, d := range src.Domains {
		yield(d.Code, d.Principle)
		yield(d.Code, d.Intent)
	}
	for _, e := range src.Evidence {
		yield("evidence "+e.Artifact, e.Artifact)
		yield("evidence "+e.Artifact, e.Description)
	}
	for _, list := range [][]scf.Hazard{src.Risks, src.Threats} {
		for _, h := range list {
			yield(h.Code, h.Title)
			yield(h.Code, h.Description)
		}
	}
	for _, p := range src.Principles {
		yield("principle "+p.Number, p.Description)
	}
	for _, f := range src.Frameworks {
		for _, q := range f.Requirements {
			yield(f.Code+" "+q.Code, q.Title)
		}
	}
	for i := range src.Controls {
		c := &src.Controls[i]
		yield(c.Code+" title", c.Title)
		yield(c.Code+" description", c.Description)
		yield(c.Code+" question", c.Question)
		for level, text := range c.Maturity {
			yield(fmt.Sprintf("%s maturity %d", c.Code, level), text)
		}
		for _, o := range c.Objectives {
			yield(o.Code, o.Text)
		}
		for _, k := range c.Compensating {
			yield(c.Code+" compensating", k.Justification)
		}
		for _, p := range c.Solutions {
			yield(c.Code+" solutions", p.Text)
		}
	}
}

func runs(text string, n int) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	var out []string
	for i := 0; i+n <= len(words); i++ {
		out = append(out, strings.Join(words[i:i+n], " "))
	}
	return out
}

const (
	goodFrameworks = `
frameworks:
  - {code: nist-csf-2.0, name: CSF, requirements: {PR.AA-03: Authentication, "9.2.1": Audits}}
  - {code: gdpr, name: GDPR}
`
	goodDomain = `
domain: {code: IAC, name: Access, principle: P., intent: I.}
controls:
  - code: IAC-06
    title: Multi-factor authentication
    description: A second factor.
    question: Is there one?
    weight: 9
    applicability: [technology]
    csf_function: protect
    cadence: annual
    evidence_requests: [Export]
    objectives: [One., Two.]
    maturity: {"1": a, "5": b}
    compensating: [{control: IAC-07, why: Because.}]
    tags: [authentication]
    mappings: {nist-csf-2.0: [PR.AA-03, "9.2", PR.AA-03], gdpr: ["Art 32", "Art 5"]}
`
)

func TestStrict(t *testing.T) {
	files := func(domain, frameworks string) fstest.MapFS {
		return fstest.MapFS{
			"data/iac.yaml": {Data: []byte(domain)}, "data/README.md": {Data: []byte("no catalog")},
			"data-frameworks.yaml": {Data: []byte(frameworks)},
		}
	}
	src, err := loadFrom(files(goodDomain, goodFrameworks))
	if err != nil {
		t.Fatal(err)
	}
	if n := src.Counts(); n.Requirements != 4 || n.Mappings != 4 || src.Frameworks[1].Requirements[0].Code != "Art 5" {
		t.Errorf("%+v %+v", n, src.Frameworks)
	}
	if src.Controls[0].Objectives[1].Code != "IAC-06_A02" || src.Controls[0].Maturity[5] != "b" {
		t.Errorf("%+v", src.Controls[0])
	}
	for _, test := range []struct{ from, to, words string }{
		{"title:", "titel:", "titel"},
		{"weight: 9", "weight: 11", "weight 11"},
		{"weight: 9", "weight: 10", "compensating controls"},
		{"csf_function: protect", "csf_function: guard", "guard"},
		{"cadence: annual", "cadence: daily", "daily"},
		{"[technology]", "[machines]", "machines"},
		{"tags:", "traits: [has_dogs]\n    tags:", "has_dogs"},
		{"{\"1\": a", "{\"7\": a", "7"},
		{"PR.AA-03, ", "PR.AA-99, ", "PR.AA-99"},
		{"gdpr: [", "gdrp: [", "gdrp"},
		{"code: IAC-06", "code: NET-06", "NET-06"},
		{"code: IAC-06", "code: IAC-6", "IAC-6"},
		{"{code: IAC, name", "{code: NET, name", "named after its code"},
		{"IAC-07, why", "IAC-7, why", "IAC-7"},
		{"description: A second factor.", "description: ''", "required"},
		{"    tags: [authentication]", "    tags: [authentication]\n---\nmore: 1", "document"},
	} {
		bad := strings.Replace(goodDomain, test.from, test.to, 1)
		if bad == goodDomain {
			t.Fatalf("%q is not in the text", test.from)
		}
		if _, err := loadFrom(files(bad, goodFrameworks)); err == nil || !strings.Contains(err.Error(), "starter catalog") {
			t.Errorf("%s: %v", test.to, err)
		} else if !strings.Contains(err.Error(), test.words) {
			t.Errorf("%s: %v", test.to, err)
		}
	}
	twice := goodDomain + goodDomain[strings.Index(goodDomain, "  - code"):]
	if _, err := loadFrom(files(twice, goodFrameworks)); err == nil || !strings.Contains(err.Error(), "listed twice") {
		t.Errorf("a control twice: %v", err)
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		loaded(b)
	}
}
