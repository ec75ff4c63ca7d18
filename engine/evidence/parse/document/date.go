package document

import (
	"strconv"
	"strings"
	"time"

	"github.com/scf-service/service/internal/lazyregexp"
)

var (
	dateISO   = lazyregexp.New(`\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:\b|T)`)
	dateDots  = lazyregexp.New(`\b(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})\b`)
	dateSlash = lazyregexp.New(`\b(\d{1,2})[/-](\d{1,2})[/-](\d{4})\b`)
	dateDMY   = lazyregexp.New(`\b(\d{1,2})(?:st|nd|rd|th|er|º|°|\.)?[\s-]+(?:of |de |d')?(\p{L}{3,10})\.?,?[\s-]+(?:de |del )?(\d{4})\b`)
	dateMDY   = lazyregexp.New(`\b(\p{L}{3,10})\.?[\s-]+(\d{1,2})(?:st|nd|rd|th)?,?[\s-]+(\d{4})\b`)
)

// months maps month names and abbreviations in English, German, French, Spanish, Portuguese, Italian and Dutch.
var months = map[string]time.Month{
	"january": 1, "january.": 1, "januar": 1, "jänner": 1, "janvier": 1, "enero": 1, "janeiro": 1, "gennaio": 1, "januari": 1, "jan": 1,
	"february": 2, "februar": 2, "février": 2, "febrero": 2, "fevereiro": 2, "febbraio": 2, "februari": 2,
	"feb": 2, "fév": 2, "févr": 2, "fev": 2,
	"march": 3, "märz": 3, "mars": 3, "marzo": 3, "março": 3, "maart": 3, "mar": 3, "mär": 3, "mrt": 3, "mrz": 3,
	"april": 4, "avril": 4, "abril": 4, "aprile": 4, "apr": 4, "avr": 4, "abr": 4,
	"may": 5, "mai": 5, "mayo": 5, "maio": 5, "maggio": 5, "mei": 5, "mag": 5,
	"june": 6, "juni": 6, "juin": 6, "junio": 6, "junho": 6, "giugno": 6, "jun": 6, "giu": 6,
	"july": 7, "juli": 7, "juillet": 7, "julio": 7, "julho": 7, "luglio": 7, "jul": 7, "juil": 7, "lug": 7,
	"august": 8, "août": 8, "agosto": 8, "augustus": 8, "aug": 8, "ago": 8,
	"september": 9, "septembre": 9, "septiembre": 9, "setembro": 9, "settembre": 9, "sep": 9, "sept": 9, "set": 9,
	"october": 10, "oktober": 10, "octobre": 10, "octubre": 10, "outubro": 10, "ottobre": 10, "oct": 10, "okt": 10, "out": 10, "ott": 10,
	"november": 11, "novembre": 11, "noviembre": 11, "novembro": 11, "nov": 11,
	"december": 12, "dezember": 12, "décembre": 12, "diciembre": 12, "dezembro": 12, "dicembre": 12,
	"dec": 12, "dez": 12, "déc": 12, "dic": 12,
}

// FindDate finds the first date in a short text. If day and month can't be distinguished
// (03/04/2026), ambiguous is true and ok is false.
func FindDate(s string) (t time.Time, ok, ambiguous bool) {
	if len(s) > 200 {
		s = s[:200]
	}
	num := func(v string) int { n, _ := strconv.Atoi(v); return n }
	if m := dateISO.FindStringSubmatch(s); m != nil {
		t, ok = newDate(num(m[1]), num(m[2]), num(m[3]))
		return t, ok, false
	}
	if m := dateDots.FindStringSubmatch(s); m != nil {
		t, ok = newDate(num(m[3]), num(m[2]), num(m[1]))
		return t, ok, false
	}
	if m := dateSlash.FindStringSubmatch(s); m != nil {
		a, b, y := num(m[1]), num(m[2]), num(m[3])
		switch {
		case a > 12 || a == b:
			t, ok = newDate(y, b, a)
		case b > 12:
			t, ok = newDate(y, a, b)
		default:
			return time.Time{}, false, a > 0 && b > 0
		}
		return t, ok, false
	}
	lower := strings.ToLower(s)
	if m := dateDMY.FindStringSubmatch(lower); m != nil {
		if mon, known := months[m[2]]; known {
			t, ok = newDate(num(m[3]), int(mon), num(m[1]))
			return t, ok, false
		}
	}
	if m := dateMDY.FindStringSubmatch(lower); m != nil {
		if mon, known := months[m[1]]; known {
			t, ok = newDate(num(m[3]), int(mon), num(m[2]))
			return t, ok, false
		}
	}
	return time.Time{}, false, false
}

// IsDate reports whether a text is nothing but a date.
func IsDate(s string) bool {
	fields := strings.Fields(s)
	if len(fields) == 0 || len(fields) > 4 || len(s) > 30 {
		return false
	}
	_, startsWithMonth := months[strings.ToLower(strings.TrimRight(fields[0], ".,"))]
	_, ok, _ := FindDate(s)
	return ok && (startsWithMonth || fields[0][0] >= '0' && fields[0][0] <= '9')
}

// newDate returns a date if it is valid and its year is plausible for a policy.
func newDate(y, m, d int) (time.Time, bool) {
	if y < 1970 || y > 2199 || m < 1 || m > 12 || d < 1 {
		return time.Time{}, false
	}
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	return t, t.Day() == d
}
