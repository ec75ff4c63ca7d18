//go:build unipdf

package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"io"

	"github.com/unidoc/unipdf/v3/common/license"
	"github.com/unidoc/unipdf/v3/core"
	"github.com/unidoc/unipdf/v3/model"
	"github.com/unidoc/unipdf/v3/render"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

// EngineName returns the name of this build's PDF engine, or an error if it can't be used.
func EngineName() (string, error) {
	e, err := startUnipdf(Options{})
	if err != nil {
		return "unipdf", err
	}
	return "unipdf with a valid license key", e.close()
}

// startEngine starts the PDF engine.
func startEngine(opt Options) (engine, error) { return startUnipdf(opt) }

var errNoKey = errors.New("this build reads PDFs with unipdf, which found no valid key: " +
	"set UNIPDF_LICENSE_PATH to the file of your key and UNIPDF_CUSTOMER_NAME to the name it was issued to, and start again; " +
	"a build without the tag unipdf needs no key")

// unipdfEngine reads PDFs in this process, without PDFium's sandbox. A document's memory is limited only by its file
// size, and a call that never returns occupies its slot forever.
type unipdfEngine struct{ slots chan struct{} }

// startUnipdf starts unipdf. It first checks for the license key, because without one unipdf prints to standard
// output, which another program may be reading. unipdf itself reads the key from the environment.
func startUnipdf(Options) (engine, error) {
	if key := license.GetLicenseKey(); key == nil || !key.IsLicensed() {
		return nil, errNoKey
	}
	return &unipdfEngine{slots: make(chan struct{}, pdfWorkers)}, nil
}

func (e *unipdfEngine) close() error { return nil }

func (e *unipdfEngine) open(
	ctx context.Context,
	beginHeavy func() error,
	content io.ReaderAt,
	size int64,
	fn func(engineDocument) error,
) error {
	if size > document.LightMemory/8 { // its memory use is unknown
		if err := beginHeavy(); err != nil {
			return err
		}
	}
	select {
	case e.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	d := &unipdfDocument{ctx: ctx}
	defer d.releaseSlotWhenIdle(e.slots)
	if err := d.load(content, size); err != nil {
		return err
	}
	return fn(d)
}

// unipdfDocument is a document open in unipdf.
type unipdfDocument struct {
	ctx     context.Context
	reader  *model.PdfReader
	running chan struct{} // closed when an abandoned call has ended
}

// runCancelable runs code that can't be stopped. It runs in a goroutine, so that the document's time limit can
// be enforced.
func (d *unipdfDocument) runCancelable(place string, do func() error) error {
	if err := d.ctx.Err(); err != nil {
		return err
	}
	ended, answer := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(ended)
		defer func() {
			if p := recover(); p != nil {
				answer <- document.NewError(document.ErrDamaged, place, "the parser stopped unexpectedly (%v)", p)
			}
		}()
		answer <- do()
	}()
	select {
	case err := <-answer:
		if err != nil {
			return document.DamagedError(place, err)
		}
		return nil
	case <-d.ctx.Done():
		d.running = ended
		return d.ctx.Err()
	}
}

// releaseSlotWhenIdle releases the document's slot as soon as no call is running.
func (d *unipdfDocument) releaseSlotWhenIdle(slots <-chan struct{}) {
	if d.running == nil {
		<-slots
		return
	}
	go func() {
		<-d.running
		<-slots
	}()
}

// isStopped reports whether a call was abandoned or the document's time is up.
func (d *unipdfDocument) isStopped() bool { return d.running != nil || d.ctx.Err() != nil }

func (d *unipdfDocument) load(content io.ReaderAt, size int64) error {
	raw, err := document.ReadAll(content, size) // an abandoned call must not read a closed file
	if err != nil {
		return err
	}
	return d.runCancelable("", func() error {
		r, err := model.NewPdfReaderLazy(bytes.NewReader(raw))
		if err != nil {
			return err
		}
		d.reader = r
		locked, err := r.IsEncrypted()
		if err != nil || !locked {
			return err
		}
		// Many documents are only protected against changes and can be opened without a password.
		if open, err := r.Decrypt(nil); err != nil || !open {
			return document.NewError(document.ErrEncrypted, "", "a PDF")
		}
		return nil
	})
}

func (d *unipdfDocument) pageCount() (n int, err error) {
	err = d.runCancelable("", func() (err error) {
		n, err = d.reader.GetNumPages()
		return err
	})
	return n, err
}

func (d *unipdfDocument) title() (title string) {
	_ = d.runCancelable("", func() error { // the title is optional
		info, err := d.reader.GetPdfInfo()
		if err == nil && info.Title != nil {
			title = info.Title.Decoded()
		}
		return err
	})
	return title
}

func (d *unipdfDocument) outlineLevels() (map[string]int, error) {
	var top *model.Outline
	err := d.runCancelable("", func() (err error) {
		top, err = d.reader.GetOutlines()
		return err
	})
	if d.isStopped() {
		return nil, err
	}
	levels := map[string]int{}
	if err != nil || top == nil {
		return levels, nil // bookmarks are optional
	}
	left := maxBookmarks
	var visit func(items []*model.OutlineItem, level int)
	visit = func(items []*model.OutlineItem, level int) {
		for _, item := range items {
			if left--; left < 0 || item == nil {
				return
			}
			title := comparableText(item.Title)
			if _, have := levels[title]; !have && title != "" {
				levels[title] = level
			}
			if level < maxOutline {
				visit(item.Entries, level+1)
			}
		}
	}
	visit(top.Entries, 1)
	return levels, nil
}

func (d *unipdfDocument) readPage(n int) (*pageContent, error) {
	var out *pageContent
	err := d.runCancelable(formatPage(n), func() error {
		page, err := d.reader.GetPage(n)
		if err != nil {
			return err
		}
		r, err := newUnipdfPage(page, n)
		if err != nil {
			return err
		}
		if err := r.readWords(); err != nil {
			return err
		}
		r.readObjects()
		out = r.out
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (d *unipdfDocument) renderPage(n int) (picture []byte, err error) {
	err = d.runCancelable(formatPage(n), func() error {
		page, err := d.reader.GetPage(n)
		if err != nil {
			return err
		}
		r, err := newUnipdfPage(page, n)
		if err != nil {
			return err
		}
		device := render.NewImageDevice()
		device.OutputWidth = min(scanPixels(r.out.w), max(minScanSide, int(maxScanSide*r.out.w/r.out.h)))
		drawn, err := device.Render(page)
		if err != nil {
			return err
		}
		grey := image.NewGray(image.Rect(0, 0, drawn.Bounds().Dx(), drawn.Bounds().Dy()))
		draw.Draw(grey, grey.Rect, image.White, image.Point{}, draw.Src)
		draw.Draw(grey, grey.Rect, drawn, drawn.Bounds().Min, draw.Over)
		picture = append(fmt.Appendf(nil, "P5\n%d %d\n255\n", grey.Rect.Dx(), grey.Rect.Dy()), grey.Pix...)
		return nil
	})
	return picture, err
}

// numberOf returns an object of a content stream as a number, or 0 if it isn't one.
func numberOf(o core.PdfObject) float64 {
	f, _ := core.GetNumberAsFloat(core.TraceToDirectObject(o))
	return f
}
