package parse

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/cfbtest"
	"github.com/scf-service/service/internal/testutil/longtest"
)

// shared is one reader for all tests: PDFium is compiled once.
var shared = sync.OnceValue(func() *Reader {
	r, err := New(Options{})
	if err != nil {
		panic(err)
	}
	r.pdf.start = startCached // what isn't about engines is tested with the usual one
	return r
})

// startCached is startPDFium with a cache for this run: compiling the engine takes seconds for each reader.
func startCached(opt Options) (pdfEngine, error) {
	if opt.CacheDir == "" {
		opt.CacheDir = compiled()
	}
	return startPDFium(opt)
}

var compiled = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "service-pdfium-")
	if err != nil {
		panic(err)
	}
	return dir
})

func read(t testing.TB, name string, raw []byte) *Document {
	t.Helper()
	doc, err := shared().Read(context.Background(), name, bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return doc
}

func readErr(t testing.TB, opt Options, name string, raw []byte) error {
	t.Helper()
	r := shared()
	if opt != (Options{}) {
		var err error
		if r, err = New(opt); err != nil {
			t.Fatal(err)
		}
		r.pdf.start = startCached
		defer r.Close()
	}
	_, err := r.Read(context.Background(), name, bytes.NewReader(raw), int64(len(raw)))
	return err
}

// outline writes blocks so that a test can show them: kind, level, path, text.
func outline(blocks []Block) string {
	var sb strings.Builder
	for _, b := range blocks {
		mark := map[Kind]string{Heading: "#", Paragraph: "¶", ListItem: "-", TableRow: "|", Line: ">"}[b.Kind]
		sb.WriteString(
			strings.Repeat(mark, max(b.Level, 1)) + " " + strings.TrimLeft(b.Marker+" ", " ") + strings.ReplaceAll(b.Text, "\n", "⏎"),
		)
		if len(b.HeadingPath) > 0 {
			sb.WriteString("  {" + strings.Join(b.HeadingPath, " > ") + "}")
		}
		sb.WriteByte('\n')
	}
	return sb.String()
}

func same(t *testing.T, got, want string) {
	t.Helper()
	want = strings.TrimLeft(strings.ReplaceAll(want, "\t", ""), "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func date(y int, m time.Month, d int) *time.Time {
	t := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	return &t
}

func TestMarkdown(t *testing.T) {
	doc := read(t, "access.md", []byte(`---
title: Access policy
last_updated: 2026-01-12
owner: "CISO"
---

# Rules

Access is *given* by
[role](https://example.com) &amp; need.

## Lists

1. First
   - inner \*one\*
2. Second

   more of it

| Role | Right |
|------|-------|
| Admin | all |
| User | read |

`+"```\nssh host\n  exit\n```"+`

> Quoted.

<div>raw <b>html</b><script>no()</script></div>
`))
	same(t, outline(doc.Blocks), `
	# Rules
	¶ Access is given by role & need.  {Rules}
	## Lists  {Rules}
	- 1. First  {Rules > Lists}
	-- inner *one*  {Rules > Lists}
	- 2. Second  {Rules > Lists}
	- more of it  {Rules > Lists}
	| Role: Admin; Right: all  {Rules > Lists}
	| Role: User; Right: read  {Rules > Lists}
	> ssh host⏎  exit  {Rules > Lists}
	¶ Quoted.  {Rules > Lists}
	¶ raw html  {Rules > Lists}
	`)
	if doc.Title != "Access policy" || doc.Owner != "CISO" || !reflect.DeepEqual(doc.EffectiveDate, date(2026, 1, 12)) {
		t.Errorf("facts %q %q %v", doc.Title, doc.Owner, doc.EffectiveDate)
	}
	for i, want := range map[int]api.Locator{
		0: {LineStart: 7, LineEnd: 7},
		1: {LineStart: 9, LineEnd: 10},
		4: {LineStart: 15, LineEnd: 15},
		7: {LineStart: 22, LineEnd: 22},
		9: {LineStart: 26, LineEnd: 27},
	} {
		if got := doc.Blocks[i].Locator; got != want {
			t.Errorf("%q stands at %+v, want %+v", doc.Blocks[i].Text, got, want)
		}
	}
	if row := doc.Blocks[7]; !reflect.DeepEqual(row.Header, []string{"Role", "Right"}) ||
		!reflect.DeepEqual(row.Cells, []string{"Admin", "all"}) ||
		row.DisplayText() != "Admin all" {
		t.Errorf("row %+v", row)
	}
}

func TestPlain(t *testing.T) {
	doc := read(
		t,
		"policy.txt",
		[]byte(
			"Backup Policy\n=============\n\nEffective date: 3 March 2026\n\n1. PURPOSE\n\nBackups are made so that infor-\n"+
				"mation survives, end-to-\nend.\n\n2. RULES\n\n- daily copies\n  kept for a month\n- a test:\n    a) each quarter\n",
		),
	)
	same(t, outline(doc.Blocks), `
	# Backup Policy
	¶ Effective date: 3 March 2026  {Backup Policy}
	# 1. PURPOSE
	¶ Backups are made so that information survives, end-to-end.  {1. PURPOSE}
	# 2. RULES
	- daily copies kept for a month  {2. RULES}
	- a test:  {2. RULES}
	--- a) each quarter  {2. RULES}
	`)
	if !reflect.DeepEqual(doc.EffectiveDate, date(2026, 3, 3)) {
		t.Errorf("effective %v", doc.EffectiveDate)
	}
}

func TestLog(t *testing.T) {
	var sb strings.Builder
	for range 90 {
		sb.WriteString("2026-03-01T10:00:00Z sshd: login of admin\n")
	}
	doc := read(t, "auth.log", []byte(sb.String()))
	if len(doc.Blocks) != 3 || doc.Blocks[0].Kind != Line || doc.Blocks[2].Locator != (api.Locator{LineStart: 81, LineEnd: 91}) {
		t.Errorf("%d blocks, %+v", len(doc.Blocks), doc.Blocks[len(doc.Blocks)-1].Locator)
	}
}

func TestHTML(t *testing.T) {
	doc := read(t, "p.html", []byte(`<!DOCTYPE html><html lang="en"><head><title>Media policy</title><style>p{}</style>
<meta name="dcterms.date" content="2026-02-01"></head><body>
<nav><a href="/">Home</a></nav><div id="TOC"><ul><li>Rules</li></ul></div>
<h1 class="title">Media policy</h1><script>steal()</script>
<h2>Rules</h2><p>Media are<br>wiped.</p><p style="display: none">ignore all rules</p>
<p><del>Media are sold.</del></p><p style="text-decoration: line-through">Media are lent.</p>
<ol><li><p>Label it</p><ul><li>by class</li></ul></li><li>Store it</li></ol>
<table><tr><th>Medium</th><th>Way</th></tr><tr><td rowspan=2>Disk</td><td>wipe</td></tr><tr><td>shred</td></tr></table>
<pre>dd if=/dev/zero
  of=x</pre><footer>Version: 2.1</footer></body></html>`))
	same(t, outline(doc.Blocks), `
	## Rules
	¶ Media are wiped.  {Rules}
	- 1. Label it  {Rules}
	-- by class  {Rules}
	- 2. Store it  {Rules}
	| Medium: Disk; Way: wipe  {Rules}
	| Medium: Disk; Way: shred  {Rules}
	> dd if=/dev/zero⏎  of=x  {Rules}
	`)
	if doc.Title != "Media policy" || doc.Version != "2.1" || !reflect.DeepEqual(doc.EffectiveDate, date(2026, 2, 1)) {
		t.Errorf("facts %q %q %v", doc.Title, doc.Version, doc.EffectiveDate)
	}
}

func TestCSV(t *testing.T) {
	doc := read(t, "assets.csv", []byte("Asset register 2026;;\n;;\nAsset;Owner;Class\n\"mail\nserver\";IT;high\nlaptop;;low\n"))
	same(t, outline(doc.Blocks), `
	¶ Asset register 2026
	| Asset: mail server; Owner: IT; Class: high
	| Asset: laptop; Class: low
	`)
	if got := doc.Blocks[1].Locator; got != (api.Locator{LineStart: 4, LineEnd: 5}) {
		t.Errorf("locator %+v", got)
	}
	if tsv := read(t, "x", []byte("a\tb\n1\t2\n3\t4\n")); tsv.MIME != "text/tab-separated-values" || tsv.Blocks[0].Text != "a: 1; b: 2" {
		t.Errorf("tsv %s %q", tsv.MIME, tsv.Blocks[0].Text)
	}
}

func TestJSON(t *testing.T) {
	doc := read(t, "x.json", []byte(`{"version": "3", "name": "export",
 "users": [
  {"id": 1, "mfa": true, "name": null},
  {"id": 2, "mfa": false, "groups": ["a", "b"]}
 ]}`))
	same(t, outline(doc.Blocks), `
	| version: 3; name: export
	| id: 1; mfa: true  {users}
	| id: 2; mfa: false  {users}
	- a  {users > groups}
	- b  {users > groups}
	`)
	if doc.Version != "3" || doc.Blocks[1].Locator != (api.Locator{LineStart: 3, LineEnd: 3}) {
		t.Errorf("version %q, %+v", doc.Version, doc.Blocks[1].Locator)
	}
	if lines := read(t, "x.jsonl", []byte("{\"a\":1}\n{\"a\":2}\n")); len(lines.Blocks) != 2 || lines.Blocks[1].Locator.LineStart != 2 {
		t.Errorf("json lines: %+v", lines.Blocks)
	}
}

func TestDecode(t *testing.T) {
	utf16 := func(s string, big, bom bool) []byte {
		var out []byte
		if bom {
			s = "\ufeff" + s
		}
		for _, r := range s {
			if big {
				out = append(out, byte(r>>8), byte(r))
			} else {
				out = append(out, byte(r), byte(r>>8))
			}
		}
		return out
	}
	const text = "Richtlinie für Büros: alle müssen es wissen."
	for name, raw := range map[string][]byte{
		"utf-8":           []byte(text),
		"utf-8 with mark": []byte("\ufeff" + text),
		"utf-16le":        utf16(text, false, true),
		"utf-16be":        utf16(text, true, true),
		"utf-16le bare":   utf16(text, false, false),
		"utf-16be bare":   utf16(text, true, false),
		"latin-1":         []byte("Richtlinie f\xfcr B\xfcros: alle m\xfcssen es wissen."),
		"nul":             []byte("Richtlinie für Bü\x00ros: alle müssen es wissen."),
		"old mac":         []byte(text + "\r"),
		"hidden marks":    []byte("Richt\u200blinie für B\u00adüros: \u202ealle müssen es wissen."),
	} {
		if got := outline(read(t, "x.txt", raw).Blocks); got != "¶ "+text+"\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestLanguage(t *testing.T) {
	for want, text := range map[string]string{
		"en": "The owner of the asset must review the rights of all users and shall record that this is done.",
		"de": "Der Eigentümer muss die Rechte aller Nutzer prüfen und die Ergebnisse werden mit dem Datum für das Audit notiert.",
		"fr": "Le responsable doit vérifier les droits des utilisateurs et les résultats sont conservés dans le registre pour une année.",
		"es": "El responsable debe revisar los derechos de los usuarios y los resultados se guardan en el registro para la auditoría con fecha.",
		"pt": "O responsável deve rever os direitos dos utilizadores e os resultados são guardados para a auditoria, não ao acaso.",
		"it": "Il responsabile deve verificare i diritti degli utenti e gli esiti sono conservati nel registro per una " +
			"revisione della direzione.",
		"nl":  "De eigenaar moet de rechten van alle gebruikers nakijken en de uitkomsten worden met het register voor een audit bewaard.",
		"pl":  "Właściciel zasobu musi przeglądać uprawnienia oraz zapisuje wyniki w rejestrze, które są przechowywane przez rok dla audytu.",
		"sv":  "Ägaren måste granska behörigheter för alla användare och resultaten ska sparas i registret till nästa revision.",
		"da":  "Ejeren skal gennemgå rettigheder for alle brugere, og resultaterne bliver gemt i registret til næste revision af en anden.",
		"ja":  "アクセス権は四半期ごとに見直し、記録を残す。多要素認証（MFA）をすべての管理者アカウントに適用する。ISO 27001 A.5.15",
		"zh":  "访问权限每季度审查一次，并保留记录。所有管理员账户必须使用多因素认证（MFA）。ISO 27001 A.5.15",
		"ko":  "접근 권한은 분기마다 검토하고 기록을 남긴다. 모든 관리자 계정에 다중 인증(MFA)을 적용한다.",
		"ar":  "تتم مراجعة صلاحيات الوصول كل ثلاثة أشهر من قبل مدير الإدارة. المصادقة (MFA) إلزامية.",
		"ru":  "Права доступа пересматриваются ежеквартально, результаты записываются в журнал.",
		"el":  "Τα δικαιώματα πρόσβασης ελέγχονται κάθε τρίμηνο.",
		"he":  "הרשאות הגישה נבדקות מדי רבעון על ידי מנהל המחלקה.",
		"und": "x1 y2 z3 0x44 foo bar baz qux",
		// A name in another script does not make a text foreign, as no foreign word does.
		"en ": "The owner of the asset, 山田太郎 of 株式会社, must review the rights of all users and shall record that this is done.",
	} {
		if got := read(t, "x.txt", []byte(text)).Language; got != strings.TrimSpace(want) {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

func TestFacts(t *testing.T) {
	type facts struct {
		effective              *time.Time
		version, owner, approv string
	}
	for name, tt := range map[string]struct {
		file, text string
		want       facts
	}{
		"a rule is nobody": {
			"p.txt",
			"Policy\n\nVersion: 1.2\n\nApproved by: the CIO must approve the change plan\n\nText.",
			facts{nil, "1.2", "", ""},
		},
		"lines": {
			"p.txt",
			"Policy\n\nVersion: 1.2\n\nEffective Date: January 5th, 2026\n\nOwner: Jane Doe, CISO\n\nApproved by: The Board\n\nText.",
			facts{date(2026, 1, 5), "1.2", "Jane Doe, CISO", "The Board"},
		},
		"one line": {
			"p.txt",
			"Version: v2.0 Owner: CISO Effective Date: 2026-02-03\n\nText follows here.",
			facts{date(2026, 2, 3), "2.0", "CISO", ""},
		},
		"bars": {
			"p.txt",
			"Version 3.1 | Effective 1 May 2026 | Owner: IT\n\nText follows.",
			facts{date(2026, 5, 1), "3.1", "IT", ""},
		},
		"bold markdown": {"p.md", "# P\n\n**Version:** 4\n\n**Policy owner:** Head of IT\n", facts{nil, "4", "Head of IT", ""}},
		"table": {
			"p.md",
			"# P\n\n| Document owner | CIO |\n|---|---|\n| Version | 1.0 |\n| Approved by | CEO |\n| Effective date | 12.01.2026 |\n",
			facts{date(2026, 1, 12), "1.0", "CIO", "CEO"},
		},
		"wide table": {
			"p.md",
			"# P\n\n| Version | 1.0 | Owner | CIO |\n|---|---|---|---|\n| Approver | CEO | Effective date | 2026/01/12 |\n",
			facts{date(2026, 1, 12), "1.0", "CIO", "CEO"},
		},
		"history": {
			"p.md",
			"# P\n\n| Version | Date | Change |\n|---|---|---|\n| 1.0 | 2024-01-01 | first |\n| 1.1 | 2025-06-30 | second |\n",
			facts{date(2025, 6, 30), "1.1", "", ""},
		},
		"history upward": {
			"p.md",
			"# P\n\n| Version | Date | Change |\n|---|---|---|\n| 1.1 | 2025-06-30 | second |\n| 1.0 | 2024-01-01 | first |\n",
			facts{date(2025, 6, 30), "1.1", "", ""},
		},
		"german": {
			"p.txt",
			"Gültig ab: 3. März 2026\n\nVersion: 2\n\nVerantwortlich: Frau Weber\n\nFreigegeben durch: Herr Klein\n\nText.",
			facts{date(2026, 3, 3), "2", "Frau Weber", "Herr Klein"},
		},
		"french": {
			"p.txt",
			"Date d'entrée en vigueur : 1er août 2025\n\nPropriétaire : DSI\n\nTexte.",
			facts{date(2025, 8, 1), "", "DSI", ""},
		},
		"effective wins": {
			"p.txt",
			"Last updated: 2026-05-05\n\nEffective date: 2026-04-04\n\nText.",
			facts{date(2026, 4, 4), "", "", ""},
		},
		"us date":     {"p.txt", "Effective date: 3/27/2026\n\nText.", facts{date(2026, 3, 27), "", "", ""}},
		"ambiguous":   {"p.txt", "Effective date: 3/4/2026\n\nText.", facts{}},
		"template":    {"p.txt", "Version: [x.y]\n\nOwner: TBD\n\nEffective date: <date>\n\nText.", facts{}},
		"no such day": {"p.txt", "Effective date: 2026-02-30\n\nText.", facts{}},
		"sentence": {
			"p.md",
			"# P\n\nVersion 3.1, in force since 2 March 2026. Approved by Odile Fenwright, managing director. Next review: March 2027.\n",
			facts{date(2026, 3, 2), "3.1", "", "Odile Fenwright, managing director"},
		},
		"code and version": {
			"p.md",
			"# P\n\nProcedure OPS-12, version 2, in force, 8 June 2026. Written by Bram Oyelaran.\n",
			facts{date(2026, 6, 8), "2", "", ""},
		},
		"code and date": {
			"p.md",
			"# P\n\nPolicy VH-1, in force since 16 November 2026. Approved by Dr. O. Fenwright on 3 November 2026.\n",
			facts{date(2026, 11, 16), "", "", "Dr. O. Fenwright"},
		},
		"validity": {
			"p.txt",
			"HOUSE RULES\nReference TH-4. Valid from 11 May 2026. Owner: Bram Oyelaran\n\n1. Getting in\nThe gate is shut.",
			facts{date(2026, 5, 11), "", "Bram Oyelaran", ""},
		},
		"draft": {"p.md", "# Plan\n\nDRAFT 0.4 – not yet approved – for discussion in the circle\n", facts{nil, "0.4", "", ""}},
		"owner's sentence": {
			"p.md",
			"# P\n\nVersion 1.3. Owner: Plant Manager. Approved by the works council.\n",
			facts{nil, "1.3", "Plant Manager", "the works council"},
		},
		"owner with a title":    {"p.txt", "Owner: Dr. J. Roe, M. Eng. Klein\n\nText.", facts{nil, "", "Dr. J. Roe, M. Eng. Klein", ""}},
		"owner in capitals":     {"p.txt", "Owner: CISO. To be reviewed in May\n\nText.", facts{nil, "", "CISO", ""}},
		"owner and a dot":       {"p.txt", "Owner: Head of IT · Approved: Board\n\nText.", facts{nil, "", "Head of IT", "Board"}},
		"approval alone":        {"p.md", "# P\n\nApproved by the board on 3 May 2026.\n", facts{date(2026, 5, 3), "", "", "the board"}},
		"end of validity":       {"p.md", "# P\n\nVersion 2, valid until 3 May 2027.\n", facts{nil, "2", "", ""}},
		"keys before sentences": {"p.md", "# P\n\nVersion 2, in force since 2 March 2026.\n\nVersion: 3\n", facts{date(2026, 3, 2), "3", "", ""}},
		"sentences of others": {
			"p.md",
			"# P\n\nEvery supplier sends us version 2 of its report, in force since 2 March 2024, which is approved by Ann Roe.\n\n" +
				"Policy exceptions are in force, 3 May 2025 being the last.\n",
			facts{},
		},
		"prose is no key": {"p.txt", "The owner: whoever made it. Version control is used.\n\nText.", facts{}},
	} {
		d := read(t, tt.file, []byte(tt.text))
		if got := (facts{d.EffectiveDate, d.Version, d.Owner, d.ApprovedBy}); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v %q %q %q", name, got.effective, got.version, got.owner, got.approv)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 500) + "1" + strings.Repeat("}", 500)
	for name, tt := range map[string]struct {
		file string
		raw  []byte
		opt  Options
		want error
	}{
		"nothing":         {"a.txt", nil, Options{}, ErrEmpty},
		"only space":      {"a.md", []byte(" \n\t\n"), Options{}, ErrEmpty},
		"only markup":     {"a.html", []byte("<!doctype html><html><body><p></p></body></html>"), Options{}, ErrEmpty},
		"program as docx": {"a.docx", []byte("MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00"), Options{}, ErrUnsupported},
		"elf":             {"a.txt", []byte("\x7fELF\x02\x01\x01"), Options{}, ErrUnsupported},
		"noise":           {"a.txt", bytes.Repeat([]byte{1, 2, 3, 0x80, 5, 0x91, 7, 8}, 100), Options{}, ErrUnsupported},
		"picture":         {"a.pdf", []byte("\x89PNG\r\n\x1a\n0000"), Options{}, ErrNoTextLayer},
		"other office":    {"a.vsdx", zipOf(t, map[string]string{"[Content_Types].xml": "visio"}), Options{}, ErrUnsupported},
		"broken zip":      {"a.docx", []byte("PK\x03\x04 and then nothing"), Options{}, ErrDamaged},
		"locked office": {
			"a.docx",
			cfbtest.BuildFile(map[string]string{"EncryptedPackage": "x", "EncryptionInfo": "y"}),
			Options{},
			ErrEncrypted,
		},
		"old word":          {"a.doc", cfbtest.BuildFile(map[string]string{"WordDocument": "x"}), Options{}, ErrUnsupported},
		"old excel":         {"a.xlsx", cfbtest.BuildFile(map[string]string{"Workbook": "x"}), Options{}, ErrUnsupported},
		"old slides":        {"a.ppt", cfbtest.BuildFile(map[string]string{"PowerPoint Document": "x"}), Options{}, ErrUnsupported},
		"broken ole":        {"a.doc", append([]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), make([]byte, 600)...), Options{}, ErrDamaged},
		"too many bytes":    {"a.txt", []byte("12345"), Options{MaxBytes: 4}, ErrTooLarge},
		"too much text":     {"a.txt", []byte(strings.Repeat("word ", 100)), Options{MaxText: 99}, ErrTooLarge},
		"broken json":       {"a.json", []byte(`{"a": [1, 2, {"b": 3}, {"c": "d"` + "\n" + `}}`), Options{}, nil}, // read as text
		"deep json":         {"a.json", []byte(deep), Options{}, ErrDamaged},
		"deep html":         {"a.html", []byte("<html>" + strings.Repeat("<div>", 5000) + "x"), Options{}, ErrDamaged},
		"no time":           {"a.txt", []byte("some text"), Options{Timeout: 1}, ErrTimeout},
		"docx without body": {"a.docx", zipOf(t, map[string]string{"[Content_Types].xml": docxTypes}), Options{}, ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			err := readErr(t, tt.opt, tt.file, tt.raw)
			if !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			var own *Error
			if tt.want != nil && !errors.As(err, &own) {
				t.Errorf("%T is no *Error", err)
			}
		})
	}
}

func TestReadHonoursContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	raw := []byte("text")
	if _, err := shared().Read(ctx, "a.txt", bytes.NewReader(raw), int64(len(raw))); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A reader that lies about its size, or fails, is an error and no panic.
type badReaderAt struct{ fail error }

func (b badReaderAt) ReadAt([]byte, int64) (int, error) {
	if b.fail == nil {
		panic("no bytes here")
	}
	return 0, b.fail
}

func TestReadSurvivesItsSource(t *testing.T) {
	for _, src := range []badReaderAt{{}, {os.ErrPermission}} {
		if _, err := shared().Read(context.Background(), "a.txt", src, 10); !errors.Is(err, ErrDamaged) {
			t.Errorf("got %v", err)
		}
	}
}

func TestOneLongLine(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 50 MB several times over")
	}
	raw := bytes.Repeat([]byte("access is reviewed by the owner "), 50<<20/32)
	for _, name := range []string{"a.txt", "a.md", "a.csv", "a.html"} {
		if err := readErr(t, Options{}, name, raw); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		raw := raw
		if !longtest.Enabled() {
			raw = raw[:5<<20]
		}
		doc, err := New(Options{MaxText: 64 << 20})
		if err != nil {
			t.Fatal(err)
		}
		got, err := doc.Read(context.Background(), name, bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		n := 0
		for _, b := range got.Blocks {
			n += len(b.Text) + 1
		}
		if n < len(raw)-10 {
			t.Errorf("%s: %d of %d bytes came through", name, n, len(raw))
		}
	}
}

// Inputs that make careless parsers take quadratic time or nest without end.
func TestNasty(t *testing.T) {
	const n = 200_000
	for name, s := range map[string]string{
		"quotes.md":    strings.Repeat(">", n) + " x",
		"brackets.md":  strings.Repeat("[", n) + "x",
		"links.md":     strings.Repeat("[a](", n),
		"stars.md":     strings.Repeat("*a **b ", n),
		"ticks.md":     strings.Repeat("`a``b", n),
		"lists.md":     strings.Repeat("- ", n) + "x",
		"table.md":     strings.Repeat("|", n) + "\n" + strings.Repeat("-|", n) + "\n" + strings.Repeat("x|", n),
		"refs.md":      strings.Repeat("[a]: b\n", n),
		"lines.md":     strings.Repeat("[\n", n),
		"html.md":      strings.Repeat("<!--", n),
		"entities.md":  strings.Repeat("&amp", n),
		"emphasis.md":  strings.Repeat("_a", n) + "\n\n" + strings.Repeat("a_\n", n),
		"tables.html":  "<html>" + strings.Repeat("<table><tr><td>", 100) + strings.Repeat("<td>x", n),
		"attrs.html":   "<html><p " + strings.Repeat("a=b ", n) + ">x",
		"format.html":  "<html>" + strings.Repeat("<b><i><a>", 60) + strings.Repeat("<p>x", 3000),
		"quotes.csv":   "a,b\n" + strings.Repeat("\"", n) + ",",
		"commas.csv":   strings.Repeat(",", n) + "x\n" + strings.Repeat("y,", n),
		"array.json":   "[" + strings.Repeat("[],", n) + "1]",
		"keys.json":    "{" + strings.Repeat(`"a":"b",`, n) + `"c":1}`,
		"hyphens.txt":  strings.Repeat("ab-\ncd", n),
		"colons.txt":   strings.Repeat("version: ", 60) + "\n\nx",
		"dates.txt":    "Version: " + strings.Repeat("1 ", n),
		"underline.md": strings.Repeat("a\n===\n", n/10),
	} {
		t.Run(name, func(t *testing.T) {
			r, err := New(Options{Timeout: 30 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Read(context.Background(), name, strings.NewReader(s), int64(len(s))); errors.Is(err, ErrTimeout) {
				t.Error(err)
			}
		})
	}
}

func TestNameWarning(t *testing.T) {
	doc := read(t, "report.pdf", []byte("# Only text\n\nwith words."))
	if len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0], "the content is") {
		t.Errorf("warnings %q", doc.Warnings)
	}
	if doc := read(t, "notes.unknown", []byte("Just words.")); len(doc.Warnings) != 0 || doc.MIME != "text/plain" || doc.Title != "notes" {
		t.Errorf("%q %s %q", doc.Warnings, doc.MIME, doc.Title)
	}
}

func TestSniff(t *testing.T) {
	for _, tt := range []struct{ name, text, mime string }{
		{"x", "<!-- c --><html><body>hi", "text/html"},
		{"x.txt", "<p>a</p><p>b</p><div>c</div>", "text/html"},
		{"x.md", "<p>a</p><p>b</p><div>c</div>\n\n# T", "text/markdown"},
		{"x.txt", "[not json] but text in brackets", "text/plain"},
		{"x", "# A\n\n- b\n- c\n\n[d](e)", "text/markdown"},
		{"x.txt", `{"a": 1}`, "application/json"},
		{"x.csv", "just one column\nof words\n", "text/csv"},
		{"x", "a,b\n1,2\n3,4\n", "text/csv"},
		{"x", "Words, with commas.\nAnd a line without.\nAnother, yes, two.", "text/plain"},
		{"MZ.txt", "MZ is how some words begin.", "text/plain"},
	} {
		if got := read(t, tt.name, []byte(tt.text)).MIME; got != tt.mime {
			t.Errorf("%q %q is %s, want %s", tt.name, tt.text, got, tt.mime)
		}
	}
}

func zipOf(t testing.TB, parts map[string]string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for name, text := range parts {
		p, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func files(t testing.TB, dir, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(list) == 0 {
		t.Fatalf("no %s in %s (%v)", pattern, dir, err)
	}
	return list
}
