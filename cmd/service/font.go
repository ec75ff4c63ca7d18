package main

import (
	"fmt"
	"io"
	"os"
)

// maxFont bounds a font's file; those of Chinese and Japanese have up to some 20 MB.
const maxFont = 64 << 20

// reportFont reads the TrueType font that SERVICE_REPORT_FONT names, for characters that
// the built-in fonts of PDF reports lack; nil where it names none.
func reportFont() ([]byte, error) {
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
		return nil, fmt.Errorf("SERVICE_REPORT_FONT: %s has more than %d MiB", path, maxFont>>20)
	}
	return data, nil
}
