//go:build !unipdf

package pdf

// EngineName returns the name of this build's PDF engine, or an error if it can't be used.
func EngineName() (string, error) { return "PDFium, in a sandbox", nil }

// startEngine starts the PDF engine.
func startEngine(opt Options) (engine, error) { return startPDFium(opt) }
