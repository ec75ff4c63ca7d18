package main

import (
	"bytes"
	"fmt"

	"codeberg.org/go-pdf/fpdf"
)

// Millimeters on A4.
const (
	pdfMargin     = 22.0
	pdfWidth      = 210 - 2*pdfMargin
	pdfLineHeight = 5.2
	pdfRowHeight  = 4.5
	pdfIndent     = 7.0
	pdfBottom     = 297 - 24.0
)

// pdfPage draws blocks from the top of the page down.
type pdfPage struct {
	*fpdf.Fpdf
	toCodePage func(string) string // converts to the code page of the built-in fonts
}

// writePDF returns a PDF with bookmarks for its headings and page numbers. It uses only built-in
// fonts and uncompressed streams, so that the bytes do not depend on a compressor's version.
func writePDF(doc *document) ([]byte, error) {
	f := fpdf.New("P", "mm", "A4", "")
	p := &pdfPage{f, f.UnicodeTranslatorFromDescriptor("")}
	p.SetCompression(false)
	p.SetCatalogSort(true)
	p.SetCreationDate(doc.date)
	p.SetModificationDate(doc.date)
	p.SetTitle(doc.title, true)
	p.SetAuthor(doc.author, true)
	p.SetMargins(pdfMargin, 20, pdfMargin)
	p.SetAutoPageBreak(true, 24)
	p.AliasNbPages("")
	p.SetFooterFunc(func() {
		p.SetY(-16)
		p.SetFont("Helvetica", "", 8)
		p.SetTextColor(91, 103, 112)
		p.CellFormat(pdfWidth-30, 5, p.toCodePage(doc.footer), "T", 0, "L", false, 0, "")
		p.CellFormat(30, 5, fmt.Sprintf("Page %d of {nb}", p.PageNo()), "T", 0, "R", false, 0, "")
		p.SetTextColor(0, 0, 0)
	})
	p.AddPage()
	for _, b := range doc.blocks {
		p.drawBlock(b)
	}
	var buf bytes.Buffer
	if err := p.Output(&buf); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

func (p *pdfPage) drawBlock(b block) {
	switch b.kind {
	case kindHeading:
		p.drawHeading(b)
	case kindParagraph:
		p.drawText(b.text)
		p.Ln(pdfLineHeight + 2)
	case kindBullets, kindNumbers:
		for i, item := range b.items {
			mark := "•"
			if b.kind == kindNumbers {
				mark = fmt.Sprintf("%d.", i+1)
			}
			p.drawListItem(mark, item)
		}
		p.Ln(1.5)
	case kindTable:
		p.drawTable(b.rows)
	}
}

func (p *pdfPage) drawHeading(b block) {
	size := map[int]float64{1: 19, 2: 13, 3: 11}[b.level]
	p.ensureSpace(32) // keeps a heading with some lines of its text
	if b.level > 1 {
		p.Ln(2)
	}
	p.Bookmark(b.text, b.level-1, -1)
	p.SetFont("Helvetica", "B", size)
	p.SetTextColor(31, 59, 87)
	p.MultiCell(pdfWidth, size*0.48, p.toCodePage(b.text), "", "L", false)
	p.SetTextColor(0, 0, 0)
	p.Ln(2)
}

// drawText writes text at the current position, bold where marked.
func (p *pdfPage) drawText(text string) {
	for _, s := range splitSpans(text) {
		weight := ""
		if s.bold {
			weight = "B"
		}
		p.SetFont("Helvetica", weight, 10)
		p.Write(pdfLineHeight, p.toCodePage(s.text))
	}
}

func (p *pdfPage) drawListItem(mark, text string) {
	p.ensureSpace(pdfLineHeight)
	p.SetFont("Helvetica", "", 10)
	p.CellFormat(pdfIndent, pdfLineHeight, p.toCodePage(mark), "", 0, "L", false, 0, "")
	p.SetLeftMargin(pdfMargin + pdfIndent)
	p.drawText(text)
	p.SetLeftMargin(pdfMargin)
	p.Ln(pdfLineHeight + 0.8)
}

// drawTable draws rows that are never split across pages, repeating the header on each page.
func (p *pdfPage) drawTable(rows [][]string) {
	widths := columnWidths(rows, pdfWidth)
	p.SetDrawColor(191, 199, 209)
	for i, cells := range rows {
		lines, height := p.wrapCells(cells, widths, i == 0)
		if p.GetY()+height > pdfBottom {
			p.AddPage()
			if i > 0 {
				head, h := p.wrapCells(rows[0], widths, true)
				p.drawRow(head, widths, h, true)
				p.setTableFont(false)
			}
		}
		p.drawRow(lines, widths, height, i == 0)
	}
	p.Ln(4)
}

// wrapCells breaks each cell into lines that fit its column and returns the row's height.
func (p *pdfPage) wrapCells(cells []string, widths []float64, header bool) (lines [][]string, height float64) {
	p.setTableFont(header)
	most := 1
	for col, text := range cells {
		var cell []string
		for _, line := range p.SplitLines([]byte(p.toCodePage(stripMarks(text))), widths[col]-1) {
			cell = append(cell, string(line))
		}
		lines = append(lines, cell)
		most = max(most, len(cell))
	}
	return lines, float64(most)*pdfRowHeight + 1.6
}

func (p *pdfPage) drawRow(lines [][]string, widths []float64, height float64, header bool) {
	p.setTableFont(header)
	p.SetFillColor(220, 228, 236)
	x, y := pdfMargin, p.GetY()
	style := "D"
	if header {
		style = "DF"
	}
	for col, cell := range lines {
		p.Rect(x, y, widths[col], height, style)
		for i, line := range cell {
			p.SetXY(x, y+0.8+float64(i)*pdfRowHeight)
			p.CellFormat(widths[col], pdfRowHeight, line, "", 0, "L", false, 0, "")
		}
		x += widths[col]
	}
	p.SetXY(pdfMargin, y+height)
}

func (p *pdfPage) setTableFont(header bool) {
	weight := ""
	if header {
		weight = "B"
	}
	p.SetFont("Helvetica", weight, 8.5)
}

// ensureSpace starts a new page if less than height is left.
func (p *pdfPage) ensureSpace(height float64) {
	if p.GetY()+height > pdfBottom {
		p.AddPage()
	}
}
