package pdf

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
)

// The structure of a document lets screen readers know what each piece of a page is: a heading,
// paragraph, table cell, or picture with a description. The library doesn't support it. Therefore,
// drawing marks the pieces on the pages, and the tree of elements that they belong to is added to
// the finished file (ISO 32000-1, 14.7 and 14.8).

// element is an element of the document's logical structure, such as a heading or a table.
type element struct {
	kind, alt string
	parent    int32
	marks     []mark
	// children are indexes of elements (positive) and numbers of marks, counted from 1 (negative).
	children []int32
}

// mark is a piece of an element: the marked content that has the given ID on the given page.
type mark struct{ page, id int32 }

// structure collects the elements of the document's logical structure while pages are drawn.
type structure struct {
	elements []element // the first is the document
	current  int
	// marked is the page with an open mark, or 0 if none is open.
	marked int
	// artifact is set while decoration, such as a footer, is being drawn.
	artifact bool
	// owners holds, for each page from 1, the element of each of its marks, by mark ID.
	owners [][]int32
}

func newStructure() structure {
	return structure{elements: []element{{kind: "Document", parent: -1}}, owners: make([][]int32, 1)}
}

// addElement adds an element to the current one and returns its index. alt describes a picture; for other elements,
// it is "".
func (p *pdfWriter) addElement(kind, alt string) int {
	t := &p.tags
	n := len(t.elements)
	t.elements = append(t.elements, element{kind: kind, alt: alt, parent: int32(t.current)})
	t.elements[t.current].children = append(t.elements[t.current].children, int32(n))
	return n
}

// tag calls draw and puts everything that it draws into a new element.
func (p *pdfWriter) tag(kind, alt string, draw func()) {
	if p.tags.artifact {
		draw()
		return
	}
	p.drawInElement(p.addElement(kind, alt), draw)
}

// drawInElement calls draw and adds everything that it draws to an element.
func (p *pdfWriter) drawInElement(element int, draw func()) {
	before := p.tags.current
	p.endMark()
	p.tags.current = element
	draw()
	p.endMark()
	p.tags.current = before
}

// asArtifact calls draw and marks everything that it draws as decoration, which screen readers skip.
func (p *pdfWriter) asArtifact(draw func()) {
	if p.tags.artifact {
		draw()
		return
	}
	p.endMark()
	p.file.RawWriteStr("/Artifact BMC")
	p.tags.artifact = true
	draw()
	p.tags.artifact = false
	p.file.RawWriteStr("EMC")
}

// startMark begins a new piece of the current element, unless a piece has already been begun. Text outside of any
// element becomes a paragraph.
func (p *pdfWriter) startMark() {
	t := &p.tags
	if t.artifact || t.marked > 0 {
		return
	}
	at := t.current
	if groupingKinds[t.elements[at].kind] {
		at = p.addElement("P", "")
	}
	page := p.file.PageNo()
	for len(t.owners) <= page {
		t.owners = append(t.owners, nil)
	}
	id := len(t.owners[page])
	t.owners[page] = append(t.owners[page], int32(at))
	e := &t.elements[at]
	e.marks = append(e.marks, mark{int32(page), int32(id)})
	e.children = append(e.children, -int32(len(e.marks)))
	p.file.RawWriteStr("/" + e.kind + " <</MCID " + strconv.Itoa(id) + ">> BDC")
	t.marked = page
}

func (p *pdfWriter) endMark() {
	if p.tags.marked > 0 {
		p.file.RawWriteStr("EMC")
		p.tags.marked = 0
	}
}

// groupingKinds are the kinds of elements that contain only other elements.
var groupingKinds = map[string]bool{"Document": true, "Table": true, "TR": true, "L": true, "LI": true, "BlockQuote": true, "Div": true}

