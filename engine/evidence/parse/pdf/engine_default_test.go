//go:build !unipdf

package pdf

func testEngines() []testEngine { return []testEngine{pdfiumTest} }
