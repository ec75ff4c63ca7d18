// Package mail reads emails, in transport format and as saved by Outlook.
package mail

import (
	"bytes"
	"cmp"
	"io"
	"strconv"
	"strings"

	"github.com/jhillyerd/enmime/v2"

	"github.com/scf-service/service/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/text"
	"github.com/scf-service/service/internal/lazyregexp"
)

// Limits for parsing email. The parser can't be interrupted, and slows down as nesting gets deeper.
const (
	maxMail          = 64 << 20
	maxBoundaries    = 200
	maxDelimiters    = 20_000
	minInlinePicture = 4 << 10 // bytes; a smaller inline image is a logo or an emoji
)

// mailMessage is an email read from any supported format.
type mailMessage struct {
	from, to, cc, date, subject string
	body                        string
	isHTML                      bool // the body is HTML
	attachments                 []attachment
}

type attachment struct {
	name    string
	content []byte
}

// headerField is a header field of a mail.
type headerField struct{ name, value string }

func (l *mailMessage) headerFields() []headerField {
	return []headerField{{"From", l.from}, {"To", l.to}, {"Cc", l.cc}, {"Date", l.date}}
}

// ReadMail reads an email in RFC 5322 format: its header as a table row, its text, and each attachment as a
// nested document. Links are not fetched.
func ReadMail(b *document.Builder, content io.ReaderAt, size int64) error {
	raw, err := readLimited(content, size)
	if err != nil {
		return err
	}
	if mails := splitMailbox(raw); len(mails) > 1 {
		return readMailbox(b, mails)
	}
	root, err := parseMail(raw)
	if err != nil {
		return err
	}
	l := newMessage(root)
	if isOpaque(root) {
		b.Warn(signatureNotVerified)
	}
	if err := l.collectParts(root); err != nil {
		return err
	}
	return writeMail(b, l)
}

// newMessage returns an email with the header of root.
func newMessage(root *enmime.Part) *mailMessage {
	return &mailMessage{
		from:    decodeHeader(root, "From"),
		to:      decodeHeader(root, "To"),
		cc:      decodeHeader(root, "Cc"),
		date:    decodeHeader(root, "Date"),
		subject: decodeHeader(root, "Subject"),
	}
}

// readLimited returns the content of an email or a saved web page, up to the maximum size.
func readLimited(content io.ReaderAt, size int64) ([]byte, error) {
	if size > maxMail {
		return nil, document.NewError(document.ErrTooLarge, "", "the email has %d bytes (the limit is %d)", size, maxMail)
	}
	return document.ReadAll(content, size)
}

// parseMail returns the parts of a MIME document.
func parseMail(raw []byte) (*enmime.Part, error) {
	if bytes.Count(bytes.ToLower(raw), []byte("boundary")) > maxBoundaries || bytes.Count(raw, []byte("\n--")) > maxDelimiters {
		return nil, document.NewError(document.ErrTooLarge, "", "the parts of the email are nested too deeply")
	}
	parser := enmime.NewParser(
		enmime.SkipMalformedParts(true),
		enmime.MultipartWOBoundaryAsSinglePart(true),
		enmime.MaxStoredPartErrors(20),
		enmime.SetReadPartErrorPolicy(enmime.AllowCorruptTextPartErrorPolicy),
	)
	root, err := parser.ReadParts(bytes.NewReader(raw))
	if err != nil {
		return nil, document.DamagedError("the mail", err)
	}
	return root, nil
}

// mailboxPattern matches the line before each email of a mailbox, and the start of the email's header.
var mailboxPattern = lazyregexp.New(`(?m)(?:\A|^\r?\n)From \S[^\n]{0,200}\b\d{4}\b[^\n]{0,40}\n[!-9;-~]{1,70}:`)

// splitMailbox returns the emails of a mailbox in mbox format, or nil if it isn't one.
func splitMailbox(raw []byte) (mails [][]byte) {
	if !bytes.HasPrefix(raw, []byte("From ")) {
		return nil
	}
	starts := mailboxPattern.FindAllIndex(raw, document.MaxMembers+1)
	for i, at := range starts {
		end := len(raw)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		mail := bytes.TrimLeft(raw[at[0]:end], "\r\n")
		_, mail, _ = bytes.Cut(mail, []byte("\n"))
		mails = append(mails, bytes.ReplaceAll(mail, []byte("\n>From "), []byte("\nFrom ")))
	}
	return mails
}

// readMailbox reads each email of a mailbox as a nested document.
func readMailbox(b *document.Builder, mails [][]byte) error {
	c := b.NewContainer()
	for i, content := range mails {
		if err := c.Add("mail "+strconv.Itoa(i+1), content); err != nil {
			return err
		}
	}
	return c.RequireAnyRead("mailbox")
}

// ReadWebArchive reads a page that was saved with its pictures as MHTML, as browsers and wikis do.
func ReadWebArchive(b *document.Builder, content io.ReaderAt, size int64) error {
	raw, err := readLimited(content, size)
	if err != nil {
		return err
	}
	root, err := parseMail(raw)
	if err != nil {
		return err
	}
	hasPage := false
	for _, p := range root.BreadthMatchAll(func(p *enmime.Part) bool { return p.FirstChild == nil }) {
		switch {
		case !strings.EqualFold(p.ContentType, "text/html"): // pictures are counted where they occur in the page
		case hasPage:
			b.Doc.AddNotRead(api.UnreadInsertedPart, 1, api.Locator{}) // a frame
		default:
			hasPage = true
			if err := text.ReadHTML(b, cleanBody(string(p.Content))); err != nil {
				return err
			}
			removeLines(b)
		}
	}
	return b.Err()
}

