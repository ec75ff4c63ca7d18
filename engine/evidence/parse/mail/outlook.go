package mail

import (
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/engine/evidence/parse/cfb"
	"github.com/scf-service/service/internal/charset"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

// Properties of an Outlook message, by their numbers in MS-OXPROPS.
const (
	propSubject     = "0037"
	propSender      = "0C1A"
	propSenderMail  = "5D01" // SMTP address; the other form is an X.500 name
	propTo          = "0E04"
	propCc          = "0E03"
	propBody        = "1000"
	propHTML        = "1013"
	propRTF         = "1009"
	propSubmitted   = 0x0039
	propDelivered   = 0x0E06
	propCodePage    = 0x3FFD
	propData        = "3701"
	propLongName    = "3707"
	propShortName   = "3704"
	propDisplayName = "3001"

	typeBinary  = "0102"
	typeUnicode = "001F"
	typeString  = "001E"
	typeObject  = "000D"
)

// ReadOutlook reads a message saved by Outlook (.msg).
func ReadOutlook(b *document.Builder, content io.ReaderAt, size int64) error {
	if size > maxMail {
		return document.NewError(document.ErrTooLarge, "", "the email has %d bytes (the limit is %d)", size, maxMail)
	}
	f, err := cfb.Open(content, size)
	if err != nil {
		return document.DamagedError("", err)
	}
	m := &msgReader{f: f, b: b}
	l, err := m.readMessage(f.Root, 32, 0)
	if err != nil {
		return err
	}
	return writeMail(b, l)
}

type msgReader struct {
	f *cfb.File
	b *document.Builder
}

// readStream reads a property that is stored in its own stream. It returns nil if there is none.
func (m *msgReader) readStream(in *cfb.Entry, prop, kind string) ([]byte, error) {
	e := in.Child("__substg1.0_" + prop + kind)
	if e == nil || e.IsStorage {
		return nil, nil
	}
	if err := m.b.ConsumeUnpackedBudget(e.Size); err != nil {
		return nil, err
	}
	raw, err := m.f.ReadStream(e)
	if err != nil {
		return nil, document.DamagedError(e.Name, err)
	}
	return raw, nil
}

// readText reads a text property, which is encoded in UTF-16 or the given code page.
func (m *msgReader) readText(in *cfb.Entry, prop string, codePage uint32) (string, error) {
	raw, err := m.readStream(in, prop, typeUnicode)
	if err != nil {
		return "", err
	}
	if raw != nil {
		return charset.DecodeUTF16LE(raw), nil
	}
	raw, err = m.readStream(in, prop, typeString)
	return decodeCodePage(raw, codePage), err
}

// decodeCodePage decodes bytes in a Windows code page.
func decodeCodePage(raw []byte, page uint32) string {
	if page == 65001 {
		return strings.ToValidUTF8(string(raw), "\uFFFD")
	}
	s, err := charset.CodePage(int(page)).NewDecoder().Bytes(raw)
	if err != nil {
		return strings.ToValidUTF8(string(raw), "\uFFFD")
	}
	return strings.TrimRight(string(s), "\x00")
}

// readMessage reads the message in a storage. headBytes is the size of the header in its stream of
// fixed-length properties.
func (m *msgReader) readMessage(in *cfb.Entry, headBytes, depth int) (*mailMessage, error) {
	fixed, err := m.readFixedProperties(in, headBytes)
	if err != nil {
		return nil, err
	}
	page := uint32(fixed[propCodePage])
	l := &mailMessage{}
	for _, p := range []struct {
		prop string
		to   *string
	}{{propSubject, &l.subject}, {propSender, &l.from}, {propTo, &l.to}, {propCc, &l.cc}, {propBody, &l.body}} {
		if *p.to, err = m.readText(in, p.prop, page); err != nil {
			return nil, err
		}
	}
	if address, err := m.readText(in, propSenderMail, page); err != nil {
		return nil, err
	} else if address != "" && address != l.from {
		l.from = strings.TrimSpace(l.from + " <" + address + ">")
	}
	for _, p := range []uint16{propSubmitted, propDelivered} {
		if v := fixed[p]; v > 0 && l.date == "" {
			l.date = formatFileTime(v)
		}
	}
	if strings.TrimSpace(l.body) == "" {
		raw, err := m.readStream(in, propHTML, typeBinary)
		if err != nil {
			return nil, err
		}
		l.body, l.isHTML = decodeCodePage(raw, page), raw != nil
	}
	if strings.TrimSpace(l.body) == "" {
		raw, err := m.readStream(in, propRTF, typeBinary)
		if err != nil {
			return nil, err
		}
		l.addRTF(raw)
	}
	return l, m.readAttachments(in, l, page, depth)
}

// readAttachments reads the attachments of a message. An attached message is converted to an RFC 5322 mail.
func (m *msgReader) readAttachments(in *cfb.Entry, l *mailMessage, page uint32, depth int) error {
	var stores []*cfb.Entry
	for _, c := range in.Children {
		if c.IsStorage && strings.HasPrefix(c.Name, "__attach_version1.0_") {
			stores = append(stores, c)
		}
	}
	slices.SortFunc(stores, func(a, b *cfb.Entry) int { return strings.Compare(a.Name, b.Name) })
	for _, s := range stores {
		if len(l.attachments) > document.MaxMembers {
			return document.NewError(document.ErrTooLarge, "", "the email has more than %d attachments", document.MaxMembers)
		}
		var name string
		for _, prop := range []string{propLongName, propDisplayName, propShortName} {
			if name != "" {
				break
			}
			var err error
			if name, err = m.readText(s, prop, page); err != nil {
				return err
			}
		}
		if inner := s.Child("__substg1.0_" + propData + typeObject); inner != nil && inner.IsStorage {
			if depth >= document.MaxNesting || inner.Child("__properties_version1.0") == nil {
				m.b.Warn("%s was skipped because it is an object embedded in the email", document.CleanLine(name))
				continue
			}
			one, err := m.readMessage(inner, 24, depth+1)
			if err != nil {
				return err
			}
			l.attachments = append(l.attachments, attachment{name, one.formatRFC5322()})
			l.attachments = append(l.attachments, one.attachments...)
			continue
		}
		raw, err := m.readStream(s, propData, typeBinary)
		if err != nil {
			return err
		}
		l.attachments = append(l.attachments, attachment{name, raw})
	}
	return nil
}

// formatRFC5322 formats an attached message as an RFC 5322 mail.
func (l *mailMessage) formatRFC5322() []byte {
	kind := "text/plain"
	if l.isHTML {
		kind = "text/html"
	}
	var sb strings.Builder
	for _, f := range append(l.headerFields(), headerField{"Subject", l.subject}) {
		if f.value != "" {
			sb.WriteString(f.name + ": " + document.CleanLine(f.value) + "\r\n")
		}
	}
	sb.WriteString("MIME-Version: 1.0\r\nContent-Type: " + kind + "; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n")
	return []byte(sb.String() + l.body)
}

// readFixedProperties reads the properties of fixed length and returns them by property number.
func (m *msgReader) readFixedProperties(in *cfb.Entry, headBytes int) (map[uint16]uint64, error) {
	out := map[uint16]uint64{}
	e := in.Child("__properties_version1.0")
	if e == nil {
		return out, nil
	}
	raw, err := m.f.ReadStream(e)
	if err != nil {
		return nil, document.DamagedError(e.Name, err)
	}
	for i := headBytes; i+16 <= len(raw); i += 16 {
		switch kind := binary.LittleEndian.Uint16(raw[i:]); kind {
		case 0x0003:
			out[binary.LittleEndian.Uint16(raw[i+2:])] = uint64(binary.LittleEndian.Uint32(raw[i+8:]))
		case 0x0040:
			out[binary.LittleEndian.Uint16(raw[i+2:])] = binary.LittleEndian.Uint64(raw[i+8:])
		}
	}
	return out, nil
}

// formatFileTime formats a Windows file time, which counts units of 100 ns since 1601.
func formatFileTime(v uint64) string {
	const toUnix = 11_644_473_600
	sec := int64(v/10_000_000) - toUnix
	if sec < 0 || sec > 7_258_118_400 { // 1970 to 2200
		return ""
	}
	return time.Unix(sec, 0).UTC().Format("2 January 2006 15:04 UTC")
}
