package text

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/lazyregexp"
)

// QuotedHeading is the heading for text that an email quotes from messages that it replies to. The rules treat such
// text specially, because it may be somebody else's words, or no longer true.
const QuotedHeading = "Quoted message"

const (
	maxAttributionBytes = 300
	maxHeaderBytes      = 2 << 10
)

var (
	// attributionPattern matches the line above a quoted message: "On Mon, 2 Mar 2026, Bob wrote:".
	attributionPattern = lazyregexp.New(
		`(?i)^\W{0,2}(?:on|am|le|el|il|op|em|den|w dniu)\b.*\d.*` +
			`\b(?:wrote|schrieb|a écrit|escribió|ha scritto|schreef|escreveu|skrev|pisze)\b.{0,80}:$|` +
			`^\W{0,2}\S.*<\S+@\S+>.*\bwrote:$`,
	)
	// originalPattern matches the line above the message that Outlook and other programs repeat below a reply.
	originalPattern = lazyregexp.New(
		`(?i)^-{2,}\s*(?:original (?:message|appointment)|ursprüngliche nachricht|message d['’]origine|mensaje original|` +
			`messaggio originale|oorspronkelijk bericht)\s*-{2,}`,
	)
	// forwardedPattern matches the line above a forwarded message, which is the email's own content.
	forwardedPattern = lazyregexp.New(`(?i)^(?:-{2,}\s*forwarded message\b|begin forwarded message:)`)
	// repeatedHeaderPattern matches the beginning of the header of a repeated message, on a single line.
	repeatedHeaderPattern = lazyregexp.New(
		`(?i)^[*_\s]*(?:from|von|de|da|van)\W{0,2}:.+\b(?:sent|date|gesendet|datum|envoyé|enviado|inviato|verzonden)\W{0,2}:` +
			`.+\b(?:subject|betreff|objet|asunto|oggetto|onderwerp)\W{0,2}:`,
	)
)

// A mailPiece is a part of an email's text, which is either the email's own text or quoted text.
type mailPiece struct {
	part     *document.Builder
	isQuoted bool
}

// ReadMailText reads the plain text of an email. Text quoted from an earlier message is read under QuotedHeading,
// unless the email has no other text. isForward means that the email forwards a message, which is then its own
// content.
func ReadMailText(b *document.Builder, text string, isForward bool) error {
	var pieces []mailPiece
	err := splitQuoted(strings.Split(text, "\n"), isForward, func(lines []string, isQuoted bool) error {
		p := mailPiece{b.NewPart(), isQuoted}
		pieces = append(pieces, p)
		return ReadPlain(p.part, strings.Join(lines, "\n"))
	})
	if err != nil {
		return err
	}
	appendPieces(b, pieces)
	return b.Err()
}

// appendPieces appends the pieces of an email. If it only contains quoted text, that text counts as its own.
func appendPieces(b *document.Builder, pieces []mailPiece) {
	hasOwn := slices.ContainsFunc(pieces, func(p mailPiece) bool { return !p.isQuoted && len(p.part.Doc.Blocks) > 0 })
	for _, p := range pieces {
		if err := p.part.Err(); err != nil {
			b.Fail(err)
			return
		}
		if p.isQuoted && hasOwn && len(p.part.Doc.Blocks) > 0 {
			b.CloseHeadings()
			b.AddHeading(1, QuotedHeading, p.part.Doc.Blocks[0].Locator)
			b.Warn("Text quoted from earlier messages doesn't count as evidence; add those messages as well.")
		}
		b.AppendPart(p.part)
		b.CloseHeadings()
	}
}

// splitQuoted splits the lines of an email into its own text and quoted text, and calls add with each piece.
func splitQuoted(lines []string, isForward bool, add func(lines []string, isQuoted bool) error) error {
	from := 0
	for i := 0; i < len(lines); {
		if isForward || forwardedPattern.MatchString(lines[i]) {
			return add(append(slices.Clone(lines[from:i]), withoutMarks(lines[i:])...), false)
		}
		n := attributionLines(lines[i:])
		isRepeated := n == 0 && beginsRepeatedMessage(lines[i:])
		if n == 0 && !isRepeated && !isQuotedLine(lines[i]) {
			i++
			continue
		}
		end := i + n
		for next := end; !isRepeated && next < len(lines) && (isQuotedLine(lines[next]) || strings.TrimSpace(lines[next]) == ""); next++ {
			if isQuotedLine(lines[next]) {
				end = next + 1
			}
		}
		if end == i+n { // the lines are not marked: the quoted text extends to the end
			end = len(lines)
		}
		if err := add(lines[from:i], false); err != nil {
			return err
		}
		if err := add(withoutMarks(lines[i:end]), true); err != nil {
			return err
		}
		from, i = end, end
	}
	return add(lines[from:], false)
}

func isQuotedLine(line string) bool { return strings.HasPrefix(line, ">") }