func decodeHeader(p *enmime.Part, name string) string {
	return enmime.DecodeRFC2047(p.Header.Get(name))
}

// collectParts finds the body and the attachments, including those in signed data. If the body is available in several
// formats, plain text is preferred over HTML.
func (l *mailMessage) collectParts(root *enmime.Part) error {
	root, err := unwrapOpaquelySigned(root)
	if err != nil {
		return err
	}
	if strings.EqualFold(root.ContentType, "multipart/encrypted") {
		return errEncrypted
	}
	l.addParts(root)
	return nil
}

// addParts adds the body and the attachments in a part and its nested parts.
func (l *mailMessage) addParts(p *enmime.Part) {
	kind := strings.ToLower(p.ContentType)
	switch {
	case kind == "multipart/alternative":
		for _, want := range []string{"text/plain", "text/html"} {
			if c := p.BreadthMatchFirst(func(c *enmime.Part) bool {
				return strings.EqualFold(c.ContentType, want) && c.Disposition != "attachment" && len(bytes.TrimSpace(c.Content)) > 0
			}); c != nil {
				l.addBodyOrAttachment(string(c.Content), want == "text/html")
				break
			}
		}
		p.BreadthMatchAll(func(c *enmime.Part) bool {
			if c.FileName != "" || c.Disposition == "attachment" {
				l.addAttachment(c)
			}
			return false
		})
	case p.FirstChild != nil:
		for c := p.FirstChild; c != nil; c = c.NextSibling {
			l.addParts(c)
		}
	case (kind == "text/plain" || kind == "text/html" || kind == "") && p.Disposition != "attachment" && p.FileName == "":
		l.addBodyOrAttachment(string(p.Content), kind == "text/html")
	case strings.HasPrefix(kind, "multipart/"):
	default:
		l.addAttachment(p)
	}
}

// addBodyOrAttachment adds text to the body. If the body so far is in the other format (HTML or
// plain text), it adds the text as an attachment instead.
func (l *mailMessage) addBodyOrAttachment(s string, html bool) {
	switch {
	case strings.TrimSpace(s) == "":
	case l.body == "":
		l.body, l.isHTML = s, html
	case l.isHTML == html:
		l.body += "\n\n" + s
	case html:
		l.attachments = append(l.attachments, attachment{"text.html", []byte(s)})
	default:
		l.attachments = append(l.attachments, attachment{"text", []byte(s)})
	}
}

func (l *mailMessage) addAttachment(p *enmime.Part) {
	kind := strings.ToLower(p.ContentType)
	switch {
	case strings.HasPrefix(kind, "image/") && p.Disposition != "attachment" && len(p.Content) < minInlinePicture,
		kind == "application/pgp-signature",
		strings.HasSuffix(kind, "pkcs7-signature"):
		return
	}
	name := p.FileName
	if name == "" {
		if name = "attachment"; kind == "message/rfc822" {
			name = "forwarded mail"
		}
	}
	l.attachments = append(l.attachments, attachment{name, p.Content})
}

// forwardPattern matches the subject of a forwarded email.
var forwardPattern = lazyregexp.New(`(?i)^\W*(?:fwd?|wg|tr|rv|enc|doorst|vb|vs|pd)\s*:`)

// readBody reads the text of an email.
func readBody(b *document.Builder, l *mailMessage) error {
	body := cleanBody(l.body)
	read := text.ReadMailText
	if l.isHTML {
		read = text.ReadMailHTML
	}
	if err := read(b, body, forwardPattern.MatchString(l.subject)); err != nil {
		return err
	}
	removeLines(b)
	return nil
}

func cleanBody(body string) string {
	return strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\x00", "")
}

// removeLines removes line numbers, because they refer to the decoded text rather than to the original file.
func removeLines(b *document.Builder) {
	for i := range b.Doc.Blocks {
		b.Doc.Blocks[i].Locator = api.Locator{}
	}
}

// writeMail writes the blocks of an email under a heading with its subject.
func writeMail(b *document.Builder, l *mailMessage) error {
	b.Doc.Title = l.subject
	b.AddHeading(1, l.subject, api.Locator{})
	var keys, values []string
	for _, f := range l.headerFields() {
		if f.value = document.CleanLine(f.value); f.value != "" {
			if len(f.value) > document.MaxHeadingBytes {
				f.value = document.CutAtSpace(f.value, document.MaxHeadingBytes) + "…"
			}
			keys, values = append(keys, f.name), append(values, f.value)
		}
	}
	b.AddRow(keys, values, b.NextTableNumber(), api.Locator{})
	if strings.TrimSpace(l.body) != "" {
		part := b.NewPart()
		if err := readBody(part, l); err != nil {
			return err
		}
		b.AppendPart(part)
	}
	c := b.NewContainer()
	for i, a := range l.attachments {
		if err := b.Context().Err(); err != nil {
			return err
		}
		if err := c.Add(cmp.Or(a.name, "attachment "+strconv.Itoa(i+1)), a.content); err != nil {
			return err
		}
	}
	return b.Err()
}
