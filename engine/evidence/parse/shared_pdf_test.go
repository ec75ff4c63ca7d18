package parse_test

import (
	"os"
	"strings"
	"testing"

	"github.com/scf-service/service/internal/testutil/parsetest"
	"github.com/scf-service/service/internal/testutil/shareddata"
)

// TestSharedPDFs reads PDFs that other programs have had trouble with.
func TestSharedPDFs(t *testing.T) {
	for _, tt := range []struct {
		folder, file string
		want         []string
	}{
		{"14-acroform", "form.pdf", []string{
			"System owner: Marigold Fennimore\n", "Multi-factor authentication is in use: yes\n", "Data loss prevention is in use: no\n",
			"Review cycle: every quarter\n", "Main site: Zürich\n",
		}},
		{"14-acroform", "form-with-appearance.pdf", []string{"System owner: Marigold Fennimore\n", "Data loss prevention is in use: no\n"}},
		{"16-pdf-attachments", "portfolio.pdf", []string{"the cobalt exception", "failed twice in amber wing"}},
		{"17-ligatures", "lig.pdf", []string{"The office reflects it; after work."}},
		{"18-rotated", "rotate90.pdf", []string{"Rotated page: visitors sign the visitor book and hand in the saffron badge when they leave.\n"}},
		{"18-rotated", "sideways-part.pdf", []string{
			"Upright paragraph: the plan is tested yearly.\n", "Sideways table title: recovery times Payroll returns in four hours\n",
		}},
		{"37-cjk-rtl", "chromium.pdf", []string{"يجب مراجعة الحسابات كل ثلاثة أشهر\n", "גיבויים נבדקים פעם ברבעון VPN 24\n"}},
	} {
		raw, err := os.ReadFile(shareddata.PathOrSkip(t, "documents", tt.folder, tt.file))
		if err != nil {
			t.Fatal(err)
		}
		got := allText(parsetest.Read(t, tt.file, raw))
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in %q", tt.file, want, got)
			}
		}
	}
	raw, err := os.ReadFile(shareddata.PathOrSkip(t, "documents", "55-pdf-table", "table.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	if doc := parsetest.Read(t, "table.pdf", raw); doc.Owner != "" {
		t.Errorf("owner %q", doc.Owner)
	}
}
