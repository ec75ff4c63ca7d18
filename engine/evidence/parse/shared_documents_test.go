package parse_test

import (
	"os"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/parsetest"
	"github.com/scf-service/service/internal/testutil/shareddata"
)

// What isn't read of documents that other readers had trouble with.
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
