package parse

import "io"

type pdfEngine struct{}

func (e *pdfEngine) close() error { return nil }

func (r *Reader) readPDF(*builder, io.ReaderAt, int64) error {
	return fail(ErrUnsupported, "", "PDF comes with the next step")
}
