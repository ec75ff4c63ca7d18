package officelayout

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/engine/report/workbook"
	"github.com/scf-service/service/internal/opc"
	"github.com/scf-service/service/internal/prose"
)

// Limits of a layout's file.
const (
	maxFileParts   = 4000
	maxPartBytes   = 24 << 20 // of a part that is read, unpacked
	maxUnpacked    = 200 << 20
	maxReadBytes   = 64 << 20 // of all parts that are read
	relationsTypes = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
	relImage       = relationsTypes + "image"
	relChart       = relationsTypes + "chart"
	relPackage     = relationsTypes + "package"
	relSlide       = relationsTypes + "slide"
	relNotes       = relationsTypes + "notesSlide"
)

// Layout is a layout that has been read and compiled.
type Layout struct {
	format   string // docx or pptx
	file     *zip.Reader
	types    *node
	parts    []*part
	slides   []*slide
	main     string
	problems []Problem
	tags     int
	// replaced holds, by name, the parts that are changed for every document; a part that is omitted is nil.
	replaced map[string][]byte
	byName   map[string]*zip.File
	budget   int // the rest of maxReadBytes
	nodes    int // the rest of maxPartNodes
}

// part is a part of the file that may contain placeholders.
type part struct {
	name string
	// title is the part's name as users know it, such as "slide 3".
	title     string
	program   []op
	relations []relation
	// added are the relationships that filling in adds to the part.
	added []relation
	// output is the filled in part.
	output []byte
}

// copyUnfilled returns a copy of the part before it is filled in. The copy is filled in for one document.
func (p *part) copyUnfilled() *part {
	return &part{name: p.name, program: p.program, relations: p.relations}
}

// relation is a relationship of a part.
type relation struct {
	id, kind, target string
	external         bool
}

// newRelation returns the relationship that an element describes.
func newRelation(n *node) relation {
	return relation{n.attr("Id"), n.attr("Type"), n.attr("Target"), n.attr("TargetMode") == "External"}
}

// addRelation returns the ID of a relationship to a target. It adds the relationship if the part doesn't have it.
func (p *part) addRelation(kind, target string) string {
	for _, r := range p.added {
		if r.kind == kind && r.target == target {
			return r.id
		}
	}
	id := ""
	for n := len(p.added) + 1; id == "" || slices.ContainsFunc(p.relations, func(r relation) bool { return r.id == id }); n++ {
		id = fmt.Sprintf("rIdReport%d", n)
	}
	p.added = append(p.added, relation{id: id, kind: kind, target: target})
	return id
}

func refusalError(format string, args ...any) error { return api.Invalid("layout", format, args...) }

// Read reads and compiles a layout; format is docx or pptx. It returns a VALIDATION_ERROR if the
// file can't be used at all. Errors in placeholders are returned by Problems.
func Read(file []byte, format string) (*Layout, error) {
	l := &Layout{
		format: format, replaced: map[string][]byte{}, byName: map[string]*zip.File{}, budget: maxReadBytes, nodes: maxPartNodes,
	}
	if err := l.open(file); err != nil {
		return nil, err
	}
	if err := l.readTypes(); err != nil {
		return nil, err
	}
	if err := l.checkRelations(); err != nil {
		return nil, err
	}
	if format == "pptx" {
		if err := l.readSlides(); err != nil {
			return nil, err
		}
	}
	return l, l.compile()
}

// Problems returns the errors and warnings about the layout's placeholders, and the number of placeholders.
func (l *Layout) Problems() (all []Problem, tags int) { return l.problems, l.tags }

// Err returns a VALIDATION_ERROR that names the first errors in the layout's placeholders, or nil if there are none.
func (l *Layout) Err() error {
	const shown = 3
	var all []string
	n := 0
	for _, p := range l.problems {
		if p.Warning {
			continue
		}
		if n++; n <= shown {
			text := p.Place + ": " + strings.TrimSpace(p.Tag+" ") + ": " + p.Message
			if p.Suggestion != "" {
				text += "; " + p.Suggestion
			}
			all = append(all, text)
		}
	}
	if n == 0 {
		return nil
	}
	if n > shown {
		all = append(all, fmt.Sprintf("and %d more", n-shown))
	}
	return refusalError(
		"the layout has %s. %s. To list all errors, run `service report lint FILE`",
		prose.Count(n, "error", "errors"), strings.Join(all, ". "),
	)
}

