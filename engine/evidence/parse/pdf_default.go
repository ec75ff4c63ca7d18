//go:build !unipdf

package parse

// PDFReader names what reads PDFs in this build; the error says what it lacks to do so.
func PDFReader() (string, error) { return "PDFium, in a sandbox", nil }

// startPDF starts the engine that PDFs are read with.
func startPDF(opt Options) (pdfEngine, error) { return startPDFium(opt) }
