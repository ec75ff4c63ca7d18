package document

import (
	"bytes"
	"context"
	"crypto/sha256"
	"image"
	"strings"
	"unicode"
	"unicode/utf8"
)

// OCR recognizes the text in one image, as plain text.
type OCR interface {
	// RecognizeText returns the text in an image (PNG, JPEG, TIFF, GIF, BMP, WebP or PNM); pages of
	// a TIFF are separated by form feeds. It stops when ctx ends.
	RecognizeText(ctx context.Context, picture []byte) (string, error)
}

const (
	// InstallOCRHint tells the user what to do if an image can't be read.
	InstallOCRHint = "install Tesseract to have text in images read, or add a version of the document that contains text"
	// RecognizedWarning is the warning for documents whose text was partly recognized from images.
	RecognizedWarning = "Text was recognized in images (OCR); letters and digits may be wrong. Compare quotes with the original."
)

// HasOCR reports whether text in images can be recognized.
func (b *Builder) HasOCR() bool { return b.opt.OCR != nil }

// RecognizeText returns the text in an image. It extends the document's time limit to the one for OCR.
func (b *Builder) RecognizeText(picture []byte) (string, error) {
	if b.opt.ExtendDeadline != nil {
		b.opt.ExtendDeadline()
	}
	return b.opt.OCR.RecognizeText(b.ctx, picture)
}

// Limits for pictures in a document. Smaller pictures are logos and icons.
const (
	maxPictures    = 200
	minPictureSide = 24     // pixels
	minPictureArea = 10_000 // pixels
	maxPictureArea = 100 << 20
	minWords       = 2 // minimum number of words in recognized text; less is noise
)

// recognizedPictures records, by hash, whether text was found in the pictures of a document.
type recognizedPictures map[[sha256.Size]byte]bool

// RecognizePicture looks for text in a picture of the document. isRead reports whether text was
// found. If the same picture occurs again, isRead is the same, but the text isn't returned again.
func (b *Builder) RecognizePicture(picture []byte) (text string, isRead bool) {
	if !b.HasOCR() || len(picture) == 0 || b.err != nil {
		return "", false
	}
	if c, _, err := image.DecodeConfig(bytes.NewReader(picture)); err == nil &&
		(min(c.Width, c.Height) < minPictureSide || c.Width*c.Height < minPictureArea || c.Width*c.Height > maxPictureArea) {
		return "", false
	}
	sum := sha256.Sum256(picture)
	if isRead, ok := b.budget.pictures[sum]; ok || len(b.budget.pictures) >= maxPictures {
		return "", isRead
	}
	text, err := b.RecognizeText(picture)
	if b.err = b.ctx.Err(); b.err != nil {
		return "", false
	}
	words := 0
	for word := range strings.FieldsSeq(text) {
		if strings.ContainsFunc(word, unicode.IsLetter) && utf8.RuneCountInString(word) > 1 {
			words++
		}
	}
	isRead = err == nil && words >= minWords
	if b.budget.pictures[sum] = isRead; !isRead {
		return "", false
	}
	b.Warn("%s", RecognizedWarning)
	return text, true
}