// writeTagged writes a finished file together with its structure. The output consists of the file up to its
// cross-reference table, new versions of the pages and the catalog, the elements, and a cross-reference stream for
// all objects.
func (t *structure) writeTagged(w io.Writer, file []byte) error {
	offsets, end, root, info, err := readCrossReferences(file)
	if err != nil {
		return err
	}
	x := updater{base: end, offsets: offsets, packed: map[int][2]int{}}
	if x.zip, err = zlib.NewWriterLevel(&x.zipped, zlib.BestSpeed); err != nil {
		return err
	}
	object := func(n int) ([]byte, error) {
		from := offsets[n]
		to := bytes.Index(file[from:], []byte("endobj"))
		start := bytes.Index(file[from:], []byte("<<"))
		if to < 0 || start < 0 || start > to {
			return nil, fmt.Errorf("object %d of the report was not found", n)
		}
		return bytes.TrimSpace(file[from+start : from+to]), nil
	}
	with := func(n int, entries string) error {
		b, err := object(n)
		if err != nil {
			return err
		}
		x.put(n, append(bytes.TrimSuffix(bytes.Clone(b), []byte(">>")), entries+">>"...))
		return nil
	}
	pages := len(t.owners) - 1
	for n := 1; n <= pages; n++ {
		if err := with(pageObject(n), fmt.Sprintf("\n/StructParents %d\n/Tabs /S", n)); err != nil {
			return err
		}
	}
	treeRoot := len(offsets)
	parents := treeRoot + 1
	first := parents + 1 // object number of the first element
	catalog := fmt.Sprintf("\n/Version /1.7\n/MarkInfo <</Marked true>>\n/ViewerPreferences <</DisplayDocTitle true>>\n/StructTreeRoot %d 0 R", treeRoot)
	if err := with(root, catalog); err != nil {
		return err
	}
	x.offsets = append(x.offsets, make([]int, 2+len(t.elements))...)
	x.addToObjectStream(treeRoot, fmt.Sprintf("<</Type /StructTreeRoot /K %d 0 R /ParentTree %d 0 R>>", first, parents))
	var b strings.Builder
	b.WriteString("<</Nums [")
	for n := 1; n <= pages; n++ {
		fmt.Fprintf(&b, "%d [", n)
		for _, e := range t.owners[n] {
			fmt.Fprintf(&b, "%d 0 R ", first+int(e))
		}
		b.WriteString("]")
	}
	x.addToObjectStream(parents, b.String()+"]>>")
	for n := range t.elements {
		x.addToObjectStream(first+n, t.describe(n, treeRoot, first))
	}
	x.flushPacked()
	if x.err != nil {
		return x.err
	}
	if err := x.writeCrossReferences(root, info); err != nil {
		return err
	}
	if _, err := w.Write(file[:end]); err != nil {
		return err
	}
	_, err = w.Write(x.out)
	return err
}

// describe returns the PDF object of an element.
func (t *structure) describe(n, treeRoot, first int) string {
	e := &t.elements[n]
	parent := treeRoot
	if e.parent >= 0 {
		parent = first + int(e.parent)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<</S /%s /P %d 0 R", e.kind, parent)
	if len(e.marks) > 0 {
		fmt.Fprintf(&b, " /Pg %d 0 R", pageObject(int(e.marks[0].page)))
	}
	if e.alt != "" {
		b.WriteString(" /Alt " + textString(e.alt))
	}
	if len(e.children) > 0 {
		b.WriteString(" /K [")
		for _, c := range e.children {
			switch {
			case c > 0:
				fmt.Fprintf(&b, "%d 0 R ", first+int(c))
			case e.marks[-c-1].page == e.marks[0].page:
				fmt.Fprintf(&b, "%d ", e.marks[-c-1].id)
			default:
				m := e.marks[-c-1]
				fmt.Fprintf(&b, "<</Type /MCR /Pg %d 0 R /MCID %d>> ", pageObject(int(m.page)), m.id)
			}
		}
		b.WriteString("]")
	}
	return b.String() + ">>"
}

// pageObject returns the number of the object in which the library writes a page.
func pageObject(page int) int { return 1 + 2*page }

// textString returns a text as a hexadecimal string in UTF-16.
func textString(s string) string {
	var b strings.Builder
	b.WriteString("<FEFF")
	for _, u := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, "%04X", u)
	}
	return b.String() + ">"
}

