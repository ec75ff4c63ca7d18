package main

import (
	"fmt"
	"io"
	"os"
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
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("SERVICE_REPORT_FONT: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFont+1))
	if err != nil {
		return nil, fmt.Errorf("SERVICE_REPORT_FONT: %w", err)
	}
	if len(data) > maxFont {
		return nil, fmt.Errorf("SERVICE_REPORT_FONT: %s is larger than %d MiB", path, maxFont>>20)
	}
	return data, nil
}
