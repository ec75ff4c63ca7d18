package main

import (
	"fmt"
	"os"

	"github.com/scf-service/service/internal/regularfile"
)

// maxFont is the maximum size of a font file; Chinese and Japanese fonts have up to about 20 MB.
const maxFont = 64 << 20

// loadReportFont reads the TrueType font specified by SERVICE_REPORT_FONT, which provides the characters that the
// built-in fonts of PDF reports lack. It returns nil if no font is specified.
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

// cjkFonts lists the usual paths of TrueType fonts with Chinese, Japanese or Korean characters, in the order in which
// the report generator tries them.
var cjkFonts = []string{
	"/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
	"/usr/share/fonts/google-droid-sans-fonts/DroidSansFallbackFull.ttf",
	"/usr/share/fonts/droid/DroidSansFallbackFull.ttf",
	"/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
	"/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc",
	"/usr/share/fonts/truetype/arphic/uming.ttc",
	"/usr/share/fonts/opentype/ipafont-gothic/ipag.ttf",
	"/usr/share/fonts/truetype/takao-gothic/TakaoGothic.ttf",
	"/usr/share/fonts/truetype/nanum/NanumGothic.ttf",
	"/usr/share/fonts/truetype/unfonts-core/UnDotum.ttf",
	"/Library/Fonts/Arial Unicode.ttf",
	"/System/Library/Fonts/Supplemental/Arial Unicode.ttf",
	"/System/Library/Fonts/STHeiti Light.ttc",
	`C:\Windows\Fonts\msyh.ttc`,
	`C:\Windows\Fonts\simsun.ttc`,
	`C:\Windows\Fonts\msgothic.ttc`,
	`C:\Windows\Fonts\malgun.ttf`,
}

// installedFonts returns functions that load this machine's fonts with Chinese, Japanese or Korean characters. A
// function returns an error if its font is not installed.
func installedFonts() (out []func() ([]byte, error)) {
	for _, path := range cjkFonts {
		out = append(out, func() ([]byte, error) { return regularfile.Read(path, maxFont) })
	}
	return out
}
