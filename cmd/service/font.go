package main

import (
	"fmt"
	"os"

	"github.com/scf-service/service/internal/regularfile"
)

// maxFont is the maximum size of a font file; Chinese and Japanese fonts have up to about 20 MB.
const maxFont = 64 << 20

// loadReportFont reads the TrueType font named by SERVICE_REPORT_FONT, for characters missing from the
// built-in fonts of PDF reports. It returns nil if none is set.
func loadReportFont() ([]byte, error) {
	path := os.Getenv("SERVICE_REPORT_FONT")
	if path == "" {
		return nil, nil
	}
	data, err := regularfile.Read(path, maxFont)
	if err != nil {
		return nil, fmt.Errorf("SERVICE_REPORT_FONT: %w", err)
	}
	return data, nil
}
