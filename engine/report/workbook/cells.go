package workbook

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// maxCellUnits is the maximum length of the text that spreadsheets allow in a cell, in UTF-16 code units.
const maxCellUnits = 32767

// utf16Length returns the length of a string in UTF-16 code units.
func utf16Length(s string) int {
	if len(s) <= maxCellUnits {
		return len(s) // a string never has more units than bytes
	}
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// splitText splits a string into parts of at most maxUTF16Units UTF-16 code units. It never splits a
// character.
func splitText(s string, maxUTF16Units int) (parts []string) {
	for s != "" {
		n, end := 0, 0
		for end < len(s) {
			r, size := utf8.DecodeRuneInString(s[end:])
			if n += max(1, utf16.RuneLen(r)); n > maxUTF16Units {
				break
			}
			end += size
		}
		parts, s = append(parts, s[:end]), s[end:]
	}
	return parts
}

// trimAndUnifyLineEnds removes surrounding spaces from a value and replaces all line ends with \n, because a
// spreadsheet program may change both.
func trimAndUnifyLineEnds(s string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n"))
}

// fingerprint returns a short hash of the text in a cell.
func fingerprint(s string) string {
	sum := sha256.Sum256([]byte(trimAndUnifyLineEnds(s)))
	return hex.EncodeToString(sum[:6])
}

// dateToSerial converts a date to the serial number that spreadsheets use for it. ok is false if isoDate is not a
// date.
func dateToSerial(isoDate string) (float64, bool) {
	t, err := time.Parse(time.DateOnly, isoDate)
	if err != nil || t.Year() < 1901 || t.Year() > 9999 {
		return 0, false
	}
	return float64(t.Unix()/86400 + 25569), true
}

// dateFromSerial converts a spreadsheet's serial number for a date to the date. It returns false if the number
// doesn't represent a date.
func dateFromSerial(serial float64, from1904 bool) (string, bool) {
	if from1904 {
		serial += 1462
	}
	if !(serial >= 61) || serial >= 2958466 { // rejects NaN and the nonexistent 29 February 1900
		return "", false
	}
	return time.Unix((int64(math.Floor(serial))-25569)*86400, 0).UTC().Format(time.DateOnly), true
}

// formatNumber formats a number as the shortest decimal that has exactly the same value.
func formatNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
