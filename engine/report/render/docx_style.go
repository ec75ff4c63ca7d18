package render

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

// The styles of a document of the user's: each style of ours that it has by name, such as
// "heading 1", is taken as it is there; the others are ours. Its theme comes with them,
// since fonts and colours may be the theme's. Nothing else of it is read.
type customStyles struct {
	// styles and theme are parts of the package; the theme may be empty.
	styles, theme string
	// ids are the ids that our styles have there, by ours.
	ids map[string]string
}

// The bounds of a document for styles.
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

// mergeStyles reads them, and adds those of ours that are not there.
func mergeStyles(file []byte, builtin string) (*customStyles, error) {
	refuse := func(format string, args ...any) error { return api.Invalid("style", format, args...) }
	if len(file) > api.MaxStyleBytes {
		return nil, refuse(
			"the document for styles has %s; at most %s are taken",
			formatSize(int64(len(file))),
			formatSize(api.MaxStyleBytes),
		)
	}
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, refuse("the document for styles is no DOCX: %v", err)
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
			"word/styles.xml of the document for styles has no styles as Word writes them; save the document with Word or LibreOffice",
		)
	}
	styles = styleNumbering.ReplaceAllString(styles, "") // lists are numbered in a part that isn't taken
	end = strings.LastIndex(styles, "</w:styles>")
	names, taken := map[string]string{}, map[string]bool{}
	custom := styleElement.FindAllString(styles, maxStyles+1)
	if len(custom) > maxStyles {
		return nil, refuse("the document for styles has more than %d styles", maxStyles)
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
		if there := names[strings.ToLower(name[1])]; there != "" {
			out.ids[id[1]] = there
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
	if err := checkXML(out.styles); err != nil {
		return nil, refuse("word/styles.xml of the document for styles can't be read: %v", err)
	}
	return out, nil
}

var errMissingPart = errors.New("it has no such part")

// readStylePart reads a part of a package; it must be XML without declarations of its own.
func readStylePart(z *zip.Reader, name string) (string, error) {
	f, err := z.Open(name)
	if err != nil {
		return "", errors.Join(errors.New("the document for styles is no DOCX: there is no "+name), errMissingPart)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxStylePart+1))
	if err != nil {
		return "", errors.New(name + " of the document for styles is damaged; save it again")
	}
	if len(b) > maxStylePart {
		return "", errors.New(name + " of the document for styles is too large")
	}
	if err := checkXML(string(b)); err != nil {
		return "", errors.New(name + " of the document for styles can't be read: " + err.Error())
	}
	return string(b), nil
}

// checkXML refuses what is no XML, and what refers to the outside.
func checkXML(s string) error {
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
			return errors.New("it declares entities or a document type")
		case xml.StartElement:
			for _, a := range t.Attr {
				if a.Name.Space == nsRelations {
					return errors.New("it refers to other parts")
				}
			}
		}
	}
}

var styleReference = lazyregexp.New(`<w:(pStyle|rStyle|tblStyle) w:val="([^"]*)"/>`)

// replaceStyleIDs is a part with the names that our styles have there. Texts can't look like a
// tag: they are escaped.
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
