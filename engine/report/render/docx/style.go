package docx

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/lazyregexp"
)

// customStyles holds the styles of a user's document. Where the document defines one of our styles, such as "heading
// 1", its definition replaces ours. Our other styles are added. The document's theme is included as well, because
// fonts and colors may depend on it. Nothing else in the document is used.
type customStyles struct {
	// styles and theme are parts of the package; theme may be empty.
	styles, theme string
	// ids maps the IDs of our styles to their IDs in that document.
	ids map[string]string
}

// Limits of a user's style document.
const (
	maxStylePart = 4 << 20
	maxStyles    = 5000
)

var (
	styleElement   = lazyregexp.New(`(?s)<w:style\b.*?</w:style>`)
	styleNumbering = lazyregexp.New(`(?s)<w:numPr\b.*?</w:numPr>|<w:numPr/>`)
	styleName      = lazyregexp.New(`<w:name\b[^>]*\bw:val="([^"]*)"`)
	styleID        = lazyregexp.New(`^<w:style\b[^>]*\bw:styleId="([^"]*)"`)
)

// mergeStyles reads the styles of a user's document and adds our styles that are missing from it.
func mergeStyles(file []byte, builtin string) (*customStyles, error) {
	refuse := func(format string, args ...any) error { return api.Invalid("style", format, args...) }
	if len(file) > api.MaxStyleBytes {
		return nil, refuse(
			"the style document is too large (%s; the maximum is %s)",
			wording.FormatByteSize(int64(len(file))),
			wording.FormatByteSize(api.MaxStyleBytes),
		)
	}
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, refuse("the style document is not a .docx file: %v", err)
	}
	styles, err := readStylePart(z, "word/styles.xml")
	if err != nil {
		return nil, refuse("%v", err)
	}
	theme, err := readStylePart(z, "word/theme/theme1.xml")
	if err != nil && !errors.Is(err, errMissingPart) {
		return nil, refuse("%v", err)
	}
	end := strings.LastIndex(styles, "</w:styles>")
	if end < 0 {
		return nil, refuse(
			"word/styles.xml of the style document contains no Word styles; save the document with Word or LibreOffice",
		)
	}
	styles = styleNumbering.ReplaceAllString(styles, "") // list numbering is defined in a part that isn't copied
	end = strings.LastIndex(styles, "</w:styles>")
	names, taken := map[string]string{}, map[string]bool{}
	custom := styleElement.FindAllString(styles, maxStyles+1)
	if len(custom) > maxStyles {
		return nil, refuse("the style document has more than %d styles", maxStyles)
	}
	for _, s := range custom {
		id, name := styleID.FindStringSubmatch(s), styleName.FindStringSubmatch(s)
		if id != nil && name != nil {
			names[strings.ToLower(name[1])], taken[id[1]] = id[1], true
		}
	}
	out := &customStyles{theme: theme, ids: map[string]string{}}
	var more []string
	for _, s := range styleElement.FindAllString(builtin, -1) {
		id, name := styleID.FindStringSubmatch(s), styleName.FindStringSubmatch(s)
		if known := names[strings.ToLower(name[1])]; known != "" {
			out.ids[id[1]] = known
			continue
		}
		own := id[1]
		for taken[own] {
			own += "_"
		}
		out.ids[id[1]], taken[own] = own, true
		more = append(more, s)
	}
	ref := regexp.MustCompile(`(w:styleId|<w:basedOn w:val|<w:next w:val)="([^"]*)"`)
	for i, s := range more {
		more[i] = ref.ReplaceAllStringFunc(strings.Replace(s, ` w:default="1"`, "", 1), func(m string) string {
			at := strings.Index(m, `="`)
			if to := out.ids[m[at+2:len(m)-1]]; to != "" {
				return m[:at+2] + to + `"`
			}
			return m
		})
	}
	out.styles = styles[:end] + strings.Join(more, "") + styles[end:]
	if err := rejectUnsafeXML(out.styles); err != nil {
		return nil, refuse("word/styles.xml of the style document can't be read: %v", err)
	}
	return out, nil
}

var errMissingPart = errors.New("part not found")

// readStylePart returns a part of a user's document. It returns an error if the part is not XML, declares
// entities, or refers to other parts.
func readStylePart(z *zip.Reader, name string) (string, error) {
	f, err := z.Open(name)
	if err != nil {
		return "", errors.Join(errors.New("the style document is not a .docx file: it contains no "+name), errMissingPart)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxStylePart+1))
	if err != nil {
		return "", fmt.Errorf("%s in the style document is damaged; save the document again", name)
	}
	if len(b) > maxStylePart {
		return "", fmt.Errorf("%s in the style document is too large", name)
	}
	if err := rejectUnsafeXML(string(b)); err != nil {
		return "", fmt.Errorf("%s in the style document can't be read: %w", name, err)
	}
	return string(b), nil
}

// rejectUnsafeXML returns an error if s is invalid XML, declares entities or a document type, or refers to
// other resources.
func rejectUnsafeXML(s string) error {
	d := xml.NewDecoder(strings.NewReader(s))
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.Directive:
			return errors.New("the part declares entities or a document type")
		case xml.StartElement:
			for _, a := range t.Attr {
				if a.Name.Space == nsRelations {
					return errors.New("the part refers to other parts")
				}
			}
		}
	}
}

var styleReference = lazyregexp.New(`<w:(pStyle|rStyle|tblStyle) w:val="([^"]*)"/>`)

// replaceStyleIDs replaces the IDs of our styles in a part with the IDs that the same styles have in the user's
// document. It can't change any text by mistake, because escaped text never looks like a tag.
func (o *customStyles) replaceStyleIDs(part []byte) []byte {
	return styleReference.ReplaceAllFunc(part, func(m []byte) []byte {
		at := bytes.Index(m, []byte(`w:val="`)) + len(`w:val="`)
		id := string(m[at : len(m)-len(`"/>`)])
		if to := o.ids[id]; to != "" {
			id = to
		}
		return append(append(append([]byte{}, m[:at]...), id...), `"/>`...)
	})
}
