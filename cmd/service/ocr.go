package main

import (
	"fmt"
	"os"

	"github.com/scf-service/service/engine/evidence/ocr"
	"github.com/scf-service/service/engine/evidence/parse/document"
)

// newOCR returns the OCR engine for images: tesseract, if installed, with the languages in SERVICE_OCR. It returns nil
// if tesseract is missing or SERVICE_OCR is off.
func newOCR() (document.OCR, error) {
	languages := os.Getenv("SERVICE_OCR")
	if languages == "off" {
		return nil, nil //nolint:nilnil // a missing program is not an error
	}
	found, err := ocr.FindTesseract(languages, os.Getenv)
	if err != nil {
		return nil, fmt.Errorf("SERVICE_OCR: %w", err)
	}
	if found == nil {
		return nil, nil //nolint:nilnil // as above; a nil *ocr.Tesseract in the interface would not be nil
	}
	return found, nil
}
