// Package pptx writes slides as a PowerPoint presentation: titles, texts and tables that can be edited, and native
// charts, each with a workbook of its numbers.
package pptx

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/internal/opc"
	"github.com/scf-service/service/internal/prose"
)

// Document is a presentation.
type Document struct {
	// Frame provides the title, draft marks, footer, logo and colors.
	Frame  block.Document
	Slides []content.Slide
	// Sources are the IDs and hashes of the slides' sources, which are written to the properties.
	Sources map[string]string
}

// New returns the presentation of a report.
func New(v *content.Report) Document {
	return Document{Frame: v.DocumentWithoutSections(), Slides: v.Slides(), Sources: content.Provenance(v.Source, v.Template.Name)}
}

// writer collects the parts of a presentation.
type writer struct {
	doc   Document
	names []string
	parts map[string][]byte
	// types lists the media types of the parts that need one, in order.
	types [][2]string
	// charts is the number of charts so far.
	charts int
}

// Write writes a presentation. The same slides always give the same bytes.
func Write(w io.Writer, d Document) error {
	x := &writer{doc: d, parts: map[string][]byte{}}
	x.addFrame()
	for i := range d.Slides {
		if err := x.addSlide(i, &d.Slides[i]); err != nil {
			return fmt.Errorf("slide %d: %w", i+1, err)
		}
	}
	x.addPresentation()
	return x.write(w)
}

func (x *writer) add(name, mediaType string, data []byte) {
	x.names = append(x.names, name)
	x.parts[name] = data
	if mediaType != "" {
		x.types = append(x.types, [2]string{name, mediaType})
	}
}

func (x *writer) addXML(name, mediaType, text string) {
	x.add(name, mediaType, []byte(xmlHead+x.doc.Frame.Theme.ReplaceColorPlaceholders(text)))
}

