package parse_test

import (
	"os"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/parsetest"
	"github.com/scf-service/service/internal/testutil/shareddata"
)

// TestSharedForms reads forms and tables that other programs have had trouble with.
func TestSharedForms(t *testing.T) {
	for _, tt := range []struct{ folder, file, text string }{
		{"04-checkboxes", "questionnaire.docx", "Is access to production reviewed? ☑ Yes ☐ No\nAre backups tested? ☐ Yes ☒ No\n" +
			"Is data encrypted at rest? ☒ Yes ☐ No\nIs there an incident plan? ☐ Yes ☒ No\nHow often are restores tested? Every quarter\n" +
			"Is MFA in use? ☒ Yes ☐ No\n"},
		{"10-merged-cells", "merged.xlsx", "System: Payroll; Reviewer Name: Bo Lind; Reviewer Role: IT lead; Result: none removed\n"},
		{"56-sheet-layouts", "stacked.xlsx", "Risk: Fire; Closed on: 2027-03-31; By: Bo Lind\n"},
		{"56-sheet-layouts", "transposed.xlsx", "System: CRM\nOwner: Ann Roe\nRecovery time: 4 hours\nMFA: yes\n"},
		{"56-sheet-layouts", "side-by-side.xlsx", "System: ERP; Owner: Bo Lind\nSupplier: Quill Ltd; Contract until: 2027-03-31\n"},
	} {
		raw, err := os.ReadFile(shareddata.PathOrSkip(t, "documents", tt.folder, tt.file))
		if err != nil {
			t.Fatal(err)
		}
		if got := allText(parsetest.Read(t, tt.file, raw)); !strings.Contains(got, tt.text) {
			t.Errorf("%s: no %q in %q", tt.file, tt.text, got)
		}
	}
}

// TestSharedDocuments checks which parts remain unread in documents that other programs have had trouble with.
func TestSharedDocuments(t *testing.T) {
	for _, tt := range []struct{ folder, file, unread string }{
		{"09-hidden-cells", "hidden.xlsx", "1 hidden column, 1 hidden row, 2 hidden sheets"},
		{"11-cell-kinds", "kinds.xlsx", "2 struck-through texts, 1 formula without a stored value"},
		{"24-css-struck", "googledoc.html", "3 struck-through texts, 3 hidden texts"},
		{"06-altchunk", "altchunk.docx", ""},
		{"06-altchunk", "altchunk-only.docx", ""},
		{"48-screenshots", "evidence.docx", "1 picture"},
		{"48-screenshots", "pasted.xlsx", "1 picture"},
		{"50-docx-smartart", "smartart.docx", ""},
		{"46-pdf-glyph-tricks", "tricks.pdf", "1 hidden text"},
		{"14-acroform", "form.pdf", ""},
		{"16-pdf-attachments", "portfolio.pdf", ""},
		{"55-pdf-table", "table.pdf", ""},
		{"01-content-controls", "sdt.docx", "1 picture, 1 empty form field"},
	} {
		raw, err := os.ReadFile(shareddata.PathOrSkip(t, "documents", tt.folder, tt.file))
		if err != nil {
			t.Fatal(err)
		}
		if got := api.DescribeNotRead(parsetest.Read(t, tt.file, raw).NotRead); got != tt.unread {
			t.Errorf("%s: not read: %q, want %q", tt.file, got, tt.unread)
		}
	}
}
