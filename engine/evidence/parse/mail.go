package parse

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"github.com/jhillyerd/enmime/v2"

	"github.com/scf-service/service/api"
)

// Limits of a mail: the mail parser can't be stopped, and takes longer the deeper the parts are
// nested.
const (
	maxMail          = 64 << 20
	maxBoundaries    = 200
	maxDelimiters    = 20_000
	minInlinePicture = 4 << 10 // bytes; a smaller inline image is a logo or an emoji
)

// mailMessage is a mail of any format.
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

// readMail reads a mail in transport format (RFC 5322): its header as a row, its text, and each
// attachment as a document in it. Links are not fetched.
func (r *Reader) readMail(b *builder, content io.ReaderAt, size int64) error {
	if size > maxMail {
		return newError(ErrTooLarge, "", "a mail of %d bytes, the limit is %d", size, maxMail)
	}
	raw, err := readAll(content, size)
	if err != nil {
		return err
	}
	if bytes.Count(bytes.ToLower(raw), []byte("boundary")) > maxBoundaries || bytes.Count(raw, []byte("\n--")) > maxDelimiters {
		return newError(ErrTooLarge, "", "a mail with too deeply nested parts")
	}
	parser := enmime.NewParser(
		enmime.SkipMalformedParts(true),
		enmime.MultipartWOBoundaryAsSinglePart(true),
		enmime.MaxStoredPartErrors(20),
		enmime.SetReadPartErrorPolicy(enmime.AllowCorruptTextPartErrorPolicy),
	)
	root, err := parser.ReadParts(bytes.NewReader(raw))
	if err != nil {
		return damagedError("the mail", err)
	}
	kind := strings.ToLower(root.ContentType)
	if kind == "multipart/encrypted" ||
		strings.HasSuffix(kind, "pkcs7-mime") && !strings.Contains(strings.ToLower(root.Header.Get("Content-Type")), "signed-data") {
		return newError(ErrEncrypted, "", "a mail encrypted with its recipient's key")
	}
	l := mailMessage{
		from:    decodeHeader(root, "From"),
		to:      decodeHeader(root, "To"),
		cc:      decodeHeader(root, "Cc"),
		date:    decodeHeader(root, "Date"),
		subject: decodeHeader(root, "Subject"),
	}
	l.collectParts(root)
	return r.writeMail(b, &l)
}

func decodeHeader(p *enmime.Part, name string) string {
	return enmime.DecodeRFC2047(p.Header.Get(name))
}

// collectParts finds the body and the attachments. Of alternatives it uses the plain text, or the
// HTML if there is none.
func (l *mailMessage) collectParts(p *enmime.Part) {
	kind := strings.ToLower(p.ContentType)
	switch {
	case kind == "multipart/alternative":
		for _, want := range []string{"text/plain", "text/html"} {
			if c := p.BreadthMatchFirst(func(c *enmime.Part) bool {
				return strings.EqualFold(c.ContentType, want) && c.Disposition != "attachment" && len(bytes.TrimSpace(c.Content)) > 0
			}); c != nil {
				l.addText(string(c.Content), want == "text/html")
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
			l.collectParts(c)
		}
	case (kind == "text/plain" || kind == "text/html" || kind == "") && p.Disposition != "attachment" && p.FileName == "":
		l.addText(string(p.Content), kind == "text/html")
	case strings.HasPrefix(kind, "multipart/"):
	default:
		l.addAttachment(p)
	}
}

// addText adds to the body; parts of a type other than the first are attachments.
func (l *mailMessage) addText(s string, html bool) {
	switch {
	case strings.TrimSpace(s) == "":
	case l.body == "":
		l.body, l.isHTML = s, html
	case l.isHTML == html:
		l.body += "\n\n" + s
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

// writeMail writes the blocks of a mail, under its subject.
func (r *Reader) writeMail(b *builder, l *mailMessage) error {
	b.doc.Title = l.subject
	b.addHeading(1, l.subject, api.Locator{})
	var keys, values []string
	for _, f := range []fact{{"From", l.from}, {"To", l.to}, {"Cc", l.cc}, {"Date", l.date}} {
		if f.value = cleanText(f.value); f.value != "" {
			if len(f.value) > maxHeadingBytes {
				f.value = cutAtSpace(f.value, maxHeadingBytes) + "…"
			}
			keys, values = append(keys, f.key), append(values, f.value)
		}
	}
	b.addRow(keys, values, b.nextTableNumber(), api.Locator{})
	c := r.newContainer(b)
	if strings.TrimSpace(l.body) != "" {
		child := newBuilder(b.ctx, "", b.remaining)
		child.maxText = b.maxText
		body := strings.ReplaceAll(strings.ReplaceAll(l.body, "\r\n", "\n"), "\x00", "")
		readBody := readPlain
		if l.isHTML {
			readBody = readHTML
		}
		if err := readBody(child, body); err != nil {
			return err
		}
		// Line numbers refer to the decoded text and can't be found in the file.
		for i := range child.doc.Blocks {
			child.doc.Blocks[i].Locator = api.Locator{}
		}
		b.remaining = child.remaining
		c.appendBlocks(child, len(b.headingPath))
	}
	for i, a := range l.attachments {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		if a.name == "" {
			a.name = "attachment " + strconv.Itoa(i+1)
		}
		label := c.uniqueName(a.name)
		if err := c.checkLimits(int64(len(a.content))); err != nil {
			return err
		}
		if err := c.addMember(label, a.content); err != nil {
			return err
		}
	}
	return b.err
}