// write writes the package, starting with its list of content types.
func (x *writer) write(w io.Writer) error {
	var types strings.Builder
	types.WriteString(xmlHead + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Default Extension="xml" ContentType="application/xml"/>` +
		`<Default Extension="png" ContentType="image/png"/>` +
		`<Default Extension="xlsx" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"/>`)
	for _, t := range x.types {
		fmt.Fprintf(&types, `<Override PartName="/%s" ContentType="%s"/>`, t[0], t[1])
	}
	types.WriteString(`</Types>`)
	z := zip.NewWriter(w)
	if err := opc.WritePart(z, "[Content_Types].xml", []byte(types.String())); err != nil {
		return err
	}
	for _, name := range x.names {
		if err := opc.WritePart(z, name, x.parts[name]); err != nil {
			return err
		}
	}
	return z.Close()
}

const (
	xmlHead     = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	nsRelations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	namespaces  = `xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="` + nsRelations + `"` +
		` xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"`
	typePrefix = "application/vnd.openxmlformats-officedocument.presentationml."
)

// escapeXML escapes text for XML. Characters that XML doesn't allow become U+FFFD. Braces are escaped too, because
// text in braces would be interpreted as the name of a color.
func escapeXML(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // writing to a buffer can't fail
	return strings.NewReplacer("{", "&#123;", "}", "&#125;").Replace(b.String())
}

// relationsXML returns the XML of a relationships part. Each argument consists of an ID, a type without its prefix,
// and a target.
func relationsXML(all ...[3]string) string {
	var b strings.Builder
	b.WriteString(`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`)
	for _, r := range all {
		kind := nsRelations + "/" + r[1]
		if strings.Contains(r[1], ":") {
			kind = r[1]
		}
		fmt.Fprintf(&b, `<Relationship Id="%s" Type="%s" Target="%s"/>`, r[0], kind, r[2])
	}
	return b.String() + `</Relationships>`
}

// footerText returns the line at the bottom of each slide.
func (x *writer) footerText() string {
	d := &x.doc.Frame
	parts := []string{d.Organization}
	if d.Title != d.Organization {
		parts = append(parts, d.Title)
	}
	if len(d.Draft) > 0 {
		parts = append([]string{"DRAFT"}, parts...)
	}
	if d.Footer != "" {
		parts = append(parts, d.Footer)
	}
	return prose.Truncate(strings.Join(strings.Fields(strings.Join(parts, " · ")), " "), 140)
}

// addFrame adds the theme, the master and its two layouts: a title slide, and a slide with a title
// and content below.
func (x *writer) addFrame() {
	x.addXML("_rels/.rels", "", relationsXML(
		[3]string{"rId1", "officeDocument", "ppt/presentation.xml"},
		[3]string{"rId2", "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties", "docProps/core.xml"},
		[3]string{"rId3", "extended-properties", "docProps/app.xml"},
	))
	x.addXML("docProps/app.xml", "application/vnd.openxmlformats-officedocument.extended-properties+xml",
		`<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties">`+
			`<Application>service</Application></Properties>`)
	x.addXML("docProps/core.xml", "application/vnd.openxmlformats-package.core-properties+xml", x.corePropertiesXML())
	x.addXML("ppt/theme/theme1.xml", "application/vnd.openxmlformats-officedocument.theme+xml", themeXML)
	footer := textBoxXML(90, "Footer", box{margin, 6_450_000, 10_800_000, 280_000}, 1000, "{soft}", "l", plainParagraph(x.footerText())) +
		`<p:sp><p:nvSpPr><p:cNvPr id="91" name="Slide number"/><p:cNvSpPr txBox="1"/><p:nvPr userDrawn="1"/></p:nvSpPr><p:spPr>` +
		box{slideWidth - margin - 900_000, 6_450_000, 900_000, 280_000}.xfrmXML() +
		`<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr>` +
		`<p:txBody><a:bodyPr lIns="0" rIns="0" tIns="0" bIns="0" anchor="ctr"/><a:lstStyle/><a:p><a:pPr algn="r"/>` +
		`<a:fld id="{B6F15528-21DE-4FAA-801E-634DDDAF4B2B}" type="slidenum"><a:rPr lang="en-US" sz="1000"><a:solidFill>` +
		`<a:srgbClr val="{soft}"/></a:solidFill></a:rPr><a:t>1</a:t></a:fld></a:p></p:txBody></p:sp>`
	title := placeholderXML(2, "Title", "title", box{margin, 330_000, contentWidth, 900_000}, "")
	x.addXML("ppt/slideMasters/slideMaster1.xml", typePrefix+"slideMaster+xml",
		`<p:sldMaster `+namespaces+`><p:cSld>`+
			`<p:bg><p:bgPr><a:solidFill><a:srgbClr val="{paper}"/></a:solidFill><a:effectLst/></p:bgPr></p:bg>`+shapeTreeXML(title)+`</p:cSld>`+
			`<p:clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3" accent4="accent4"`+
			` accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"/>`+
			`<p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="rId1"/><p:sldLayoutId id="2147483650" r:id="rId2"/></p:sldLayoutIdLst>`+
			`<p:txStyles><p:titleStyle><a:lvl1pPr algn="l"><a:lnSpc><a:spcPct val="95000"/></a:lnSpc><a:defRPr sz="2600" b="1"><a:solidFill>`+
			`<a:srgbClr val="{accent}"/></a:solidFill><a:latin typeface="+mj-lt"/></a:defRPr></a:lvl1pPr></p:titleStyle>`+
			`<p:bodyStyle><a:lvl1pPr><a:defRPr sz="1600"/></a:lvl1pPr></p:bodyStyle><p:otherStyle><a:lvl1pPr><a:defRPr sz="1600"/>`+
			`</a:lvl1pPr></p:otherStyle></p:txStyles></p:sldMaster>`)
	x.addXML("ppt/slideMasters/_rels/slideMaster1.xml.rels", "", relationsXML(
		[3]string{"rId1", "slideLayout", "../slideLayouts/slideLayout1.xml"},
		[3]string{"rId2", "slideLayout", "../slideLayouts/slideLayout2.xml"},
		[3]string{"rId3", "theme", "../theme/theme1.xml"},
	))
	const coverTitle = `<a:lvl1pPr><a:defRPr sz="4000" b="1"/></a:lvl1pPr>`
	cover := filledBoxXML(80, "Band", box{0, 0, 260_000, slideHeight}, "{accent}") +
		filledBoxXML(81, "Line", box{260_000, 0, 60_000, slideHeight}, "{band}") +
		placeholderXML(2, "Title", "ctrTitle", box{coverLeft, 2_250_000, 10_600_000, 1_300_000}, coverTitle) + footer
	for i, l := range []struct{ kind, name, shapes string }{
		{"title", "Title slide", cover},
		{"titleOnly", "Title and content", filledBoxXML(81, "Line", box{margin, 1_270_000, contentWidth, 22_000}, "{band}") + title + footer},
	} {
		x.addXML(fmt.Sprintf("ppt/slideLayouts/slideLayout%d.xml", i+1), typePrefix+"slideLayout+xml",
			`<p:sldLayout `+namespaces+` type="`+l.kind+`" preserve="1"><p:cSld name="`+l.name+`">`+shapeTreeXML(l.shapes)+`</p:cSld>`+
				`<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sldLayout>`)
		x.addXML(
			fmt.Sprintf("ppt/slideLayouts/_rels/slideLayout%d.xml.rels", i+1), "",
			relationsXML([3]string{"rId1", "slideMaster", "../slideMasters/slideMaster1.xml"}),
		)
	}
	if len(x.doc.Frame.Logo) > 0 {
		x.add("ppt/media/logo.png", "", x.doc.Frame.Logo)
	}
}

// corePropertiesXML returns the properties that file managers show, including the sources of the slides.
func (x *writer) corePropertiesXML() string {
	d := &x.doc.Frame
	status := "Final"
	if len(d.Draft) > 0 {
		status = "Draft"
	}
	var sources []string
	for _, name := range slices.Sorted(maps.Keys(x.doc.Sources)) {
		sources = append(sources, name+"="+x.doc.Sources[name])
	}
	b := `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"` +
		` xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"` +
		` xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">` +
		`<dc:title>` + escapeXML(d.Title) + `</dc:title><dc:subject>` + escapeXML(d.Assessment) + `</dc:subject>` +
		`<dc:creator>` + escapeXML(d.Tool) + `</dc:creator>` +
		`<dc:description>` + escapeXML("Written by "+d.Tool+", as of "+d.AsOf+". Sources: "+strings.Join(sources, "; ")) + `</dc:description>` +
		`<cp:contentStatus>` + status + `</cp:contentStatus><dc:language>en</dc:language>`
	if d.Time.Year() > 1900 {
		at := d.Time.UTC().Format(time.RFC3339)
		b += `<dcterms:created xsi:type="dcterms:W3CDTF">` + at + `</dcterms:created>` +
			`<dcterms:modified xsi:type="dcterms:W3CDTF">` + at + `</dcterms:modified>`
	}
	return b + `</cp:coreProperties>`
}

// addPresentation adds the main part, which lists the slides.
func (x *writer) addPresentation() {
	var ids strings.Builder
	all := [][3]string{{"rId1", "slideMaster", "slideMasters/slideMaster1.xml"}, {"rId2", "theme", "theme/theme1.xml"}}
	for i := range x.doc.Slides {
		id := fmt.Sprintf("rId%d", i+3)
		fmt.Fprintf(&ids, `<p:sldId id="%d" r:id="%s"/>`, 256+i, id)
		all = append(all, [3]string{id, "slide", fmt.Sprintf("slides/slide%d.xml", i+1)})
	}
	x.addXML("ppt/presentation.xml", typePrefix+"presentation.main+xml",
		`<p:presentation `+namespaces+` saveSubsetFonts="1"><p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="rId1"/>`+
			`</p:sldMasterIdLst><p:sldIdLst>`+ids.String()+
			fmt.Sprintf(`</p:sldIdLst><p:sldSz cx="%d" cy="%d"/><p:notesSz cx="6858000" cy="9144000"/></p:presentation>`, slideWidth, slideHeight))
	x.addXML("ppt/_rels/presentation.xml.rels", "", relationsXML(all...))
}

// themeXML defines the report's colors, and uses fonts that every office program has.
const themeXML = `<a:theme xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" name="Report">` +
	`<a:themeElements><a:clrScheme name="Report">` +
	`<a:dk1><a:srgbClr val="{ink}"/></a:dk1><a:lt1><a:srgbClr val="{paper}"/></a:lt1>` +
	`<a:dk2><a:srgbClr val="{accent}"/></a:dk2><a:lt2><a:srgbClr val="{panel}"/></a:lt2>` +
	`<a:accent1><a:srgbClr val="{accent}"/></a:accent1><a:accent2><a:srgbClr val="{implemented}"/></a:accent2>` +
	`<a:accent3><a:srgbClr val="{partly}"/></a:accent3><a:accent4><a:srgbClr val="{planned}"/></a:accent4>` +
	`<a:accent5><a:srgbClr val="{high}"/></a:accent5><a:accent6><a:srgbClr val="{level}"/></a:accent6>` +
	`<a:hlink><a:srgbClr val="{link}"/></a:hlink><a:folHlink><a:srgbClr val="{soft}"/></a:folHlink></a:clrScheme>` +
	`<a:fontScheme name="Report"><a:majorFont><a:latin typeface="Arial"/><a:ea typeface=""/><a:cs typeface=""/></a:majorFont>` +
	`<a:minorFont><a:latin typeface="Arial"/><a:ea typeface=""/><a:cs typeface=""/></a:minorFont></a:fontScheme>` +
	`<a:fmtScheme name="Report"><a:fillStyleLst>` + themeFill + themeFill + themeFill + `</a:fillStyleLst>` +
	`<a:lnStyleLst>` + themeLine + themeLine + themeLine + `</a:lnStyleLst>` +
	`<a:effectStyleLst>` + themeEffect + themeEffect + themeEffect + `</a:effectStyleLst>` +
	`<a:bgFillStyleLst>` + themeFill + themeFill + themeFill + `</a:bgFillStyleLst></a:fmtScheme></a:themeElements></a:theme>`

// Styles of the theme; the format requires three of each kind.
const (
	themeFill   = `<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>`
	themeLine   = `<a:ln w="9525">` + themeFill + `</a:ln>`
	themeEffect = `<a:effectStyle><a:effectLst/></a:effectStyle>`
)

// colorPlaceholder returns a placeholder for a color, which addXML replaces with the color. Text on a fill has
// colors with names of their own.
func (x *writer) colorPlaceholder(n drawing.ColorName) string {
	return x.doc.Frame.Theme.Color(n).HexDigits()
}