// macrosError returns the error for a layout with macros.
func (l *Layout) macrosError() error {
	return refusalError("the layout contains macros, which reports can't include; save it without macros as .%s", l.format)
}

// open reads the file's zip directory and returns an error if the file exceeds the limits.
func (l *Layout) open(file []byte) error {
	kind := map[string]string{"docx": "Word document (.docx)", "pptx": "PowerPoint presentation (.pptx)"}[l.format]
	if bytes.HasPrefix(file, []byte("\xd0\xcf\x11\xe0")) {
		return refusalError("the layout is password-protected or in a format older than 2007; save it as a %s without a password", kind)
	}
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return refusalError("the layout is not a %s: %v", kind, err)
	}
	if len(z.File) > maxFileParts {
		return refusalError("the layout contains more than %d parts", maxFileParts)
	}
	var packed, unpacked uint64
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		if strings.ContainsAny(f.Name, `\:`) || path.Clean("/"+f.Name) != "/"+f.Name {
			return refusalError("the layout contains a part with the invalid name %q", f.Name)
		}
		if strings.HasPrefix(path.Base(strings.ToLower(f.Name)), "vba") { // rejected even if nothing refers to it
			return l.macrosError()
		}
		if l.byName[strings.ToLower(f.Name)] != nil {
			return refusalError("the layout contains the part %q twice", f.Name)
		}
		l.byName[strings.ToLower(f.Name)] = f
		packed, unpacked = packed+f.CompressedSize64, unpacked+f.UncompressedSize64
		if packed > uint64(len(file)) || unpacked > maxUnpacked {
			return refusalError(
				"the layout unpacks to more than %s, or its parts overlap; reduce the size of its images",
				wording.FormatByteSize(maxUnpacked),
			)
		}
	}
	l.file = z
	return nil
}

// read returns a part's bytes, or nil if the file doesn't have it.
func (l *Layout) read(name string) ([]byte, error) {
	if b, ok := l.replaced[name]; ok {
		return b, nil
	}
	f := l.byName[strings.ToLower(name)]
	if f == nil {
		return nil, nil
	}
	r, err := f.Open()
	if err != nil {
		return nil, refusalError("%s in the layout can't be read: %v", name, err)
	}
	defer r.Close()
	most := min(maxPartBytes, l.budget)
	b, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err != nil {
		return nil, refusalError("%s in the layout is damaged: %v; save the file again", name, err)
	}
	if len(b) > most {
		return nil, refusalError("%s in the layout is too large, or the layout as a whole is too large", name)
	}
	l.budget -= len(b)
	return b, nil
}

// readTree returns a part as a tree, or nil if the file doesn't have it.
func (l *Layout) readTree(name string) (*node, error) {
	b, err := l.read(name)
	if b == nil || err != nil {
		return nil, err
	}
	n, err := parsePart(b, &l.nodes)
	if err != nil {
		return nil, refusalError("%s in the layout can't be read: %v", name, err)
	}
	return n, nil
}

const typesPart = "[Content_Types].xml"

// Prefixes of the media types of parts.
const (
	wordTypes  = "application/vnd.openxmlformats-officedocument.wordprocessingml."
	slideTypes = "application/vnd.openxmlformats-officedocument.presentationml."
)

// mainTypes maps the media types of documents and templates to the media types of the documents written from them.
var mainTypes = map[string]map[string]string{
	"docx": {
		wordTypes + "document.main+xml": "",
		wordTypes + "template.main+xml": wordTypes + "document.main+xml",
	},
	"pptx": {
		slideTypes + "presentation.main+xml": "",
		slideTypes + "template.main+xml":     slideTypes + "presentation.main+xml",
		slideTypes + "slideshow.main+xml":    slideTypes + "presentation.main+xml",
	},
}

