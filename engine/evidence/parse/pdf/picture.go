package pdf

import (
	"bytes"
	"fmt"
	"math"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/text"
)

const (
	minPicture = 40 // minimum side length, in points, of an image that may show more than a logo
	// maxCaption is the maximum number of words of text on an image; an image with more is a background or a scan.
	maxCaption = 2
)

// pictureFinder finds the images of a document that may show text. An image at the same position on
// several pages is found only once.
type pictureFinder map[[4]int]bool

// pagePictures are the images on a page that also has a text layer.
type pagePictures struct {
	number        int
	width, height float64 // of the page
	boxes         []box
}

// find returns the large pictures on a page that have no words on them. It skips pictures that were also on an earlier
// page.
func (f pictureFinder) find(p *pageContent) pagePictures {
	out := pagePictures{number: p.number, width: p.w, height: p.h}
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
		if words <= maxCaption && !f[key] {
			out.boxes = append(out.boxes, b)
		}
		f[key] = true
	}
	return out
}

// readPictures returns the text in images, rendered as they appear on the page. Images whose text
// can't be recognized are counted as unread.
func readPictures(b *document.Builder, doc engineDocument, pages []pagePictures) (found []document.Block, err error) {
	for _, p := range pages {
		at := api.Locator{Page: p.number}
		var drawn []byte
		if b.HasOCR() && len(p.boxes) > 0 {
			if drawn, err = doc.renderPage(p.number); err != nil {
				return nil, err
			}
		}
		for _, box := range p.boxes {
			for _, paragraph := range text.ReadPicture(b, cutOut(drawn, p, box), at) {
				found = append(found, document.Block{Kind: document.Paragraph, Text: paragraph, Locator: at})
			}
		}
		if b.Err() != nil {
			return nil, b.Err()
		}
	}
	return found, nil
}

// cutOut returns a part of a rendered page as a PNM file, or nil if the part is empty.
func cutOut(drawn []byte, p pagePictures, part box) []byte {
	var width, height, depth int
	if _, err := fmt.Fscanf(bytes.NewReader(drawn), "P5\n%d %d\n%d\n", &width, &height, &depth); err != nil {
		return nil
	}
	pixels := drawn[len(drawn)-width*height:]
	pixel := func(at, points float64, side int) int { return min(max(int(at/points*float64(side)), 0), side) }
	x0, x1 := pixel(part.x0, p.width, width), pixel(part.x1, p.width, width)
	y0, y1 := pixel(part.y0, p.height, height), pixel(part.y1, p.height, height)
	if x0 >= x1 || y0 >= y1 {
		return nil
	}
	out := fmt.Appendf(make([]byte, 0, (x1-x0)*(y1-y0)+32), "P5\n%d %d\n255\n", x1-x0, y1-y0)
	for y := y0; y < y1; y++ {
		out = append(out, pixels[y*width+x0:y*width+x1]...)
	}
	return out
}

// joinStrips joins the strips of images that a program has cut into strips.
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
