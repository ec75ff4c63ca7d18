package workbook

import (
	"bytes"
	"fmt"
	"image"
	_ "image/png" // for PNG logos
	"math"

	"github.com/xuri/excelize/v2"
)

// Line is a row of a sheet that has no layout.
type Line struct {
	Cells []Cell
	// Merged makes the first cell span all columns.
	Merged bool
}

// Cell is a cell of a sheet that has no layout.
type Cell struct {
	Text   string
	Number *float64
	// IsDate formats the number as a date.
	IsDate bool
	Style  CellStyle
}

// CellStyle is the style of a cell.
type CellStyle int

// Styles of cells.
const (
	StyleText CellStyle = iota
	StyleTitle
	StyleHeading
	StyleLabel
	StyleLead
	StyleStrong
	StyleMono
	StyleHead
	StyleMark
)

func (b *Writer) styleID(l CellStyle) int {
	return [...]int{
		b.styles.text, b.styles.title, b.styles.heading, b.styles.label, b.styles.lead,
		b.styles.strong, b.styles.mono, b.styles.head, b.styles.mark,
	}[l]
}

// AddLinesSheet adds a sheet that consists of the given lines and has the given column widths.
func (b *Writer) AddLinesSheet(name string, widths []float64, lines []Line) error {
	name, err := b.addSheet(name)
	if err != nil {
		return err
	}
	return b.writeLines(name, widths, lines)
}

// AddCoverSheet adds a sheet with the logo at the top and the given lines below it.
func (b *Writer) AddCoverSheet(name string, widths []float64, lines []Line) error {
	name, err := b.addSheet(name)
	if err != nil {
		return err
	}
	if len(b.properties.Logo) > 0 {
		if err := b.addLogo(name); err != nil {
			return fmt.Errorf("the logo: %w", err)
		}
		lines = append(make([]Line, int(math.Ceil(b.properties.LogoHeight/rowPixels))+1), lines...)
	}
	return b.writeLines(name, widths, lines)
}

// rowPixels is the height in pixels of a row with a single line.
const rowPixels = 20.0

func (b *Writer) addLogo(sheet string) error {
	cfg, _, err := image.DecodeConfig(bytes.NewReader(b.properties.Logo))
	if err != nil {
		return err
	}
	return b.file.AddPictureFromBytes(
		sheet,
		"A1",
		&excelize.Picture{Extension: ".png", File: b.properties.Logo, Format: &excelize.GraphicOptions{
			AltText:         "Logo",
			OffsetX:         4,
			OffsetY:         4,
			ScaleX:          b.properties.LogoWidth / float64(cfg.Width),
			ScaleY:          b.properties.LogoHeight / float64(cfg.Height),
			LockAspectRatio: true,
			Positioning:     "oneCell",
		}},
	)
}

func (b *Writer) writeLines(name string, widths []float64, lines []Line) error {
	for i := range widths {
		widths[i] = max(widths[i], 14)
	}
	total := 0.0
	for _, w := range widths {
		total += w
	}
	var joined []int
	for n, line := range lines {
		if line.Merged && len(widths) > 1 {
			joined = append(joined, n+1)
		}
	}
	return b.streamRows(name, widths, sheetPanes{mergedRows: joined}, func(put func(height float64, cells ...any) error) error {
		for n, line := range lines {
			cells, height := make([]any, 0, len(line.Cells)), 1.0
			size := lineHeight
			for i, s := range line.Cells {
				width := total
				if !line.Merged && i < len(widths) {
					width = widths[i]
				}
				if s.Number != nil && !math.IsNaN(*s.Number) && !math.IsInf(*s.Number, 0) {
					look := b.styles.number
					if s.IsDate {
						look = b.styles.date
					}
					cells = append(cells, b.newCell(look, *s.Number))
					continue
				}
				if s.Style == StyleTitle || s.Style == StyleMark || s.Style == StyleHeading {
					size = 22
				}
				text := b.fitTextOrOverflow(s.Text, name, cellName(i+1, n+1))
				height = max(height, countWrappedLines(text, width))
				cells = append(cells, b.newCell(b.styleID(s.Style), text))
			}
			if err := put(math.Min(height, 26)*size, cells...); err != nil {
				return err
			}
		}
		return nil
	})
}