// readTypes reads the list of media types, finds the main part and the parts with text, and rejects macros.
func (l *Layout) readTypes() error {
	types, err := l.readTree(typesPart)
	if err != nil {
		return err
	}
	if types == nil {
		return refusalError("the layout is not a Word or PowerPoint document; the part %s is missing", typesPart)
	}
	l.types = types
	titles := map[string]bool{}
	types.walk(func(n *node) bool {
		kind := n.attr("ContentType")
		name := strings.TrimPrefix(n.attr("PartName"), "/")
		to, isMain := mainTypes[l.format][kind]
		switch {
		case strings.Contains(strings.ToLower(kind), "macro") || strings.Contains(strings.ToLower(kind), "vbaproject"):
			err = l.macrosError()
		case strings.Contains(strings.ToLower(kind), "activex") || strings.Contains(kind, "oleObject"):
			err = refusalError("the layout contains an embedded program object (%s); replace it with a picture", name)
		case n.hasName("ct:Override") && isMain:
			if l.main != "" {
				err = refusalError("the layout has two main documents, %s and %s", l.main, name)
			}
			l.main = name
			if to != "" {
				n.start = setAttr(n.start, "ContentType", to)
			}
		}
		if mayHavePlaceholders(l.format, kind) && n.hasName("ct:Override") && !titles[name] && l.byName[strings.ToLower(name)] != nil {
			titles[name] = true
			l.parts = append(l.parts, &part{name: name, title: partTitle(name)})
		}
		return err == nil
	})
	if err != nil {
		return err
	}
	if l.main == "" || l.byName[strings.ToLower(l.main)] == nil {
		return refusalError("the layout is not a .%s file; use a file of this type saved by Word, PowerPoint or LibreOffice", l.format)
	}
	// The document comes first, and notes come after the slides, because they share the slides' scope.
	slices.SortStableFunc(l.parts, func(a, b *part) int {
		order := func(p *part) int {
			switch {
			case p.name == l.main:
				return 0
			case strings.HasPrefix(p.title, "notes"):
				return 2
			}
			return 1
		}
		return cmp.Or(order(a)-order(b), len(a.name)-len(b.name), strings.Compare(a.name, b.name))
	})
	return nil
}

// mayHavePlaceholders reports whether a part with the media type can have placeholders.
func mayHavePlaceholders(format, mediaType string) bool {
	if mediaType == "application/vnd.openxmlformats-package.core-properties+xml" {
		return true
	}
	kinds := []string{"template.main", "document.main", "header", "footer", "footnotes", "endnotes"}
	prefix := wordTypes
	if format == "pptx" {
		kinds, prefix = []string{"slide", "notesSlide", "slideLayout", "slideMaster"}, slideTypes
	}
	rest, ok := strings.CutPrefix(mediaType, prefix)
	rest, isXML := strings.CutSuffix(rest, "+xml")
	return ok && isXML && slices.Contains(kinds, rest)
}

// readRelations reads the relationships of a part.
func (l *Layout) readRelations(name string) ([]relation, error) {
	return l.readRelationsPart(opc.RelationshipsPart(name))
}

func (l *Layout) readRelationsPart(name string) ([]relation, error) {
	root, err := l.readTree(name)
	if root == nil || err != nil {
		return nil, err
	}
	var out []relation
	root.walk(func(n *node) bool {
		if n.hasName("rel:Relationship") {
			out = append(out, newRelation(n))
		}
		return true
	})
	return out, nil
}

