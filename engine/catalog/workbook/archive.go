package workbook

import (
	"archive/zip"
	"encoding/xml"
	"fmt"
	"io"
	"path"
	"strings"
)

// sheetPart is a worksheet's name in the workbook and its path in the archive.
type sheetPart struct{ name, path string }

// inspectArchive checks, before anything is unpacked, that the file is a workbook and that the sizes declared
// in it are within the limits. It returns the worksheets.
func inspectArchive(r io.ReaderAt, size int64, limits Limits) (sheets []sheetPart, warnings []string, err error) {
	if size > limits.File {
		return nil, nil, readErrorf(ErrTooLarge, "", "", "the file has %d bytes, which exceeds the limit of %d", size, limits.File)
	}
	var head [8]byte
	n, _ := r.ReadAt(head[:], 0)
	if string(head[:n]) == "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" {
		return nil, nil, readErrorf(ErrNotWorkbook, "", "",
			"the file is password-protected or an old .xls file; open it and save it as .xlsx without a password")
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, nil, readErrorf(ErrNotWorkbook, "", "", "the file is not an .xlsx workbook: %v", err)
	}
	if len(z.File) > limits.Parts {
		return nil, nil, readErrorf(ErrTooLarge, "", "", "the workbook file has %d parts; the limit is %d", len(z.File), limits.Parts)
	}
	var total uint64
	files := make(map[string]*zip.File, len(z.File))
	for _, f := range z.File {
		total += f.UncompressedSize64
		if f.UncompressedSize64 > uint64(limits.Unpacked) || total > uint64(limits.Unpacked) {
			return nil, nil, readErrorf(ErrTooLarge, "", "",
				"the workbook is too large for a catalog; it unpacks to more than %d bytes (part %s)", limits.Unpacked, f.Name)
		}
		name := strings.ToLower(strings.ReplaceAll(f.Name, `\`, "/"))
		if _, duplicate := files[name]; duplicate {
			return nil, nil, readErrorf(ErrDamaged, "", "", "the workbook file has two parts named %s", f.Name)
		}
		files[name] = f
		if f.UncompressedSize64 > maxStructurePart && isStructurePart(name) {
			return nil, nil, readErrorf(ErrTooLarge, "", "", "the workbook's part %s is too large for a catalog (%d bytes)",
				f.Name, f.UncompressedSize64)
		}
		switch {
		case strings.HasSuffix(name, "vbaproject.bin"):
			warnings = append(warnings, "the workbook contains macros; they were ignored")
		case strings.HasPrefix(name, "xl/externallinks/") && strings.HasSuffix(name, ".xml"):
			warnings = append(warnings, fmt.Sprintf("the workbook links to other files (%s); the links were ignored", path.Base(f.Name)))
		}
	}
	book := files["xl/workbook.xml"]
	if book == nil {
		return nil, nil, readErrorf(ErrNotWorkbook, "", "", "the file is a zip archive but not an .xlsx workbook: xl/workbook.xml is missing")
	}
	sheets, err = listSheets(book, files["xl/_rels/workbook.xml.rels"], limits)
	return sheets, warnings, err
}

// maxStructurePart is the maximum size of a part that describes the structure of the workbook. Such parts are
// read completely.
const maxStructurePart = 4 << 20

// isStructurePart reports whether the part with the given name describes the structure of the workbook. The
// name must be in lower case.
func isStructurePart(name string) bool {
	return name == "[content_types].xml" || name == "xl/workbook.xml" || name == "xl/styles.xml" ||
		strings.HasPrefix(name, "xl/theme/") || strings.HasSuffix(name, ".rels")
}

func listSheets(book, rels *zip.File, limits Limits) ([]sheetPart, error) {
	var relations struct {
		List []struct {
			ID     string `xml:"Id,attr"`
			Target string `xml:"Target,attr"`
			Type   string `xml:"Type,attr"`
		} `xml:"Relationship"`
	}
	if rels == nil {
		return nil, readErrorf(ErrDamaged, "", "", "the workbook's list of sheets is missing")
	}
	if err := decodePart(rels, &relations); err != nil {
		return nil, err
	}
	target := map[string]string{}
	for _, rel := range relations.List {
		if strings.HasSuffix(rel.Type, "/worksheet") { // charts and dialogs are sheets too
			p := strings.TrimPrefix(path.Join("/xl", rel.Target), "/")
			if strings.HasPrefix(rel.Target, "/") {
				p = strings.TrimPrefix(path.Clean(rel.Target), "/")
			}
			target[rel.ID] = p
		}
	}
	var workbook struct {
		Sheets []struct {
			Name  string     `xml:"name,attr"`
			Attrs []xml.Attr `xml:",any,attr"`
		} `xml:"sheets>sheet"`
	}
	if err := decodePart(book, &workbook); err != nil {
		return nil, err
	}
	if len(workbook.Sheets) > limits.Sheets {
		return nil, readErrorf(ErrTooLarge, "", "", "the workbook has %d sheets; the limit is %d", len(workbook.Sheets), limits.Sheets)
	}
	var sheets []sheetPart
	seen := map[string]bool{}
	for _, s := range workbook.Sheets {
		if lower := strings.ToLower(s.Name); seen[lower] {
			return nil, readErrorf(ErrDamaged, s.Name, "", "the workbook has two sheets with this name")
		} else {
			seen[lower] = true
		}
		for _, a := range s.Attrs {
			if p, ok := target[a.Value]; ok && a.Name.Local == "id" {
				sheets = append(sheets, sheetPart{s.Name, p})
			}
		}
	}
	return sheets, nil
}

// decodePart decodes the XML in a part (a file) of the archive.
func decodePart(f *zip.File, into any) error {
	r, err := f.Open()
	if err != nil {
		return readErrorf(ErrDamaged, "", "", "the workbook's part %s can't be unpacked: %v", f.Name, err)
	}
	defer r.Close()
	if err := xml.NewDecoder(io.LimitReader(r, maxStructurePart)).Decode(into); err != nil {
		return readErrorf(ErrDamaged, "", "", "the workbook's part %s can't be read: %v", f.Name, err)
	}
	return nil
}
