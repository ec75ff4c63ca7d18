package mail

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/charset"
)

// Attributes of a TNEF message, by their numbers in MS-OXTNEF.
const (
	tnefSubject        = 0x00018004
	tnefBody           = 0x0002800C
	tnefProperties     = 0x00069003
	tnefCodePage       = 0x00069007
	tnefAttachment     = 0x00069002 // begins an attachment
	tnefName           = 0x00018010
	tnefData           = 0x0006800F
	tnefAttachmentMore = 0x00069005 // properties of the attachment

	tnefHead = 6 // bytes of the file's signature and key
)

// ReadTNEF reads a message in the transport format of Outlook, which other mail programs show as winmail.dat.
func ReadTNEF(b *document.Builder, content io.ReaderAt, size int64) error {
	raw, err := readLimited(content, size)
	if err != nil {
		return err
	}
	l, page := &mailMessage{}, uint32(1252)
	text := func(data []byte) string { return strings.TrimRight(decodeCodePage(data, page), "\x00") }
	for raw = raw[min(tnefHead, len(raw)):]; len(raw) > 0; {
		if len(raw) < 11 {
			return document.NewError(document.ErrDamaged, "", "the file is truncated")
		}
		id, length := binary.LittleEndian.Uint32(raw[1:]), uint64(binary.LittleEndian.Uint32(raw[5:]))
		if length+11 > uint64(len(raw)) { // followed by a checksum
			return document.NewError(document.ErrDamaged, "", "the file is truncated")
		}
		data := raw[9 : 9+length]
		raw = raw[length+11:]
		var open *attachment
		if n := len(l.attachments); n > 0 {
			open = &l.attachments[n-1]
		}
		switch {
		case id == tnefCodePage && length >= 4:
			page = binary.LittleEndian.Uint32(data)
		case id == tnefSubject:
			l.subject = text(data)
		case id == tnefBody:
			l.body = text(data)
		case id == tnefProperties:
			l.addProperties(readMAPI(data), text)
		case id == tnefAttachment:
			if len(l.attachments) >= document.MaxMembers {
				return document.NewError(document.ErrTooLarge, "", "the email has more than %d attachments", document.MaxMembers)
			}
			l.attachments = append(l.attachments, attachment{})
		case open == nil:
		case id == tnefName && open.name == "":
			open.name = text(data)
		case id == tnefData:
			open.content = data
		case id == tnefAttachmentMore:
			properties := readMAPI(data)
			if name := properties.text(0x3707, text); name != "" {
				open.name = name
			}
			if object := properties[0x3701].data; len(object) > 16 && open.content == nil {
				open.content = object[16:] // an attached message in the same format, after an interface ID
			}
		}
	}
	return writeMail(b, l)
}

// addProperties adds the message's properties that contain more than its attributes.
func (l *mailMessage) addProperties(p mapiProperties, text func([]byte) string) {
	for id, to := range map[uint16]*string{0x0037: &l.subject, 0x0C1A: &l.from, 0x0E04: &l.to, 0x0E03: &l.cc, 0x1000: &l.body} {
		if value := p.text(id, text); value != "" {
			*to = value
		}
	}
	if page := string(p[0x1013].data); page != "" && strings.TrimSpace(l.body) == "" {
		l.body, _ = charset.Decode([]byte(page))
		l.isHTML = true
	}
	if rtf := p[0x1009].data; len(rtf) > 0 && strings.TrimSpace(l.body) == "" {
		l.addRTF(rtf)
	}
}

// mapiProperty is the value of a property; values of fixed length are omitted.
type mapiProperty struct {
	kind uint16
	data []byte
}

type mapiProperties map[uint16]mapiProperty

func (p mapiProperties) text(id uint16, decode func([]byte) string) string {
	if v := p[id]; v.kind == 0x1F {
		return strings.TrimRight(charset.DecodeUTF16LE(v.data), "\x00")
	} else if v.kind == 0x1E {
		return decode(v.data)
	}
	return ""
}

// readMAPI reads the list of properties in an attribute, up to the first one that isn't well-formed.
func readMAPI(raw []byte) mapiProperties {
	out := mapiProperties{}
	r := bytes.NewReader(raw)
	number := func() (n uint32) {
		if binary.Read(r, binary.LittleEndian, &n) != nil {
			r.Reset(nil)
		}
		return n
	}
	take := func(n uint32) []byte {
		from := len(raw) - r.Len()
		if int64(n) > int64(r.Len()) {
			r.Reset(nil)
			return nil
		}
		_, _ = r.Seek(int64((n+3)&^3), io.SeekCurrent) // past the end, there is nothing left to read
		return raw[from : from+int(n)]
	}
	for number(); r.Len() > 0; {
		tag := number()
		kind, id := uint16(tag), uint16(tag>>16)
		if id >= 0x8000 { // skip its name
			take(16)
			if number() == 1 {
				take(number())
			} else {
				number()
			}
		}
		size := map[uint16]uint32{2: 4, 3: 4, 4: 4, 0xA: 4, 0xB: 4, 5: 8, 6: 8, 7: 8, 0x14: 8, 0x40: 8, 0x48: 16}[kind&^0x1000]
		values := uint32(1)
		if kind&0x1000 != 0 || size == 0 {
			values = number()
		}
		for ; values > 0 && r.Len() > 0; values-- {
			if size > 0 {
				take(size)
			} else {
				out[id] = mapiProperty{kind, take(number())}
			}
		}
	}
	return out
}