// checkRelations returns an error if the layout would load something when it is opened, or contains
// something that can be run.
func (l *Layout) checkRelations() error {
	for _, f := range l.file.File {
		if !strings.HasSuffix(strings.ToLower(f.Name), ".rels") {
			continue
		}
		source := path.Join(path.Dir(path.Dir(f.Name)), strings.TrimSuffix(path.Base(f.Name), path.Ext(f.Name)))
		root, err := l.readTree(f.Name)
		if err != nil {
			return err
		}
		var relations []relation
		var dropped []*node
		root.walk(func(n *node) bool {
			if !n.hasName("rel:Relationship") || err != nil {
				return err == nil
			}
			r := newRelation(n)
			relations = append(relations, r)
			switch kind := r.kind[strings.LastIndexByte(r.kind, '/')+1:]; {
			case kind == "attachedTemplate":
				dropped = append(dropped, n)
			case kind == "vbaProject", kind == "wordVbaData":
				err = l.macrosError()
			case slices.Contains([]string{"oleObject", "control", "aFChunk", "subDocument", "frame", "activeXControlBinary"}, kind),
				kind == "package" && !strings.Contains(source, "/charts/"):
				err = refusalError("%s of the layout embeds another file (%s); replace it with a picture or text", partTitle(source), r.target)
			case kind == "image" && !r.external && l.byName[strings.ToLower(opc.ResolveTarget(source, r.target))] == nil:
				err = refusalError(
					"%s of the layout shows a picture that the file does not contain (%s); delete the picture or insert it again",
					partTitle(source), prose.Truncate(r.target, 100),
				)
			case r.external && kind != "hyperlink":
				err = refusalError(
					"%s of the layout loads %s from an external source; embed the content in the file instead of linking it",
					partTitle(source), prose.Truncate(r.target, 100),
				)
			case r.external && !isWebLink(r.target):
				err = refusalError(
					"%s of the layout has a link to %s; only http, https and mailto links are allowed",
					partTitle(source), prose.Truncate(r.target, 100),
				)
			}
			return err == nil
		})
		if err != nil {
			return err
		}
		if len(dropped) > 0 {
			if err := l.dropAttachedTemplate(f.Name, source, root, dropped); err != nil {
				return err
			}
		}
		for _, p := range l.parts {
			if strings.EqualFold(p.name, source) {
				p.relations = relations
			}
		}
	}
	return nil
}

// isWebLink reports whether a link leads to a web page or a mail address.
func isWebLink(to string) bool {
	u, err := url.Parse(strings.TrimSpace(to))
	return err == nil && slices.Contains([]string{"http", "https", "mailto"}, strings.ToLower(u.Scheme))
}

// dropAttachedTemplate removes the reference to the template that a document was created from, because Word would
// look for the template, and because the template's path reveals where the author keeps files.
func (l *Layout) dropAttachedTemplate(relationsName, source string, root *node, dropped []*node) error {
	for _, n := range dropped {
		n.parent.children = slices.DeleteFunc(n.parent.children, func(c *node) bool { return c == n })
	}
	l.replaced[relationsName] = []byte(originalXML(root))
	settings, err := l.readTree(source)
	if settings == nil || err != nil {
		return err
	}
	settings.walk(func(n *node) bool {
		n.children = slices.DeleteFunc(n.children, func(c *node) bool { return c.hasName("w:attachedTemplate") })
		return true
	})
	l.replaced[source] = []byte(originalXML(settings))
	l.problems = append(l.problems, Problem{
		Part: source, Place: "document settings", Warning: true,
		Message: "the reference to the document's Word template will be removed from reports",
	})
	return nil
}

// compile compiles the parts of the layout.
func (l *Layout) compile() error {
	c := &compiler{schema: newSchema(), uses: map[string]bool{}, problems: l.problems, reported: map[bool]int{}}
	root := scopeType{typ: reflect.TypeFor[*content.LayoutData]()}
	for _, p := range l.parts {
		tree, err := l.readTree(p.name)
		if err != nil {
			return err
		}
		c.part, c.scopes, c.slide = p, []scopeType{root}, nil
		s := l.slideOf(p)
		switch {
		case s != nil && s.part == p:
			p.title = fmt.Sprintf("slide %d", s.number)
		case s != nil:
			p.title = fmt.Sprintf("notes of slide %d", s.number)
		case p.name == l.main:
			p.title = "document"
		}
		if err := c.rejectActiveContent(tree); err != nil {
			return err
		}
		setPlaces(tree)
		c.extractTags(tree)
		if s != nil {
			c.enterSlide(s, tree)
		}
		p.program = c.compileTree(tree)
		for _, r := range p.relations {
			if kind := path.Base(r.kind); kind == "chart" || kind == "chartEx" {
				c.addWarning(nil, "", "a chart in the layout will show its own data in every report",
					"to show the report's data instead, replace it with a picture that has the alternative text {{image charts.heat_map}}, for example")
			}
		}
	}
	if c.tags == 0 && c.extracted <= maxTags {
		c.part = &part{name: l.main, title: "document"}
		c.addWarning(nil, "", "the layout has no placeholders", "to create an example, run `service report layout init`")
	}
	if !c.uses["draft"] && !c.uses["report.status"] && !c.uses["draft_reasons"] {
		c.part = &part{name: l.main, title: "document"}
		c.addWarning(nil, "", "the layout does not show whether a report is a draft", "add {{#if draft}}DRAFT{{/if}} or {{report.status}}")
	}
	l.problems, l.tags = c.problems, c.tags
	return nil
}

