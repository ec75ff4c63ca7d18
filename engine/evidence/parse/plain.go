package parse

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

var (
	logLine    = lazyregexp.Of(`^\s*[\[<]?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d{1,2}/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d|[A-Z][a-z]{2}\s+\d{1,2} \d\d:\d\d:\d\d|\d\d:\d\d:\d\d[.,]\d|\d{10,13}\b|<\d{1,3}>|\S+ \S+ \S+ \[\d\d/)`)
	boxMark    = lazyregexp.Of(`^\s*(?:\[[ xX✓✔]?\]|[☐□❏⬜☑☒])\s+\S`) // a step or answer to tick; the box is kept
	listMark   = lazyregexp.Of(`^(\s*)([-*•▪◦‣·–o]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)])\s+(\S.*)$`)
	numbered   = lazyregexp.Of(`^(?:(?:section|article|chapter|annex|appendix|part|abschnitt|kapitel|anhang|artikel|section|annexe)\s+)?(\d{1,2}(?:\.\d{1,2}){0,4}|[A-Z]|[IVX]{1,5})[.):]?\s+(\S.*)$`)
	underline  = lazyregexp.Of("^\\s*([=\\-~^*+#\"'])[=\\-~^*+#\"']{2,}\\s*$")
	logPerLine = 40 // lines of a log that make one block
)

// readPlain reads text without marks: paragraphs between empty lines, lists by their
// bullets, headings by an underline, a number or capitals; a log line by line.
func readPlain(b *builder, text string) error {
	lines := strings.Split(text, "\n")
	if isLog(lines) {
		readLog(b, lines)
		return b.err
	}
	p := plainReader{b: b, lines: lines}
	for p.at < len(lines) && b.err == nil {
		p.next()
	}
	return b.err
}

func isLog(lines []string) bool {
	hits, seen := 0, 0
	for _, l := range lines {
		if strings.TrimSpace(l) == "" {
			continue
		}
		if seen++; seen > 200 {
			break
		}
		if len(l) > 4096 {
			l = l[:4096]
		}
		if logLine.MatchString(l) {
			hits++
		}
	}
	return seen >= 2 && hits*10 >= seen*6
}

// readLog keeps lines, some tens in a block, so that a passage shows what came before and after.
func readLog(b *builder, lines []string) {
	for i := 0; i < len(lines) && b.err == nil; {
		end, size := i, 0
		for end < len(lines) && end-i < logPerLine && (size == 0 || size+len(lines[end]) < 2000) {
			size += len(lines[end]) + 1
			end++
		}
		b.add(Block{Kind: Line, Text: strings.Join(lines[i:end], "\n"), Locator: api.Locator{LineStart: i + 1, LineEnd: end}})
		i = end
	}
}

type plainReader struct {
	b     *builder
	lines []string
	at    int
	under []byte // underline characters met, in the order that gives their level
}

// next reads one paragraph, list item or heading.
func (p *plainReader) next() {
	line := p.lines[p.at]
	if strings.TrimSpace(line) == "" {
		p.at++
		return
	}
	start := p.at
	if p.at+1 < len(p.lines) && len(line) < maxHeading {
		if m := underline.FindStringSubmatch(p.lines[p.at+1]); m != nil && utf8.RuneCountInString(strings.TrimSpace(p.lines[p.at+1]))*2 >= utf8.RuneCountInString(strings.TrimSpace(line)) && !underline.MatchString(line) {
			p.b.heading(p.underLevel(m[1][0]), line, at(start+1, start+2))
			p.at += 2
			return
		}
	}
	if underline.MatchString(line) {
		p.at++
		return
	}
	if level := p.headingLevel(start); level > 0 {
		p.b.heading(level, line, at(start+1, start+1))
		p.at++
		return
	}
	if boxMark.MatchString(line) && len(line) < 4*maxBlock {
		for p.at++; p.at < len(p.lines) && indent(p.lines[p.at]) > indent(line) && strings.TrimSpace(p.lines[p.at]) != "" && !opensItem(p.lines[p.at]); {
			p.at++
		}
		p.b.add(Block{Kind: ListItem, Level: 1 + indent(line)/2, Text: joinLines(p.lines[start:p.at]), Locator: at(start+1, p.at)})
		return
	}
	if len(line) < 4*maxBlock {
		if m := listMark.FindStringSubmatch(line); m != nil {
			p.at++
			text := []string{m[3]}
			// Lines that are indented deeper than the mark belong to the item.
			for p.at < len(p.lines) && indent(p.lines[p.at]) > len(m[1]) && strings.TrimSpace(p.lines[p.at]) != "" && !listMark.MatchString(p.lines[p.at]) {
				text = append(text, p.lines[p.at])
				p.at++
			}
			p.b.add(Block{Kind: ListItem, Level: 1 + len(m[1])/2, Text: joinLines(text), Mark: ownMark(m[2]), Locator: at(start+1, p.at)})
			return
		}
	}
	p.at++
	for p.at < len(p.lines) && strings.TrimSpace(p.lines[p.at]) != "" && len(p.lines[p.at]) < 4*maxBlock && !opensItem(p.lines[p.at]) {
		p.at++
	}
	p.b.add(Block{Kind: Paragraph, Text: joinLines(p.lines[start:p.at]), Locator: at(start+1, p.at)})
}

