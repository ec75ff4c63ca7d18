// Package text reads text formats: plain text and logs, Markdown, HTML, reStructuredText, CSV, JSON and
// YAML. It must not fetch, include or run anything that a text refers to.
package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

var (
	logLinePattern = lazyregexp.New(
		`^\s*[\[<]?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d{1,2}/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d|[A-Z][a-z]{2}\s+\d{1,2} \d\d:\d\d:\d\d|\d\d:\d\d:\d\d[.,]\d|\d{10,13}\b|<\d{1,3}>|\S+ \S+ \S+ \[\d\d/)`,
	)
	checkboxPattern = lazyregexp.New(`^\s*(?:\[[ xX✓✔]?\]|[☐□❏⬜☑☒])\s+\S`) // a step or answer with a checkbox, which is kept
	listMarkPattern = lazyregexp.New(`^(\s*)([-*•▪◦‣·–o]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)])\s+(\S.*)$`)
	numberedPattern = lazyregexp.New(
		`^(?:(?:section|article|chapter|annex|appendix|part|abschnitt|kapitel|anhang|artikel|section|annexe)\s+)?(\d{1,2}(?:\.\d{1,2}){0,4}|[A-Z]|[IVX]{1,5})[.):]?\s+(\S.*)$`,
	)
	underlinePattern = lazyregexp.New("^\\s*([=\\-~^*+#\"'])[=\\-~^*+#\"']{2,}\\s*$")
	linesPerLogBlock = 40 // number of log lines per block
)

// SplitListItem splits a line into a list marker and the item's text. ok is false if the line doesn't begin a
// list item.
func SplitListItem(line string) (marker, rest string, ok bool) {
	m := listMarkPattern.FindStringSubmatch(line)
	if m == nil {
		return "", "", false
	}
	return m[2], m[3], true
}

// SplitHeadingNumber splits a heading into its number ("2.1", "Annex A") and the rest. ok is false if it doesn't
// begin with a number.
func SplitHeadingNumber(line string) (number, rest string, ok bool) {
	m := numberedPattern.FindStringSubmatch(line)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// ReadPlain reads text without markup. Empty lines separate paragraphs. List items are recognized by their
// markers, and headings by an underline, a number or capitals. Logs are read as blocks of lines.
func ReadPlain(b *document.Builder, text string) error {
	lines := strings.Split(text, "\n")
	if isLog(lines) {
		readLog(b, lines)
		return b.Err()
	}
	p := plainReader{b: b, lines: lines}
	for p.pos < len(lines) && b.Err() == nil {
		p.readNextBlock()
	}
	return b.Err()
}

// ParseRecognizedText converts the recognized text of one image to blocks.
func ParseRecognizedText(b *document.Builder, text string, locator api.Locator) ([]document.Block, error) {
	part := b.NewPart()
	if err := ReadPlain(part, strings.ReplaceAll(text, "\f", "\n")); err != nil {
		return nil, err
	}
	for i := range part.Doc.Blocks {
		part.Doc.Blocks[i].Locator = locator
	}
	return part.Doc.Blocks, nil
}

// ReadPicture returns the paragraphs of text in an image that is embedded in the document. If the image
// can't be read, ReadPicture returns nil and counts it among the document's unread pictures.
func ReadPicture(b *document.Builder, picture []byte, at api.Locator) (paragraphs []string) {
	recognized, isRead := b.RecognizePicture(picture)
	if !isRead {
		b.Doc.AddNotRead(api.UnreadPicture, 1, at)
		return nil
	}
	blocks, err := ParseRecognizedText(b, recognized, at)
	if err != nil {
		b.Fail(err)
	}
	for _, blk := range blocks {
		paragraphs = append(paragraphs, blk.DisplayText())
	}
	return paragraphs
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
		if logLinePattern.MatchString(l) {
			hits++
		}
	}
	return seen >= 2 && hits*10 >= seen*6
}

// readLog adds the lines of a log in blocks of several lines, so that a passage shows each line in context.
func readLog(b *document.Builder, lines []string) {
	for i := 0; i < len(lines) && b.Err() == nil; {
		end, size := i, 0
		for end < len(lines) && end-i < linesPerLogBlock && (size == 0 || size+len(lines[end]) < 2000) {
			size += len(lines[end]) + 1
			end++
		}
		b.AddBlock(document.Block{Kind: document.Line, Text: strings.Join(lines[i:end], "\n"), Locator: api.Locator{LineStart: i + 1, LineEnd: end}})
		i = end
	}
}

