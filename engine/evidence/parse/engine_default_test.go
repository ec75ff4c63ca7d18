//go:build !unipdf

package parse

func testEngines() []testEngine { return []testEngine{pdfiumTest} }