// Write fills in the layout in file with the data of a report and writes the document, as Layout.Write does.
func Write(ctx context.Context, w io.Writer, file []byte, format string, v *content.Report) error {
	l, err := Read(file, format)
	if err != nil {
		return err
	}
	return l.Write(ctx, w, v.LayoutData(), v.Theme())
}

// Write fills in the layout and writes the document. It returns a VALIDATION_ERROR if the layout
// has errors or exceeds a limit, ctx's error if ctx ends, or the error of a failed write. The same
// data always gives the same bytes.
func (l *Layout) Write(ctx context.Context, w io.Writer, data *content.LayoutData, theme drawing.Theme) error {
	if err := l.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, maxDuration)
	defer cancel()
	x := &executor{
		ctx: ctx, theme: theme, scopes: []scopeValue{{value: reflect.ValueOf(data)}}, images: newImageStore(),
		hasPart: func(name string) bool { return l.byName[strings.ToLower(name)] != nil },
		numbers: workbook.Properties{Creator: data.Tool, AsOf: data.AsOf, Theme: theme},
	}
	var made []*part // in the order in which they are filled in
	for _, p := range l.parts {
		if l.slideOf(p) != nil {
			continue
		}
		made = append(made, x.fill(p.copyUnfilled()))
	}
	var deck *deckChange
	if l.format == "pptx" {
		var slides []*part
		if slides, deck = l.fillSlides(x); x.err == nil {
			made = append(made, slides...)
		}
	}
	if x.err != nil {
		return x.err
	}
	return l.writePackage(w, data, made, x.images, deck)
}

// mediaFolders maps each format to its folder for pictures.
var mediaFolders = map[string]string{"docx": "word/media", "pptx": "ppt/media"}

// fill runs the program of a part.
func (x *executor) fill(p *part) *part {
	x.part, x.out, x.media = p, &bytes.Buffer{}, "../media/"
	if strings.HasPrefix(p.name, "word/") {
		x.media = "media/"
	}
	x.repeated, x.printed = false, false
	if x.err == nil {
		x.run(p.program)
	}
	p.output = x.out.Bytes()
	x.finished += len(p.output)
	x.out = &bytes.Buffer{}
	return p
}

// writePackage writes the file. It contains the parts that were filled in, and all other parts unchanged.
func (l *Layout) writePackage(w io.Writer, data *content.LayoutData, made []*part, images *imageStore, deck *deckChange) error {
	changed := maps.Clone(l.replaced) // nil for an omitted part
	var extra []string                // new parts, in order
	put := func(name string, b []byte) {
		changed[name] = b
		if f := l.byName[strings.ToLower(name)]; f == nil || f.Name != name {
			extra = append(extra, name)
		}
	}
	if deck != nil {
		if err := deck.apply(l, put); err != nil {
			return err
		}
	}
	for _, p := range made {
		put(p.name, p.output)
		if len(p.added) == 0 {
			continue
		}
		name := opc.RelationshipsPart(p.name)
		before := changed[name]
		if before == nil {
			var err error
			if before, err = l.read(name); err != nil {
				return err
			}
		}
		b, err := withRelations(before, p.added)
		if err != nil {
			return err
		}
		put(name, b)
	}
	for _, m := range images.files {
		put(path.Join(mediaFolders[l.format], m.name), m.data)
	}
	for _, c := range images.charts {
		put(c.name, c.data)
	}
	properties, err := l.addProperties(data, put)
	if err != nil {
		return err
	}
	changed[typesPart] = l.withTypes(images, deck, properties)
	return writeZip(w, l.file, changed, extra)
}

