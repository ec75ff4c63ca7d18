package mail

import (
	"bytes"
	"encoding/base64"
	"io"
	"path"
	"strings"

	"github.com/jhillyerd/enmime/v2"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

// The object identifiers of the kinds of content in the Cryptographic Message Syntax (RFC 5652), encoded.
const (
	oidSigned            = "\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02"
	oidEnveloped         = "\x2a\x86\x48\x86\xf7\x0d\x01\x07\x03"
	oidEncrypted         = "\x2a\x86\x48\x86\xf7\x0d\x01\x07\x06"
	oidAuthEnveloped     = "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01\x17"
	oidCompressed        = "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01\x09"
	maxSignatures        = 3 // nested signatures around the content
	signatureNotVerified = "The document is signed; the signature was not checked."
)

var errEncrypted = document.NewError(document.ErrEncrypted, "", "the email is encrypted with its recipient's key")

// pemStarts lists the first lines of CMS data in text form.
var pemStarts = []string{"-----BEGIN PKCS7-----", "-----BEGIN CMS-----", "-----BEGIN PKCS #7 SIGNED DATA-----"}

// IsCMS reports whether a file begins like signed or encrypted data in the Cryptographic Message Syntax, such as a .p7m
// file.
func IsCMS(head []byte) bool {
	for _, start := range pemStarts {
		if bytes.HasPrefix(head, []byte(start)) {
			return true
		}
	}
	if len(head) < 2 || head[0] != tagSequence {
		return false
	}
	at := bytes.IndexByte(head[:min(len(head), 12)], tagOID) // the identifier follows the length
	if at < 0 || at+2 > len(head) {
		return false
	}
	rest := head[at+2:]
	for _, oid := range []string{oidSigned, oidEnveloped, oidEncrypted, oidAuthEnveloped, oidCompressed} {
		if int(head[at+1]) == len(oid) && bytes.HasPrefix(rest, []byte(oid)) {
			return true
		}
	}
	return false
}

// ReadSigned reads the content of a file that is signed as a whole. The signature isn't checked.
func ReadSigned(b *document.Builder, name string, content io.ReaderAt, size int64) error {
	raw, err := document.ReadAll(content, size)
	if err != nil {
		return err
	}
	inner, err := signedContent(raw)
	if err != nil {
		return err
	}
	b.Warn(signatureNotVerified)
	if isMIMEEntity(inner) {
		root, err := parseMail(inner)
		if err != nil {
			return err
		}
		l := newMessage(root)
		if err := l.collectParts(root); err != nil {
			return err
		}
		return writeMail(b, l)
	}
	return b.AppendDocument(strings.TrimSuffix(name, path.Ext(name)), inner)
}

// isMIMEEntity reports whether data begins with a MIME header that states its content type.
func isMIMEEntity(data []byte) bool {
	header, _, found := bytes.Cut(bytes.ReplaceAll(data[:min(len(data), 4096)], []byte("\r\n"), []byte("\n")), []byte("\n\n"))
	name, _, _ := bytes.Cut(header, []byte(":"))
	return found && !bytes.ContainsAny(name, " \t\n<") && bytes.Contains(bytes.ToLower(header), []byte("content-type:"))
}

// unwrapOpaquelySigned returns the parts inside an opaquely signed email, or root itself for other emails.
func unwrapOpaquelySigned(root *enmime.Part) (*enmime.Part, error) {
	for range maxSignatures {
		if !isOpaque(root) {
			return root, nil
		}
		if strings.Contains(strings.ToLower(root.Header.Get("Content-Type")), "enveloped-data") {
			return nil, errEncrypted
		}
		inner, err := signedContent(root.Content)
		if err != nil {
			return nil, err
		}
		if root, err = parseMail(inner); err != nil {
			return nil, err
		}
	}
	return nil, document.NewError(document.ErrTooLarge, "", "the email has more than %d nested signatures", maxSignatures)
}

// isOpaque reports whether a part is signed or encrypted data that contains the mail.
func isOpaque(p *enmime.Part) bool {
	return strings.HasSuffix(strings.ToLower(p.ContentType), "pkcs7-mime")
}

// signedContent returns the content of signed data. If raw isn't signed data, the error says what it is.
func signedContent(raw []byte) ([]byte, error) {
	if i := bytes.IndexByte(raw, '\n'); bytes.HasPrefix(raw, []byte("-----BEGIN")) && i > 0 {
		body, _, _ := bytes.Cut(raw[i:], []byte("-----END"))
		decoded, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(body)), ""))
		if err != nil {
			return nil, document.DamagedError("the signed data", err)
		}
		raw = decoded
	}
	damaged := document.NewError(document.ErrDamaged, "the signed data", "the signed data is incomplete or has an unknown format")
	info, ok := berChildren(raw, tagSequence)
	if !ok || len(info) < 2 || info[0].tag != tagOID {
		return nil, damaged
	}
	switch oid := string(info[0].content); oid {
	case oidSigned:
	case oidCompressed:
		return nil, document.NewError(document.ErrUnsupported, "",
			"the email is compressed (CMS); save the message in your mail program and add the saved copy")
	default:
		return nil, errEncrypted
	}
	// SignedData: version, digest algorithms, content info, certificates, …
	data, ok := berChildren(info[1].content, tagSequence)
	if !ok || len(data) < 3 || data[2].tag != tagSequence {
		return nil, damaged
	}
	inner, ok := readBER(data[2].content)
	if !ok || len(inner) == 0 {
		return nil, damaged
	}
	if len(inner) == 1 {
		return nil, document.NewError(document.ErrUnsupported, "", "the file is a signature without content; add the signed file")
	}
	octets, ok := readBER(inner[1].content)
	if !ok {
		return nil, damaged
	}
	content := joinOctets(nil, octets, 0)
	if len(content) == 0 {
		return nil, document.NewError(document.ErrEmpty, "", "the signed data is empty")
	}
	return content, nil
}