// ownMark is a list's mark if it tells items apart: a number or letter, no bullet.
func ownMark(mark string) string {
	if strings.ContainsAny(mark, ".)") {
		return mark
	}
	return ""
}

func (p *plainReader) underLevel(c byte) int {
	for i, u := range p.under {
		if u == c {
			return i + 1
		}
	}
	p.under = append(p.under, c)
	return len(p.under)
}

// headingLevel is the level of the line at i if it stands alone and reads as a heading, else 0.
func (p *plainReader) headingLevel(i int) int {
	line := strings.TrimSpace(p.lines[i])
	alone := (i == 0 || strings.TrimSpace(p.lines[i-1]) == "") && (i+1 == len(p.lines) || strings.TrimSpace(p.lines[i+1]) == "")
	if !alone || i+1 == len(p.lines) {
		return 0
	}
	return headingByWords(line)
}

// headingByWords judges one line by its words alone: "2.1 Scope" or "SCOPE"; 0 is no heading.
func headingByWords(line string) int {
	if len(line) > 100 || line == "" || strings.ContainsAny(line[len(line)-1:], ".;,:!?") {
		return 0
	}
	if m := numbered.FindStringSubmatch(line); m != nil {
		first, _ := utf8.DecodeRuneInString(m[2])
		// "a) item" and "1. item" may open a list; a heading is short and begins with a capital.
		if unicode.IsUpper(first) && len(strings.Fields(m[2])) <= 8 && (m[1][0] <= '9' || len(m[1]) > 1) {
			return 1 + strings.Count(m[1], ".")
		}
		return 0
	}
	letters, upper := 0, 0
	for _, r := range line {
		if unicode.IsLetter(r) {
			letters++
			if unicode.IsUpper(r) {
				upper++
			}
		}
	}
	if letters >= 4 && upper == letters {
		return 1
	}
	return 0
}

// joinLines makes one text of wrapped lines and joins words hyphenated at a line's end.
func joinLines(lines []string) string {
	var sb strings.Builder
	for i, l := range lines {
		l = strings.TrimSpace(l)
		if i+1 == len(lines) {
			sb.WriteString(l)
			break
		}
		switch next := strings.TrimSpace(lines[i+1]); {
		case joinsHyphen(l, next):
			sb.WriteString(strings.TrimSuffix(strings.TrimSuffix(l, "-"), "\u00ad"))
		case endsInHyphen(l, next): // the hyphen is the word's own
			sb.WriteString(l)
		default:
			sb.WriteString(l)
			sb.WriteByte(' ')
		}
	}
	return sb.String()
}

// joinsHyphen reports whether the hyphen at the end of a only broke the line: letters on
// both sides, small ones after it. "end-\nto-end" keeps its hyphen, as more follow.
func joinsHyphen(a, b string) bool {
	if strings.HasSuffix(a, "\u00ad") {
		return true
	}
	if !strings.HasSuffix(a, "-") {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(a[:len(a)-1])
	after, _ := utf8.DecodeRuneInString(b)
	if !unicode.IsLower(before) || !unicode.IsLower(after) {
		return false
	}
	word, _, _ := strings.Cut(b, " ")
	stem := a[strings.LastIndexByte(a, ' ')+1 : len(a)-1]
	return !strings.Contains(word, "-") && !strings.Contains(stem, "-") && !keepsHyphen[strings.ToLower(stem)]
}

// endsInHyphen reports whether a ends within a word that goes on in b. A dash has a space before it.
func endsInHyphen(a, b string) bool {
	if !strings.HasSuffix(a, "-") {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(a[:len(a)-1])
	after, _ := utf8.DecodeRuneInString(b)
	return (unicode.IsLetter(before) || unicode.IsDigit(before)) && (unicode.IsLetter(after) || unicode.IsDigit(after))
}

// keepsHyphen are first parts that English writes with a hyphen.
var keepsHyphen = map[string]bool{"non": true, "self": true, "third": true, "multi": true, "high": true, "low": true, "risk": true, "role": true, "least": true, "need": true, "full": true, "part": true, "long": true, "short": true, "real": true, "day": true, "post": true, "pre": true, "cross": true, "follow": true, "decision": true, "time": true, "two": true, "in": true, "on": true, "off": true, "up": true, "well": true, "sub": true, "co": true, "e": true, "anti": true, "semi": true, "ex": true, "all": true, "end": true, "first": true, "second": true, "by": true}

// opensItem tells whether a line begins an item of a list or a step to tick.
func opensItem(line string) bool { return listMark.MatchString(line) || boxMark.MatchString(line) }

func indent(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

func at(from, to int) api.Locator { return api.Locator{LineStart: from, LineEnd: to} }