type plainReader struct {
	b              *document.Builder
	lines          []string
	pos            int
	underlineChars []byte // underline characters found, in order of level
}

// readNextBlock reads one paragraph, list item or heading.
func (p *plainReader) readNextBlock() {
	line := p.lines[p.pos]
	if strings.TrimSpace(line) == "" {
		p.pos++
		return
	}
	start := p.pos
	if p.skipEncodedFile() {
		p.b.Doc.AddNotRead(api.UnreadEncodedText, 1, lineRange(start+1, p.pos))
		return
	}
	if p.pos+1 < len(p.lines) && len(line) < document.MaxHeadingBytes {
		if m := underlinePattern.FindStringSubmatch(p.lines[p.pos+1]); m != nil &&
			utf8.RuneCountInString(strings.TrimSpace(p.lines[p.pos+1]))*2 >= utf8.RuneCountInString(strings.TrimSpace(line)) &&
			!underlinePattern.MatchString(line) {
			p.b.AddHeading(p.findOrAddUnderlineLevel(m[1][0]), line, lineRange(start+1, start+2))
			p.pos += 2
			return
		}
	}
	if underlinePattern.MatchString(line) {
		p.pos++
		return
	}
	if level := p.standaloneHeadingLevel(start); level > 0 {
		p.b.AddHeading(level, line, lineRange(start+1, start+1))
		p.pos++
		return
	}
	if checkboxPattern.MatchString(line) && len(line) < 4*document.MaxBlockBytes {
		for p.pos++; p.pos < len(p.lines) && indentBytes(p.lines[p.pos]) > indentBytes(line) && strings.TrimSpace(p.lines[p.pos]) != "" &&
			!startsListItem(p.lines[p.pos]); {
			p.pos++
		}
		p.b.AddBlock(
			document.Block{
				Kind:    document.ListItem,
				Level:   1 + indentBytes(line)/2,
				Text:    JoinLines(p.lines[start:p.pos]),
				Locator: lineRange(start+1, p.pos),
			},
		)
		return
	}
	if len(line) < 4*document.MaxBlockBytes {
		if m := listMarkPattern.FindStringSubmatch(line); m != nil {
			p.pos++
			text := []string{m[3]}
			// Lines that are indented more than the marker belong to the item.
			for p.pos < len(p.lines) && indentBytes(p.lines[p.pos]) > len(m[1]) && strings.TrimSpace(p.lines[p.pos]) != "" &&
				!listMarkPattern.MatchString(p.lines[p.pos]) {
				text = append(text, p.lines[p.pos])
				p.pos++
			}
			p.b.AddBlock(
				document.Block{
					Kind:    document.ListItem,
					Level:   1 + len(m[1])/2,
					Text:    JoinLines(text),
					Marker:  NumberedMarkOrEmpty(m[2]),
					Locator: lineRange(start+1, p.pos),
				},
			)
			return
		}
	}
	p.pos++
	for p.pos < len(p.lines) && strings.TrimSpace(p.lines[p.pos]) != "" && len(p.lines[p.pos]) < 4*document.MaxBlockBytes &&
		!startsListItem(p.lines[p.pos]) {
		p.pos++
	}
	p.b.AddBlock(document.Block{Kind: document.Paragraph, Text: JoinLines(p.lines[start:p.pos]), Locator: lineRange(start+1, p.pos)})
}

// uuencodedPattern matches the line before a uuencoded file.
var uuencodedPattern = lazyregexp.New(`^begin(?:-base64)? [0-7]{3,4} \S`)

// skipEncodedFile skips a uuencoded file in the text, and reports whether there was one.
func (p *plainReader) skipEncodedFile() bool {
	if len(p.lines[p.pos]) > document.MaxHeadingBytes || !uuencodedPattern.MatchString(p.lines[p.pos]) {
		return false
	}
	for i := p.pos + 1; i < len(p.lines) && len(p.lines[i]) <= 80; i++ {
		if line := strings.TrimSpace(p.lines[i]); line == "end" || line == "====" {
			p.pos = i + 1
			return true
		}
	}
	return false
}

// NumberedMarkOrEmpty returns a list marker if it is a number or letter, and "" if it is a bullet.
func NumberedMarkOrEmpty(mark string) string {
	if strings.ContainsAny(mark, ".)") {
		return mark
	}
	return ""
}

func (p *plainReader) findOrAddUnderlineLevel(c byte) int {
	if i := slices.Index(p.underlineChars, c); i >= 0 {
		return i + 1
	}
	p.underlineChars = append(p.underlineChars, c)
	return len(p.underlineChars)
}

