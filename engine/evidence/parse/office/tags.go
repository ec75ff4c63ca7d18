package office

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"html"
	"io"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/zipfile"
)

const maxTag = 1 << 20 // maximum bytes of a tag or the text before it; more is cut off

// tagScanner finds the tags of an XML part ten times as fast as a decoder, because it doesn't
// validate anything. It is meant for scanning a part that another reader decodes as well.
type tagScanner struct {
	r    *bufio.Reader
	text []byte // before the tag
	tag  []byte // without its brackets
}

func newTagScanner(r io.Reader) *tagScanner { return &tagScanner{r: bufio.NewReaderSize(r, 1<<13)} }

// next advances to the next tag. At the end of the part, it returns io.EOF.
func (s *tagScanner) next() error {
	s.text = s.text[:0]
	for {
		if err := s.readThrough(&s.text, '<'); err != nil {
			return err
		}
		s.text = bytes.TrimSuffix(s.text, []byte("<"))
		s.tag = s.tag[:0]
		for quote, done := byte(0), false; !done; {
			start := len(s.tag)
			if err := s.readThrough(&s.tag, '>'); err != nil {
				return err
			}
			quote, done = s.endsTag(start, quote)
		}
		if text, ok := bytes.CutPrefix(s.tag, []byte("![CDATA[")); ok {
			s.text = append(s.text, bytes.TrimSuffix(text, []byte("]]>"))...)
			continue
		}
		if !bytes.HasPrefix(s.tag, []byte("!")) && !bytes.HasPrefix(s.tag, []byte("?")) {
			s.tag = bytes.TrimSuffix(s.tag, []byte(">"))
			return nil
		}
	}
}

// endsTag reports whether the last bracket ends the tag, that is, whether it isn't inside quotes or
// a comment. It examines the data read since start and returns the quote that is then open, or 0.
func (s *tagScanner) endsTag(start int, quote byte) (open byte, ends bool) {
	switch {
	case len(s.tag) >= maxTag:
		return 0, true
	case s.tag[0] != '!':
		if quote == 0 && bytes.IndexByte(s.tag[start:], '\'') < 0 {
			if bytes.Count(s.tag[start:], []byte{'"'})%2 == 1 {
				return '"', false
			}
			return 0, true
		}
	case bytes.HasPrefix(s.tag, []byte("!--")):
		return 0, len(s.tag) > 5 && bytes.HasSuffix(s.tag, []byte("-->"))
	case bytes.HasPrefix(s.tag, []byte("![CDATA[")):
		return 0, bytes.HasSuffix(s.tag, []byte("]]>"))
	}
	for _, c := range s.tag[start:] {
		switch {
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == quote:
			quote = 0
		}
	}
	return quote, quote == 0
}

func (s *tagScanner) readThrough(to *[]byte, delimiter byte) error {
	for {
		piece, err := s.r.ReadSlice(delimiter)
		if len(*to) < maxTag {
			*to = append(*to, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// name returns the local name of the tag's element, and whether the tag begins it, ends it, or both.
func (s *tagScanner) name() (name string, begins, ends bool) {
	tag, closing := bytes.CutPrefix(s.tag, []byte("/"))
	from := 0
	for i, c := range tag {
		if c == ':' && from == 0 {
			from = i + 1
		} else if c <= ' ' || c == '/' {
			tag = tag[:i]
			break
		}
	}
	tag = tag[from:]
	return string(tag), !closing, closing || bytes.HasSuffix(s.tag, []byte("/"))
}

// attr returns an attribute of the tag by its name, or by ":name" if it has a prefix. It returns "" if the tag
// doesn't have it.
func (s *tagScanner) attr(name string) (value string) {
	s.eachAttr(func(key, raw []byte) bool {
		if string(key) != name && (name[0] != ':' || !bytes.HasSuffix(key, []byte(name))) {
			return true
		}
		value = html.UnescapeString(string(raw))
		return false
	})
	return value
}

// eachAttr calls visit with the name and the escaped value of each attribute of the tag, until visit returns false.
func (s *tagScanner) eachAttr(visit func(key, raw []byte) bool) {
	rest := s.tag
	for {
		equals := bytes.IndexByte(rest, '=')
		if equals < 0 {
			return
		}
		key := bytes.TrimSpace(rest[:equals])
		if space := bytes.LastIndexAny(key, " \t\r\n"); space >= 0 {
			key = key[space+1:]
		}
		rest = bytes.TrimLeft(rest[equals+1:], " \t\r\n")
		if len(rest) == 0 {
			return
		}
		end := bytes.IndexByte(rest[1:], rest[0])
		if end < 0 || !visit(key, rest[1:1+end]) {
			return
		}
		rest = rest[end+2:]
	}
}

// isAttrOn reports whether an attribute is true.
func (s *tagScanner) isAttrOn(name string) bool {
	v := s.attr(name)
	return v == "1" || v == "true"
}

// scanTags calls visit for each tag of a part, until visit returns false. A missing or truncated
// part is not an error.
func scanTags(b *document.Builder, z *zip.Reader, part string, visit func(*tagScanner) bool) error {
	r, err := zipfile.OpenPart(z, part, zipfile.MaxPart)
	if errors.Is(err, zipfile.ErrNoPart) {
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	s := newTagScanner(r)
	for n := 1; ; n++ {
		if n%4096 == 0 {
			if err := b.Context().Err(); err != nil {
				return err
			}
		}
		if err := s.next(); err != nil {
			var own *document.Error
			if errors.As(err, &own) {
				return err
			}
			return nil
		}
		if !visit(s) {
			return nil
		}
	}
}
