package document

import "context"

// OCR recognizes the text in one image, as plain text.
type OCR interface {
	// RecognizeText returns the text in an image (PNG, JPEG, TIFF, GIF, BMP, WebP or PNM); pages of
	// a TIFF are separated by form feeds. It stops when ctx ends.
	RecognizeText(ctx context.Context, picture []byte) (string, error)
}

const (
	// InstallOCRHint tells the user what to do if an image can't be read.
	InstallOCRHint = "install tesseract to have pictures of text read, or add a version with text"
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
