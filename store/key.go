package store

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Key is a tuple whose bytes sort like its parts: part by part, false before true, numbers by value, times by
// instant, text and bytes bytewise, and a tuple before its extensions. Parts of different kinds sort by kind.
//
//	bytes   01 content 00        a 00 in the content is written 00 FF
//	text    02 content 00
//	false   10    true   11
//	integer 20 eight bytes, the sign bit flipped
//	time    30 seconds as an integer, four bytes of nanoseconds
//
// No part begins with FF, so the extensions of a tuple sort between its bytes and its bytes followed by FF.
type Key struct {
	b   []byte
	err error
}

const (
	tagBytes      = 0x01
	tagText       = 0x02
	tagFalse      = 0x10
	tagTrue       = 0x11
	tagInt        = 0x20
	tagTime       = 0x30
	tagUpperBound = 0xFF // sorts after every extension; never written
)

// K returns a key with the given parts, which may be strings, byte slices, bools, integers and times, or types
// derived from them. With parts of other types, the key is invalid: every table rejects it with ErrBadKey.
func K(parts ...any) Key {
	k := Key{b: make([]byte, 0, 48)}
	for i, p := range parts {
		if k.b, k.err = appendPart(k.b, p); k.err != nil {
			return Key{err: fmt.Errorf("part %d: %w", i+1, k.err)}
		}
	}
	return k
}

// Err returns the error for a key with invalid parts, or nil for a valid key.
func (k Key) Err() error { return k.err }

// IsZero reports whether the key has no parts.
func (k Key) IsZero() bool { return len(k.b) == 0 && k.err == nil }

// Join returns a key with the parts of k, followed by those of suffix.
func (k Key) Join(suffix Key) Key {
	if k.err != nil {
		return k
	}
	if suffix.err != nil {
		return suffix
	}
	return Key{b: append(k.b[:len(k.b):len(k.b)], suffix.b...)}
}

// appendPart appends a part of a key in its encoded form.
func appendPart(b []byte, p any) ([]byte, error) {
	switch v := p.(type) {
	case string:
		return appendEscaped(append(b, tagText), v), nil
	case []byte:
		return appendEscaped(append(b, tagBytes), v), nil
	case bool:
		return appendBool(b, v), nil
	case int:
		return appendInt(append(b, tagInt), int64(v)), nil
	case int64:
		return appendInt(append(b, tagInt), v), nil
	case time.Time:
		b = appendInt(append(b, tagTime), v.Unix())
		return binary.BigEndian.AppendUint32(b, uint32(v.Nanosecond())), nil
	case Key:
		return append(b, v.b...), v.err
	}
	v := reflect.ValueOf(p)
	switch v.Kind() {
	case reflect.String:
		return appendEscaped(append(b, tagText), v.String()), nil
	case reflect.Bool:
		return appendBool(b, v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return appendInt(append(b, tagInt), v.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if v.Uint() > math.MaxInt64 {
			return nil, fmt.Errorf("%w: %d is too large", ErrBadKey, v.Uint())
		}
		return appendInt(append(b, tagInt), int64(v.Uint())), nil
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return appendEscaped(append(b, tagBytes), v.Bytes()), nil
		}
	}
	return nil, fmt.Errorf("%w: a %T can't be part of a key", ErrBadKey, p)
}

// appendEscaped appends s with each 00 escaped, followed by the terminator 00.
func appendEscaped[T string | []byte](b []byte, s T) []byte {
	for i := range len(s) {
		b = append(b, s[i])
		if s[i] == 0 {
			b = append(b, 0xFF)
		}
	}
	return append(b, 0)
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, tagTrue)
	}
	return append(b, tagFalse)
}

func appendInt(b []byte, v int64) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(v)^1<<63)
}

// Parts returns the parts of the key: []byte, string, bool, int64, time.Time in UTC. It returns
// ErrBadKey if the bytes are not a key.
func (k Key) Parts() ([]any, error) {
	if k.err != nil {
		return nil, k.err
	}
	var parts []any
	for b := k.b; len(b) > 0; {
		p, rest, err := decodePart(b)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", len(parts)+1, err)
		}
		parts, b = append(parts, p), rest
	}
	return parts, nil
}

// decodePart decodes the first part of a non-empty key, and returns the rest of the key.
func decodePart(b []byte) (part any, rest []byte, err error) {
	tag, b := b[0], b[1:]
	switch tag {
	case tagBytes, tagText:
		s, rest, err := decodeEscaped(b)
		if err != nil {
			return nil, nil, err
		}
		if tag == tagText {
			return string(s), rest, nil
		}
		return s, rest, nil
	case tagFalse, tagTrue:
		return tag == tagTrue, b, nil
	case tagInt:
		if len(b) < 8 {
			return nil, nil, fmt.Errorf("%w: an integer is truncated", ErrBadKey)
		}
		return int64(binary.BigEndian.Uint64(b) ^ 1<<63), b[8:], nil
	case tagTime:
		if len(b) < 12 || binary.BigEndian.Uint32(b[8:]) > 999_999_999 {
			return nil, nil, fmt.Errorf("%w: not a time", ErrBadKey)
		}
		sec := int64(binary.BigEndian.Uint64(b) ^ 1<<63)
		return time.Unix(sec, int64(binary.BigEndian.Uint32(b[8:]))).UTC(), b[12:], nil
	}
	return nil, nil, fmt.Errorf("%w: a part of a key can't begin with %#02x", ErrBadKey, tag)
}

// decodeEscaped is the inverse of appendEscaped.
func decodeEscaped(b []byte) (s, rest []byte, err error) {
	s = []byte{}
	for i := 0; i < len(b); i++ {
		if b[i] != 0 {
			s = append(s, b[i])
			continue
		}
		if i+1 == len(b) || b[i+1] != 0xFF {
			return s, b[i+1:], nil
		}
		s = append(s, 0)
		i++
	}
	return nil, nil, fmt.Errorf("%w: unterminated text", ErrBadKey)
}

// String returns a readable form, for example "org"/7.
func (k Key) String() string {
	parts, err := k.Parts()
	if err != nil {
		return fmt.Sprintf("%x", k.b)
	}
	var s strings.Builder
	for i, p := range parts {
		if i > 0 {
			s.WriteByte('/')
		}
		switch v := p.(type) {
		case string:
			s.WriteString(strconv.Quote(v))
		case []byte:
			fmt.Fprintf(&s, "%x", v)
		case time.Time:
			s.WriteString(v.Format(time.RFC3339Nano))
		default:
			fmt.Fprint(&s, v)
		}
	}
	return s.String()
}
