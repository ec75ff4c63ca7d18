package pdf

import (
	"math"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/parse/document"
)

const (
	minPicture = 40 // points of the sides of an image that may show more than a logo
	// maxCaption is the number of words of text on an image; one with more is a background or a scan.
	maxCaption = 2
)

// pictureCounter counts the images of a document that were not read. One that is at the same place on several pages is
// counted once.
type pictureCounter map[[4]int]bool

func (c pictureCounter) count(d *document.Document, p *pageContent) {
	n := 0
	for _, b := range joinStrips(p.pictures) {
		if b.height() < minPicture || b.x1-b.x0 < minPicture {
			continue
		}
		key := [4]int{int(math.Round(b.x0)), int(math.Round(b.y0)), int(math.Round(b.x1)), int(math.Round(b.y1))}
		words := 0
		for _, w := range p.words {
			if b.contains(w) {
				words++
			}
		}
		if words <= maxCaption && !c[key] {
			n++
		}
		c[key] = true
	}
	d.AddNotRead(api.UnreadPicture, n, api.Locator{Page: p.number})
}

// joinStrips joins an image that a program cut into strips.
func joinStrips(images []box) []box {
	var out []box
	for _, b := range images {
		if n := len(out); n > 0 && math.Abs(out[n-1].x0-b.x0) < 1 && math.Abs(out[n-1].x1-b.x1) < 1 &&
			(math.Abs(out[n-1].y1-b.y0) < 1 || math.Abs(out[n-1].y0-b.y1) < 1) {
			out[n-1] = out[n-1].union(b)
			continue
		}
		out = append(out, b)
	}
	return out
}