// standaloneHeadingLevel returns the level of the heading at line i. It returns 0 if the line doesn't look like
// a heading or has no empty lines around it.
func (p *plainReader) standaloneHeadingLevel(i int) int {
	line := strings.TrimSpace(p.lines[i])
	alone := (i == 0 || strings.TrimSpace(p.lines[i-1]) == "") && (i+1 == len(p.lines) || strings.TrimSpace(p.lines[i+1]) == "")
	if !alone || i+1 == len(p.lines) {
		return 0
	}
	return headingLevelByText(line)
}

// headingLevelByText returns the heading level of a line such as "2.1 Scope" or "SCOPE", judged only by its
// text, or 0 if it is not a heading.
func headingLevelByText(line string) int {
	if len(line) > 100 || line == "" || strings.ContainsAny(line[len(line)-1:], ".;,:!?") {
		return 0
	}
	if m := numberedPattern.FindStringSubmatch(line); m != nil {
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

// JoinLines joins wrapped lines, including words that were hyphenated at the end of a line.
func JoinLines(lines []string) string {
	var sb strings.Builder
	for i, l := range lines {
		l = strings.TrimSpace(l)
		if i+1 == len(lines) {
			sb.WriteString(l)
			break
		}
		switch next := strings.TrimSpace(lines[i+1]); {
		case isLineBreakHyphen(l, next):
			sb.WriteString(strings.TrimSuffix(strings.TrimSuffix(l, "-"), "\u00ad"))
		case isWordHyphen(l, next): // the hyphen belongs to the word
			sb.WriteString(l)
		case IsUnspaced(lastLetter(l)) && IsUnspaced(next):
			sb.WriteString(l)
		default:
			sb.WriteString(l)
			sb.WriteByte(' ')
		}
	}
	return sb.String()
}

// lastLetter returns the last character of a text, or "" if the text is empty.
func lastLetter(text string) string {
	_, n := utf8.DecodeLastRuneInString(text)
	return text[len(text)-n:]
}

// IsUnspaced reports whether a text begins with a Chinese or Japanese letter or mark. Such text is
// written without spaces.
func IsUnspaced(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo) || r >= 0x3000 && r <= 0x303F
}

// isLineBreakHyphen reports whether the hyphen at the end of line a was only inserted to break a
// word that continues in b: both sides are letters, and the second one is in lower case.
// "end-\nto-end" keeps its hyphen, because another hyphen follows.
func isLineBreakHyphen(a, b string) bool {
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
	return !strings.Contains(word, "-") && !strings.Contains(stem, "-") && !hyphenatedPrefixes[strings.ToLower(stem)]
}

// isWordHyphen reports whether line a ends with the hyphen of a compound word that continues in b. A dash, in
// contrast, is preceded by a space.
func isWordHyphen(a, b string) bool {
	if !strings.HasSuffix(a, "-") {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(a[:len(a)-1])
	after, _ := utf8.DecodeRuneInString(b)
	return (unicode.IsLetter(before) || unicode.IsDigit(before)) && (unicode.IsLetter(after) || unicode.IsDigit(after))
}

// hyphenatedPrefixes lists words that begin hyphenated compounds, such as "non" and "self".
var hyphenatedPrefixes = map[string]bool{
	"non":      true,
	"self":     true,
	"third":    true,
	"multi":    true,
	"high":     true,
	"low":      true,
	"risk":     true,
	"role":     true,
	"least":    true,
	"need":     true,
	"full":     true,
	"part":     true,
	"long":     true,
	"short":    true,
	"real":     true,
	"day":      true,
	"post":     true,
	"pre":      true,
	"cross":    true,
	"follow":   true,
	"decision": true,
	"time":     true,
	"two":      true,
	"in":       true,
	"on":       true,
	"off":      true,
	"up":       true,
	"well":     true,
	"sub":      true,
	"co":       true,
	"e":        true,
	"anti":     true,
	"semi":     true,
	"ex":       true,
	"all":      true,
	"end":      true,
	"first":    true,
	"second":   true,
	"by":       true,
}

// startsListItem reports whether a line begins a list item or a checkbox.
func startsListItem(line string) bool {
	return listMarkPattern.MatchString(line) || checkboxPattern.MatchString(line)
}

func indentBytes(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

func lineRange(from, to int) api.Locator { return api.Locator{LineStart: from, LineEnd: to} }
