package parse

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

// readFlat reads an Office document that is saved as one XML file, by converting it to the usual zip format.
func (r *Reader) readFlat(b *document.Builder, format *format, name string, content io.ReaderAt, size int64) error {
	raw, err := document.ReadAll(content, size)
	if err != nil {
		return err
	}
	var parts []flatPart
	switch format {
	case formatFlatOPC:
		var flat struct {
			Part []flatPart `xml:"part"`
		}
		if err := xml.Unmarshal(raw, &flat); err != nil {
			return document.DamagedError("", err)
		}
		types := []byte("<Types>")
		for _, p := range flat.Part {
			types = fmt.Appendf(types, "<Override PartName=%q ContentType=%q/>", p.Name, p.Type)
		}
		parts = append(flat.Part, flatPart{Name: "/[Content_Types].xml", content: append(types, "</Types>"...)})
	case formatWord2003:
		var flat struct {
			Styles flatXML `xml:"styles"`
			Body   flatXML `xml:"body"`
		}
		if err := xml.Unmarshal(raw, &flat); err != nil {
			return document.DamagedError("", err)
		}
		parts = []flatPart{
			{Name: "[Content_Types].xml", content: []byte("<Types>" + formatDocx.mime + ".main+xml</Types>")},
			{Name: "word/document.xml", content: slices.Concat([]byte("<w:document><w:body>"), flat.Body.Content, []byte("</w:body></w:document>"))},
			{Name: "word/_rels/document.xml.rels", content: []byte(`<Relationships><Relationship Id="s" Type="/styles" Target="styles.xml"/></Relationships>`)},
			{Name: "word/styles.xml", content: slices.Concat([]byte("<w:styles>"), flat.Styles.Content, []byte("</w:styles>"))},
		}
	default:
		var flat struct {
			MIME string `xml:"mimetype,attr"`
		}
		if err := xml.Unmarshal(raw, &flat); err != nil {
			return document.DamagedError("", err)
		}
		if !strings.HasPrefix(flat.MIME, "application/vnd.oasis.opendocument.") {
			return document.NewError(document.ErrUnsupported, "", "this is an OpenDocument file of an unknown type; save it as .odt, .ods or .odp")
		}
		parts = []flatPart{{Name: "mimetype", content: []byte(flat.MIME)}, {Name: "content.xml", content: raw}} // styles come first in it
	}
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for _, p := range parts {
		if err := p.writeTo(z); err != nil {
			return document.DamagedError(p.Name, err)
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	name = strings.TrimSuffix(name, path.Ext(name)) // without the extension .xml
	return r.readInto(b, name, bytes.NewReader(packed.Bytes()), int64(packed.Len()))
}

// flatXML is the content of an element, with its tags.
type flatXML struct {
	Content []byte `xml:",innerxml"`
}

// flatPart is a part of a document that is saved as one XML file.
type flatPart struct {
	Name    string  `xml:"name,attr"`
	Type    string  `xml:"contentType,attr"`
	XML     flatXML `xml:"xmlData"`
	Binary  string  `xml:"binaryData"`
	content []byte  // if it is neither
}

func (p flatPart) writeTo(z *zip.Writer) error {
	content := p.content
	if content == nil {
		content = p.XML.Content
	}
	if p.Binary != "" {
		var err error
		if content, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(p.Binary), "")); err != nil {
			return err
		}
	}
	w, err := z.CreateHeader(&zip.FileHeader{Name: strings.TrimPrefix(p.Name, "/"), Method: zip.Store})
	if err == nil {
		_, err = w.Write(content)
	}
	return err
}
