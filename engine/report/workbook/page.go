package workbook

import (
	"bytes"
	"fmt"
	"image"
	_ "image/png" // a logo is one
	"math"

	"github.com/xuri/excelize/v2"
)

// Line is a row of a sheet that is written freely.
type Line struct {
	Cells []Said
	// Wide lets the first cell have all columns.
	Wide bool
}

// Said is a cell of such a row.
type Said struct {
	Text   string
	Number *float64
	// Date shows the number as a day.
	Date bool
	Look Look
}

// Look is how a cell is set.
type Look int

// The looks.
const (
	AsText Look = iota
	AsTitle
	AsHeading
	AsLabel
	AsLead
	AsStrong
	AsMono
	AsHead
	AsMark
)

func (b *Book) look(l Look) int {
	return [...]int{b.style.text, b.style.title, b.style.heading, b.style.label, b.style.lead, b.style.strong, b.style.mono, b.style.head, b.style.mark}[l]
}

// Page writes a sheet of lines, with a column for each width.
func (b *Book) Page(name string, widths []float64, lines []Line) error {
	name, err := b.add(name)
	if err != nil {
		return err
	}
	return b.pageOf(name, widths, lines)
}

// Cover writes a page with the logo above it.
func (b *Book) Cover(name string, widths []float64, lines []Line) error {
	name, err := b.add(name)
	if err != nil {
		return err
	}
	if len(b.about.Logo) > 0 {
		if err := b.logo(name); err != nil {
			return fmt.Errorf("the logo: %w", err)
		}
		lines = append(make([]Line, int(math.Ceil(b.about.LogoHeight/rowPixels))+1), lines...)
	}
	return b.pageOf(name, widths, lines)
}

// rowPixels is how high a row of one line is.
const rowPixels = 20.0

func (b *Book) logo(sheet string) error {
	cfg, _, err := image.DecodeConfig(bytes.NewReader(b.about.Logo))
	if err != nil {
		return err
	}
	return b.file.AddPictureFromBytes(sheet, "A1", &excelize.Picture{Extension: ".png", File: b.about.Logo, Format: &excelize.GraphicOptions{
		AltText: "Logo", OffsetX: 4, OffsetY: 4, ScaleX: b.about.LogoWidth / float64(cfg.Width), ScaleY: b.about.LogoHeight / float64(cfg.Height), LockAspectRatio: true, Positioning: "oneCell"}})
}

func (b *Book) pageOf(name string, widths []float64, lines []Line) error {
	for i := range widths {
		widths[i] = max(widths[i], 14)
	}
	whole := 0.0
	for _, w := range widths {
		whole += w
	}
	var joined []int
	for n, line := range lines {
		if line.Wide && len(widths) > 1 {
			joined = append(joined, n+1)
		}
	}
	return b.stream(name, widths, pane{joined: joined}, func(put func(height float64, cells ...any) error) error {
		for n, line := range lines {
			cells, height := make([]any, 0, len(line.Cells)), 1.0
			size := lineHeight
			for i, s := range line.Cells {
				width := whole
				if !line.Wide && i < len(widths) {
					width = widths[i]
				}
				if s.Number != nil && !math.IsNaN(*s.Number) && !math.IsInf(*s.Number, 0) {
					look := b.style.number
					if s.Date {
						look = b.style.date
					}
					cells = append(cells, b.cell(look, *s.Number))
					continue
				}
				if s.Look == AsTitle || s.Look == AsMark || s.Look == AsHeading {
					size = 22
				}
				text := b.text(s.Text, name, place(i+1, n+1))
				height = max(height, linesIn(text, width))
				cells = append(cells, b.cell(b.look(s.Look), text))
			}
			if err := put(math.Min(height, 26)*size, cells...); err != nil {
				return err
			}
		}
		return nil
	})
}