// readCrossReferences returns the offsets of a file's objects by object number, the position of its
// cross-reference table, and the object numbers of the catalog and the properties.
func readCrossReferences(file []byte) (offsets []int, end, root, info int, err error) {
	at := bytes.LastIndex(file, []byte("startxref\n"))
	if at < 0 {
		return nil, 0, 0, 0, errors.New("the report has no cross-reference table")
	}
	if _, err := fmt.Sscanf(string(file[at:]), "startxref\n%d", &end); err != nil || end < 0 || end > at {
		return nil, 0, 0, 0, fmt.Errorf("find the report's cross-reference table: %w", err)
	}
	lines := strings.Split(string(file[end:at]), "\n")
	size := 0
	if len(lines) < 3 {
		return nil, 0, 0, 0, errors.New("the report's cross-reference table is truncated")
	}
	if _, err := fmt.Sscanf(lines[1], "0 %d", &size); err != nil || size < 1 || len(lines) < size+2 {
		return nil, 0, 0, 0, errors.New("the report's cross-reference table is truncated")
	}
	offsets = make([]int, size)
	for n := 1; n < size; n++ {
		if offsets[n], err = strconv.Atoi(lines[n+2][:10]); err != nil {
			return nil, 0, 0, 0, fmt.Errorf("read the report's cross-reference table: %w", err)
		}
	}
	for _, l := range lines[size+2:] {
		_, _ = fmt.Sscanf(l, "/Root %d 0 R", &root)
		_, _ = fmt.Sscanf(l, "/Info %d 0 R", &info)
	}
	if root == 0 || info == 0 || root >= size {
		return nil, 0, 0, 0, errors.New("the report has no catalog")
	}
	return offsets, end, root, info, nil
}

// updater appends objects to a PDF file. Small objects are packed into compressed streams.
type updater struct {
	base    int // size of the file before out
	out     []byte
	offsets []int          // by object number; 0 for packed objects
	packed  map[int][2]int // the stream of each packed object and its index in the stream
	numbers []int          // of the objects waiting to be packed
	texts   []string
	zip     *zlib.Writer
	zipped  bytes.Buffer
	err     error
}

// maxPacked is the maximum number of objects in an object stream.
const maxPacked = 1000

// put writes an object to the file.
func (x *updater) put(n int, object []byte) {
	x.offsets[n] = x.base + len(x.out)
	x.out = append(x.out, fmt.Sprintf("%d 0 obj\n", n)...)
	x.out = append(append(x.out, object...), "\nendobj\n"...)
}

// addToObjectStream adds an object to the current object stream, which is compressed.
func (x *updater) addToObjectStream(n int, object string) {
	x.numbers, x.texts = append(x.numbers, n), append(x.texts, object)
	if len(x.numbers) == maxPacked {
		x.flushPacked()
	}
}

// flushPacked writes the current object stream.
func (x *updater) flushPacked() {
	if len(x.numbers) == 0 {
		return
	}
	stream := len(x.offsets)
	x.offsets = append(x.offsets, 0)
	var head, body strings.Builder
	for i, n := range x.numbers {
		x.packed[n] = [2]int{stream, i}
		fmt.Fprintf(&head, "%d %d ", n, body.Len())
		body.WriteString(x.texts[i] + "\n")
	}
	x.putStream(stream, fmt.Sprintf("/Type /ObjStm /N %d /First %d", len(x.numbers), head.Len()), []byte(head.String()+body.String()))
	x.numbers, x.texts = x.numbers[:0], x.texts[:0]
}

func (x *updater) putStream(n int, entries string, data []byte) {
	x.zipped.Reset()
	x.zip.Reset(&x.zipped)
	_, err := x.zip.Write(data)
	x.err = errors.Join(x.err, err, x.zip.Close())
	b := x.zipped.Bytes()
	x.put(n, fmt.Appendf(nil, "<<%s /Filter /FlateDecode /Length %d>>\nstream\n%s\nendstream", entries, len(b), b))
}

// writeCrossReferences writes the cross-reference stream and the end of the file.
func (x *updater) writeCrossReferences(root, info int) error {
	self, at := len(x.offsets), x.base+len(x.out)
	x.offsets = append(x.offsets, at)
	var rows []byte
	for n, offset := range x.offsets {
		kind, second, third := byte(1), offset, 0
		if place, ok := x.packed[n]; ok {
			kind, second, third = 2, place[0], place[1]
		} else if n == 0 {
			kind, third = 0, 65535
		}
		rows = append(rows, kind)
		rows = binary.BigEndian.AppendUint32(rows, uint32(second)) // reports are at most 512 MiB
		rows = binary.BigEndian.AppendUint16(rows, uint16(third))  // at most maxPacked, or 65535
	}
	x.putStream(self, fmt.Sprintf("/Type /XRef /Size %d /W [1 4 2] /Root %d 0 R /Info %d 0 R", len(x.offsets), root, info), rows)
	x.out = fmt.Appendf(x.out, "startxref\n%d\n%%%%EOF\n", at)
	return x.err
}
