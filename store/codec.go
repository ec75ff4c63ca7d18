package store

import (
	"encoding/json"
	"fmt"
	"reflect"

	fastjson "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	legacy "github.com/go-json-experiment/json/v1"
	"github.com/klauspost/compress/s2"
)

// The first byte of a stored record: its encoding and a flag for compression. A new codec gets a
// new number; old bytes stay readable.
const (
	markJSON        = 0x01
	markCustomCodec = 0x02 // the table's Codec
	markCompressed  = 0x80 // s2 block
)

const (
	minCompressSize = 1 << 10  // smaller records are not worth compressing
	maxRecordSize   = 32 << 20 // bytes after decompression
)

// codec encodes and decodes records. An any holds a pointer to the record.
type codec struct {
	mark   byte
	encode func(any) ([]byte, error)
	decode func([]byte, any) error
}

var jsonCodec = codec{mark: markJSON, encode: json.Marshal, decode: decodeJSON}

// trustedJSONOptions decodes like encoding/json but skips the search for duplicate names, which our
// own output can't have.
var trustedJSONOptions = fastjson.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true),
	legacy.FormatByteArrayAsArray(true), legacy.FormatDurationAsNano(true))

// decodeJSON decodes a record from JSON, in a third of the time of encoding/json.
func decodeJSON(b []byte, r any) error {
	if err := fastjson.Unmarshal(b, r, trustedJSONOptions); err == nil {
		return nil
	}
	reflect.ValueOf(r).Elem().SetZero()
	return json.Unmarshal(b, r) // returns the better error
}

// packRecord returns an encoded record in its stored form: the payload, compressed if that saves enough,
// after a byte with mark.
func packRecord(mark byte, payload []byte) ([]byte, error) {
	if len(payload) > maxRecordSize {
		return nil, fmt.Errorf("%w: a record of %d bytes, at most %d; keep it as a blob", ErrTooLarge, len(payload), maxRecordSize)
	}
	if len(payload) >= minCompressSize {
		out := make([]byte, 1+s2.MaxEncodedLen(len(payload)))
		out[0] = mark | markCompressed
		n := len(s2.Encode(out[1:], payload))
		if n < len(payload)-len(payload)/10 {
			return out[: 1+n : 1+n], nil
		}
	}
	if len(payload) >= maxValue {
		return nil, fmt.Errorf("%w: a record of %d bytes that doesn't compress; keep it as a blob", ErrTooLarge, len(payload))
	}
	return append([]byte{mark}, payload...), nil
}

// unpackRecord is the inverse of packRecord. payload may be a part of b.
func unpackRecord(b []byte) (mark byte, payload []byte, err error) {
	if len(b) == 0 {
		return 0, nil, fmt.Errorf("%w: an empty record", ErrCorrupt)
	}
	mark, payload = b[0]&^markCompressed, b[1:]
	if b[0]&markCompressed != 0 {
		n, err := s2.DecodedLen(payload)
		if err != nil || n > maxRecordSize {
			return 0, nil, fmt.Errorf("%w: a compressed record with an invalid length", ErrCorrupt)
		}
		if payload, err = s2.Decode(nil, payload); err != nil {
			return 0, nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
	}
	if mark != markJSON && mark != markCustomCodec {
		return 0, nil, fmt.Errorf("%w: a record with the unknown format %#02x", ErrCorrupt, mark)
	}
	return mark, payload, nil
}

func (c codec) marshal(r any) ([]byte, error) {
	b, err := c.encode(r)
	if err != nil {
		return nil, err
	}
	return packRecord(c.mark, b)
}

// unmarshal decodes stored bytes into r, which doesn't refer to them afterwards. A table with a codec of
// its own can still read its older JSON records.
func (c codec) unmarshal(b []byte, r any) error {
	mark, plain, err := unpackRecord(b)
	if err != nil {
		return err
	}
	decode := c.decode
	if mark != c.mark {
		if mark != markJSON {
			return fmt.Errorf("%w: a record in a codec this table does not have", ErrCorrupt)
		}
		decode = decodeJSON
	}
	if err := decode(plain, r); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}
