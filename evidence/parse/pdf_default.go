//go:build !unipdf

package parse

// startPDF starts the engine that PDFs are read with.
func startPDF(opt Options) (pdfEngine, error) { return startPDFium(opt) }