// withRelations returns a relationships part with further relationships added.
func withRelations(file []byte, added []relation) ([]byte, error) {
	var b bytes.Buffer
	for _, r := range added {
		fmt.Fprintf(
			&b, `<Relationship xmlns="http://schemas.openxmlformats.org/package/2006/relationships" Id="%s" Type="%s" Target="%s"%s/>`,
			escaped(r.id), escaped(r.kind), escaped(r.target), map[bool]string{true: ` TargetMode="External"`}[r.external],
		)
	}
	if file == nil {
		return []byte(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n" +
			`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` + b.String() + `</Relationships>`), nil
	}
	return beforeEnd(file, b.Bytes())
}

// beforeEnd inserts XML directly before the end tag of the root element.
func beforeEnd(file, inserted []byte) ([]byte, error) {
	at := bytes.LastIndex(file, []byte("</"))
	if at < 0 { // <Relationships/>
		end := bytes.LastIndex(file, []byte("/>"))
		from := bytes.LastIndexByte(file[:max(end, 0)], '<')
		if end < 0 || from < 0 {
			return nil, errors.New("a part of the layout has no root element")
		}
		name, _, _ := bytes.Cut(file[from+1:end], []byte(" "))
		return slices.Concat(file[:end], []byte(">"), inserted, []byte("</"), name, []byte(">")), nil
	}
	return slices.Concat(file[:at], inserted, file[at:]), nil
}

// withTypes returns the list of media types for the document. properties is the name of the properties part if one
// was added, or "".
func (l *Layout) withTypes(images *imageStore, deck *deckChange, properties string) []byte {
	var b strings.Builder
	known := false
	l.types.walk(func(n *node) bool {
		known = known || n.hasName("ct:Default") && strings.EqualFold(n.attr("Extension"), "png")
		return true
	})
	const namespace = ` xmlns="http://schemas.openxmlformats.org/package/2006/content-types"`
	if len(images.files) > 0 && !known {
		b.WriteString(`<Default` + namespace + ` Extension="png" ContentType="image/png"/>`)
	}
	for _, c := range images.charts {
		if c.mediaType != "" {
			fmt.Fprintf(&b, `<Override%s PartName="/%s" ContentType="%s"/>`, namespace, c.name, c.mediaType)
		}
	}
	if properties != "" {
		b.WriteString(`<Override` + namespace + ` PartName="/` + properties + `" ContentType="` + typeCustomProperties + `"/>`)
	}
	var gone map[string]bool
	if deck != nil {
		gone = deck.removed
		for _, p := range deck.added {
			fmt.Fprintf(&b, `<Override%s PartName="/%s" ContentType="%s%s+xml"/>`, namespace, p.name, slideTypes, p.kind)
		}
	}
	root := *l.types
	root.children = slices.Clone(root.children)
	for i, c := range root.children {
		if c.hasName("ct:Types") {
			list := *c
			list.children = slices.DeleteFunc(slices.Clone(c.children), func(n *node) bool {
				return gone[strings.TrimPrefix(n.attr("PartName"), "/")]
			})
			root.children[i] = &list
		}
	}
	out, err := beforeEnd([]byte(originalXML(&root)), []byte(b.String()))
	if err != nil {
		return []byte(originalXML(&root))
	}
	return out
}

// writeZip writes the parts of a file in their original order, with the changed ones replaced, followed by the extra
// parts.
func writeZip(w io.Writer, file *zip.Reader, changed map[string][]byte, extra []string) error {
	z := zip.NewWriter(w)
	for _, f := range file.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		b, ok := changed[f.Name]
		var err error
		switch {
		case ok && b == nil:
		case ok:
			err = opc.WritePart(z, f.Name, b)
		default:
			err = z.Copy(f)
		}
		if err != nil {
			return err
		}
	}
	for _, name := range extra {
		if changed[name] == nil {
			continue
		}
		if err := opc.WritePart(z, name, changed[name]); err != nil {
			return err
		}
	}
	return z.Close()
}
