//go:build !unipdf

package parse

// PDFReader returns the name of this build's PDF engine, or an error if it can't be used.
func PDFReader() (string, error) { return "PDFium, in a sandbox", nil }

// startPDF starts the PDF engine.
func startPDF(opt Options) (pdfEngine, error) { return startPDFium(opt) }