// The tags of the Basic Encoding Rules (BER) that enclose the content.
const (
	tagOID         = 0x06
	tagOctets      = 0x04
	tagSequence    = 0x30
	tagConstructed = 0x20
	maxBERDepth    = 8
)

// berValue is a value with its tag.
type berValue struct {
	tag     byte
	content []byte
}

// berChildren returns the values within the first value in raw, which must have a tag.
func berChildren(raw []byte, tag byte) ([]berValue, bool) {
	outer, ok := readBER(raw)
	if !ok || len(outer) == 0 || outer[0].tag != tag {
		return nil, false
	}
	return readBER(outer[0].content)
}

// readBER returns the values in raw. It supports indefinite lengths, which mail programs use and
// package encoding/asn1 doesn't support. ok is false if a value is cut off.
func readBER(raw []byte) (values []berValue, ok bool) {
	for len(raw) > 0 && !bytes.HasPrefix(raw, []byte{0, 0}) {
		v, rest, ok := nextBER(raw, 0)
		if !ok || len(values) >= 10_000 {
			return nil, false
		}
		values, raw = append(values, v), rest
	}
	return values, true
}

// nextBER returns the first value in raw and what follows it.
func nextBER(raw []byte, depth int) (v berValue, rest []byte, ok bool) {
	if len(raw) < 2 || raw[0]&0x1f == 0x1f || depth > maxBERDepth {
		return v, nil, false
	}
	v.tag = raw[0]
	n, at := int(raw[1]), 2
	switch {
	case n == 0x80: // the value ends with two zeros
		inner := raw[at:]
		for !bytes.HasPrefix(inner, []byte{0, 0}) {
			if _, inner, ok = nextBER(inner, depth+1); !ok {
				return v, nil, false
			}
		}
		v.content = raw[at : len(raw)-len(inner)]
		return v, inner[2:], true
	case n > 0x84:
		return v, nil, false
	case n > 0x80:
		at, n = at+n-0x80, 0
		for _, b := range raw[2:min(len(raw), at)] {
			n = n<<8 | int(b)
		}
	}
	if n < 0 || at+n > len(raw) {
		return v, nil, false
	}
	v.content = raw[at : at+n]
	return v, raw[at+n:], true
}

// joinOctets appends the content of octet strings, which may be nested, to out.
func joinOctets(out []byte, values []berValue, depth int) []byte {
	for _, v := range values {
		switch {
		case v.tag == tagOctets:
			out = append(out, v.content...)
		case v.tag == tagOctets|tagConstructed && depth < maxBERDepth:
			inner, _ := readBER(v.content)
			out = joinOctets(out, inner, depth+1)
		}
	}
	return out
}
