package parse

import (
	"bytes"
	"image"
	_ "image/gif"  // to read its dimensions
	_ "image/jpeg" // to read its dimensions
	_ "image/png"  // to read its dimensions
	"io"
	"strings"

	_ "golang.org/x/image/bmp"  // to read its dimensions
	_ "golang.org/x/image/tiff" // to read its dimensions
	_ "golang.org/x/image/webp" // to read its dimensions

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/text"
)

const (
	maxPixels  = 100 << 20 // maximum number of pixels of a picture
	maxPicture = 64 << 20  // maximum size of a picture in bytes
)

// recognizePictureText recognizes the text in an image file. A TIFF file may have several pages.
func recognizePictureText(b *document.Builder, format *format, content io.ReaderAt, size int64) error {
	if !b.HasOCR() {
		return document.NewError(document.ErrNoTextLayer, "", "the file is %s; %s", format.label, document.InstallOCRHint)
	}
	if size > maxPicture {
		return document.NewError(document.ErrTooLarge, "", "the image has %d bytes (the limit is %d)", size, maxPicture)
	}
	raw, err := document.ReadAll(content, size)
	if err != nil {
		return err
	}
	if c, _, err := image.DecodeConfig(bytes.NewReader(raw)); err == nil && int64(c.Width)*int64(c.Height) > maxPixels {
		return document.NewError(document.ErrTooLarge, "", "the image has %d by %d pixels", c.Width, c.Height)
	}
	b.Warn("%s", document.RecognizedWarning)
	recognized, err := b.RecognizeText(raw)
	if err != nil {
		return document.DamagedError("the picture", err)
	}
	pages := strings.Split(strings.TrimRight(recognized, "\f\n "), "\f")
	for i, page := range pages {
		var at api.Locator
		if len(pages) > 1 {
			at.Page = i + 1
		}
		blocks, err := text.ParseRecognizedText(b, page, at)
		if err != nil {
			return err
		}
		b.Doc.Blocks = append(b.Doc.Blocks, blocks...)
	}
	if len(pages) > 1 {
		b.Doc.PageCount = len(pages)
	}
	if len(b.Doc.Blocks) == 0 {
		return document.NewError(document.ErrEmpty, "", "no text was recognized in the image")
	}
	return nil
}