// attributionLines returns the number of lines of an attribution at the beginning of lines, or 0.
func attributionLines(lines []string) int {
	joined := ""
	for n, line := range lines[:min(len(lines), 3)] {
		line = strings.TrimSpace(line)
		if joined = strings.TrimSpace(joined + " " + line); line == "" || len(joined) > maxAttributionBytes {
			return 0
		}
		if strings.HasSuffix(line, ":") && attributionPattern.MatchString(joined) {
			return n + 1
		}
	}
	return 0
}

// beginsRepeatedMessage reports whether an earlier message, with its header, begins in the first line.
func beginsRepeatedMessage(lines []string) bool {
	line := strings.TrimSpace(lines[0])
	if originalPattern.MatchString(line) {
		return true
	}
	if len(line) > 4 && strings.Trim(line, "_") == "" && len(lines) > 1 { // a rule above the header
		lines = lines[1:]
		line = strings.TrimSpace(lines[0])
	}
	if before, _, ok := strings.Cut(line, ":"); !ok || len(before) > 8 {
		return false
	}
	header := lines[:min(len(lines), 8)]
	if !slices.ContainsFunc(header, isSubjectLine) {
		return false
	}
	joined := strings.Join(header, " ")
	return len(joined) < maxHeaderBytes && repeatedHeaderPattern.MatchString(joined)
}

func isSubjectLine(line string) bool {
	key, _, _ := strings.Cut(line[:min(len(line), 40)], ":")
	switch strings.ToLower(strings.Trim(key, " *_\t")) {
	case "subject", "betreff", "objet", "asunto", "oggetto", "onderwerp":
		return true
	}
	return false
}

// withoutMarks returns quoted lines without their quote marks. A change in quoting depth ends a paragraph.
func withoutMarks(lines []string) (out []string) {
	last := 0
	for _, line := range lines {
		depth := 0
		for strings.HasPrefix(line, ">") {
			line = strings.TrimPrefix(line[1:], " ")
			depth++
		}
		if depth != last {
			out = append(out, "")
		}
		last = depth
		out = append(out, line)
	}
	return out
}

// ReadMailHTML reads the HTML text of an email in the same way as ReadMailText.
func ReadMailHTML(b *document.Builder, text string, isForward bool) error {
	m := &htmlMail{isForward: isForward}
	m.beginPart(b.NewPart(), false)
	h := &htmlReader{b: m.last().part, mail: m}
	if err := h.read(text); err != nil {
		return err
	}
	appendPieces(b, m.pieces)
	return b.Err()
}

// htmlMail holds the state that an htmlReader needs for an email.
type htmlMail struct {
	isForward bool // what follows is passed on
	pieces    []mailPiece
	depth     int // open elements that contain a quoted message
	// isAttributed is set if the last piece consists of the line above a quoted message.
	isAttributed bool
}

// last returns the piece that is currently being read.
func (m *htmlMail) last() mailPiece { return m.pieces[len(m.pieces)-1] }

// beginPart starts the next piece of the email, which is either quoted or its own text.
func (m *htmlMail) beginPart(part *document.Builder, isQuoted bool) {
	m.pieces = append(m.pieces, mailPiece{part, isQuoted})
}

// isQuote reports whether an element contains a quoted message. A block quote alone may contain the sender's own
// words.
func (m *htmlMail) isQuote(n *html.Node) bool {
	return n.DataAtom == atom.Blockquote && !m.isForward &&
		(m.isAttributed || m.depth > 0 || strings.EqualFold(attr(n, "type"), "cite") || hasClass(n, "gmail_quote"))
}

// switchTo sets whether the text that follows is quoted text or the email's own text.
func (h *htmlReader) switchTo(isQuoted bool) {
	if m := h.mail; m.last().isQuoted != isQuoted {
		m.beginPart(h.b.NewPart(), isQuoted)
		h.b = m.last().part
	}
}

// readQuote reads an element that contains a quoted message.
func (h *htmlReader) readQuote(n *html.Node, depth, lists int) {
	h.flush()
	m := h.mail
	endsHere := m.depth == 0 && (m.isAttributed || !m.last().isQuoted)
	m.isAttributed = false
	m.depth++
	h.switchTo(true)
	h.visitBlock(n, depth, lists)
	h.flush()
	if m.depth--; endsHere {
		h.switchTo(false)
	}
}

// readMailMarks detects the beginning of a quoted message that isn't in an element of its own.
func (h *htmlReader) readMailMarks(text string) {
	if text = document.CleanLine(text); text == "" || h.mail.isForward || h.mail.depth > 0 {
		return
	}
	if forwardedPattern.MatchString(text) && !h.mail.last().isQuoted {
		h.mail.isForward = true
		return
	}
	h.mail.isAttributed = len(text) < maxAttributionBytes && attributionPattern.MatchString(text)
	if h.mail.isAttributed || originalPattern.MatchString(text) || len(text) < maxHeaderBytes && repeatedHeaderPattern.MatchString(text) {
		h.switchTo(true)
	}
}
