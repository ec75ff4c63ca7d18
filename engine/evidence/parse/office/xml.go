package office

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/zipfile"
	"github.com/scf-service/service/internal/opc"
)

// xmlWalker handles the XML tokens of a part. The root element has depth 1.
type xmlWalker interface {
	// isSkipped reports whether an element's text is not part of the current document.
	isSkipped(e xml.StartElement) bool
	startElement(e xml.StartElement, depth int)
	endElement(e xml.EndElement, depth int)
	appendCharData(text []byte) error
}

// walkXML reads a part of an Office document token by token, with limits on depth and time. A missing part is
// treated as empty.
func walkXML(b *document.Builder, z *zip.Reader, name string, w xmlWalker) error {
	r, err := zipfile.OpenPart(z, name, zipfile.MaxPart)
	if errors.Is(err, zipfile.ErrNoPart) {
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	dec := xml.NewDecoder(r)
	depth := 0
	for n := 1; b.Err() == nil; n++ {
		if n%1024 == 0 {
			if err := b.Context().Err(); err != nil {
				return err
			}
		}
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return document.DamagedError(name, err)
		}
		switch e := tok.(type) {
		case xml.StartElement:
			if depth++; depth > maxXMLDepth {
				return document.NewError(document.ErrDamaged, name, "nested deeper than %d", maxXMLDepth)
			}
			if w.isSkipped(e) {
				if err := skipElement(dec, depth); err != nil {
					return document.DamagedError(name, err)
				}
				depth--
				continue
			}
			w.startElement(e, depth)
		case xml.EndElement:
			w.endElement(e, depth)
			depth--
		case xml.CharData:
			if err := w.appendCharData(e); err != nil {
				return err
			}
		}
	}
	return b.Err()
}

// skipElement skips the rest of an element. The limit on depth is the same as in walkXML.
func skipElement(dec *xml.Decoder, depth int) error {
	for open := 1; open > 0; {
		tok, err := dec.Token()
		if err != nil {
			return err
		}
		switch tok.(type) {
		case xml.StartElement:
			if open++; depth+open > maxXMLDepth {
				return document.NewError(document.ErrDamaged, "", "nested deeper than %d", maxXMLDepth)
			}
		case xml.EndElement:
			open--
		}
	}
	return nil
}

const maxParagraph = 8 << 20

// appendText appends text to a paragraph. It returns an error that names the part of the file if the paragraph
// gets too long.
func appendText(paragraph *strings.Builder, text []byte, part string) error {
	if paragraph.Len()+len(text) > maxParagraph {
		return document.NewError(document.ErrTooLarge, part, "a paragraph is larger than 8 MiB")
	}
	paragraph.Write(text)
	return nil
}

// attrValue returns the value of an attribute, given its local name.
func attrValue(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

type relation struct {
	ID         string `xml:"Id,attr"`
	Type       string `xml:"Type,attr"`
	Target     string `xml:"Target,attr"`
	TargetMode string `xml:"TargetMode,attr"`
}

// resolveTarget returns the name of the part that a relation of part refers to.
func (r relation) resolveTarget(part string) string {
	return opc.ResolveTarget(part, r.Target)
}

// readRelations returns the relations of a part, or those of the package if part is empty. It returns none if
// they can't be read.
func readRelations(z *zip.Reader, part string) []relation {
	name := "_rels/.rels"
	if part != "" {
		name = opc.RelationshipsPart(part)
	}
	raw, err := zipfile.ReadPart(z, name, maxSidePart)
	if err != nil {
		return nil
	}
	var list struct {
		Relationship []relation `xml:"Relationship"`
	}
	if xml.Unmarshal(raw, &list) != nil {
		return nil
	}
	return slices.Clip(list.Relationship)
}

// readCoreProperties reads the title, version and origin. It ignores who last saved the file and when, which is
// irrelevant for a policy.
func readCoreProperties(b *document.Builder, z *zip.Reader) {
	readOrigin(b, z)
	raw, err := zipfile.ReadPart(z, "docProps/core.xml", maxSidePart)
	if err != nil {
		return
	}
	var p struct {
		Title   string `xml:"title"`
		Version string `xml:"version"`
	}
	if xml.Unmarshal(raw, &p) == nil {
		if b.Doc.Title = document.CleanLine(p.Title); strings.EqualFold(b.Doc.Title, "PowerPoint Presentation") {
			b.Doc.Title = ""
		}
		b.AddFact("version", p.Version)
	}
}

// readOrigin adds the name of the program that wrote a document as page furniture if a custom property contains it. In
// reports of this program that use a custom layout, nothing else identifies the program.
func readOrigin(b *document.Builder, z *zip.Reader) {
	for _, r := range readRelations(z, "") {
		if path.Base(r.Type) != "custom-properties" {
			continue
		}
		raw, err := zipfile.ReadPart(z, opc.ResolveTarget("", r.Target), maxSidePart)
		if err != nil {
			continue
		}
		var p struct {
			Property []struct {
				Name  string `xml:"name,attr"`
				Value string `xml:"lpwstr"`
			} `xml:"property"`
		}
		if xml.Unmarshal(raw, &p) != nil {
			continue
		}
		for _, one := range p.Property {
			if one.Name == "Written by" && strings.HasPrefix(one.Value, "service ") {
				b.Doc.Furniture = append(b.Doc.Furniture, document.Block{
					Kind: document.Paragraph, Text: document.CleanLine(one.Name + " " + one.Value),
				})
			}
		}
	}
}
