package parse_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

// TestUnsupportedFormats checks that files that can't be read are recognized by their content, whatever their name, and
// that the error says what to do.
func TestUnsupportedFormats(t *testing.T) {
	for want, content := range map[string]string{
		"Apple Pages":      string(documenttest.Zip(t, map[string]string{"Index/Document.iwa": "x", "Metadata/Properties.plist": "y"})),
		"Windows shortcut": "\x4c\x00\x00\x00\x01\x14\x02\x00more",
		"save it as .docx": `<pkg:package xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage"/>`,
		"save it as .odt":  `<?xml version="1.0"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"/>`,
		"SVG":              `<svg xmlns="http://www.w3.org/2000/svg"><text>x</text></svg>`,
	} {
		for _, name := range []string{"a.doc", "a.txt", "a"} {
			err := parsetest.ReadError(t, parse.Options{}, name, []byte(content))
			if !errors.Is(err, document.ErrUnsupported) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
}
