package text_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

func blocksOf(d *document.Document) string {
	var out []string
	for _, b := range d.Blocks {
		out = append(out, strings.Join(b.HeadingPath, "/")+"> "+b.Text)
	}
	return strings.Join(out, "\n")
}

func TestXML(t *testing.T) {
	for name, tt := range map[string]struct{ xml, want string }{
		"values": {`<scan date="2026-05-02"><host>a</host><open>no</open></scan>`, "scan> date: 2026-05-02; host: a; open: no"},
		"rows": {
			`<users><user id="1"><name>Ann</name></user><user id="2"><name>Bo</name></user></users>`,
			"users/user> id: 1; name: Ann\nusers/user> id: 2; name: Bo",
		},
		"sentence":   {`<doc><p>Keys are <b>rotated</b> every <i>90 days</i>.</p></doc>`, "doc> p: Keys are rotated every 90 days."},
		"link":       {`<doc><p>See <a href="x">this</a> page.</p></doc>`, "doc> p: See this page."},
		"order":      {`<a><x>1</x><b k="2"><y>3</y></b><z>4</z></a>`, "a> x: 1\na/b> k: 2; y: 3\na> z: 4"},
		"text later": {`<a><b k="2"/>words <c>marked</c> end</a>`, "a/b> k: 2\na> words marked end"},
		"entity":     {`<a><b>R&amp;D &eacute;t&eacute;</b></a>`, "a> b: R&D été"},
		"data":       {`<a><b><![CDATA[1 < 2]]></b><!-- never --></a>`, "a> b: 1 < 2"},
		"namespaces": {`<n:a xmlns:n="urn:x" xmlns="urn:y"><n:b>1</n:b></n:a>`, "a> b: 1"},
	} {
		for _, file := range []string{"x.xml", "x.txt"} {
			d := parsetest.Read(t, file, []byte(`<?xml version="1.0"?>`+"\n"+tt.xml))
			if got := blocksOf(d); got != tt.want {
				t.Errorf("%s, %s:\n%s\nwant\n%s", name, file, got, tt.want)
			}
		}
	}
	deep := "<?xml version='1.0'?>" + strings.Repeat("<a>", 200) + "x"
	if err := parsetest.ReadError(t, parse.Options{}, "x.xml", []byte(deep)); !errors.Is(err, document.ErrDamaged) {
		t.Errorf("%v", err)
	}
}

func TestTablesWithTitleOrDelimiter(t *testing.T) {
	for name, tt := range map[string]struct{ csv, want string }{
		"delimiter":          {"sep=;\nUser;Note\nann;a, b\nbo;c\n", "> User: ann; Note: a, b\n> User: bo; Note: c"},
		"delimiter and mark": {"\ufeffsep=;\r\nUser;Note\r\nann;a, b\r\n", "> User: ann; Note: a, b"},
		"quoted delimiter":   {"\"sep=|\"\nUser|Note\nann|x\n", "> User: ann; Note: x"},
		"title": {
			"Report: access\nMade 2 May 2026\n\nUser,Role,MFA\nann,admin,yes\nbo,user,no\n",
			"> Report: access\n> Made 2 May 2026\n> User: ann; Role: admin; MFA: yes\n> User: bo; Role: user; MFA: no",
		},
		"title with a value": {
			"Report:,access\nUser,Role,MFA\nann,admin,yes\nbo,user,no\ncy,user,no\ndi,user,no\neve,user,no\n",
			"> Report: access",
		},
		"no title":            {"User,Role\nann,admin\n", "> User: ann; Role: admin"},
		"delimiter, no table": {"sep=;\nonly words\n", "> only words"},
	} {
		d := parsetest.Read(t, "x.csv", []byte(tt.csv))
		if got := blocksOf(d); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, tt.want)
		}
	}
	d := parsetest.Read(t, "x.csv", []byte("sep=;\nUser;Note\nann;x\n"))
	if l := d.Blocks[len(d.Blocks)-1].Locator; l.LineStart != 3 {
		t.Errorf("the row of ann is in line %d", l.LineStart)
	}
}

func FuzzXML(f *testing.F) {
	parsetest.Fuzz(f, "a.xml", `<?xml version="1.0"?><a b="c">d<e/></a>`, `<?xml ?><a><b>`, `<?xml version="1.0"?></a>x<a>y</b>`)
}
