package store

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"

	fastjson "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	legacy "github.com/go-json-experiment/json/v1"
	"github.com/klauspost/compress/s2"
)

// The first byte of a stored record consists of its encoding and a flag for compression. A new codec gets a new
// number; old records remain readable.
const (
	markJSON        = 0x01
	markCustomCodec = 0x02 // encoded by the table's Codec
	markDictionary  = 0x20 // with markCompressed: the block uses recordDictionary
	markCompressed  = 0x80 // an s2 block
)

const (
	minCompressSize   = 1 << 10  // smaller records are not worth compressing without a dictionary
	minDictionarySize = 1 << 7   // even smaller ones are not worth compressing with it
	maxDictionarySize = 8 << 10  // larger ones gain little from a dictionary, and are decoded faster without it
	maxRecordSize     = 32 << 20 // bytes after decompression
)

// recordDictionaryBytes is text that JSON records often contain. It must never change, because stored records depend
// on it; a better dictionary would need a mark of its own. It was created from the records of examples/harbor, without
// IDs and times, by BuildS2Dict of github.com/klauspost/compress/dict (32 KB, hashes of 8 bytes).
//
//go:embed record.dict
var recordDictionaryBytes []byte

var recordDictionary = sync.OnceValue(func() *s2.Dict { return s2.NewDict(recordDictionaryBytes) })

// codec encodes and decodes records. Values of type any are pointers to records.
type codec struct {
	mark   byte
	encode func(any) ([]byte, error)
	decode func([]byte, any) error
}

var jsonCodec = codec{mark: markJSON, encode: json.Marshal, decode: decodeJSON}

// trustedJSONOptions make decoding work like encoding/json, but without the search for duplicate names, which the store
// never writes.
var trustedJSONOptions = fastjson.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true),
	legacy.FormatByteArrayAsArray(true), legacy.FormatDurationAsNano(true))

// decodeJSON decodes a record from JSON, in a third of the time of encoding/json.
func decodeJSON(b []byte, r any) error {
	if err := fastjson.Unmarshal(b, r, trustedJSONOptions); err == nil {
		return nil
	}
	reflect.ValueOf(r).Elem().SetZero()
	return json.Unmarshal(b, r) // for its better error message
}

// packRecord returns an encoded record in its stored form: a byte with mark, followed by the payload, which is
// compressed if that saves enough.
func packRecord(mark byte, payload []byte) ([]byte, error) {
	if len(payload) > maxRecordSize {
		return nil, fmt.Errorf("%w: a record has %d bytes, but the maximum is %d; store the record as a blob",
			ErrTooLarge, len(payload), maxRecordSize)
	}
	if compressed := compressRecord(mark, payload); compressed != nil {
		return compressed, nil
	}
	if len(payload) >= maxValue {
		return nil, fmt.Errorf("%w: a record of %d bytes can't be compressed; store the record as a blob", ErrTooLarge, len(payload))
	}
	return append([]byte{mark}, payload...), nil
}

// compressRecord returns the compressed form of a record, or nil if compression saves less than a tenth.
func compressRecord(mark byte, payload []byte) []byte {
	encode, flags := s2.Encode, byte(markCompressed)
	switch {
	case mark == markJSON && len(payload) >= minDictionarySize && len(payload) <= maxDictionarySize:
		// EncodeBetter saves another 7% but takes five times as long, most of it to clear its tables.
		encode, flags = recordDictionary().Encode, markCompressed|markDictionary
	case len(payload) < minCompressSize:
		return nil
	}
	out := make([]byte, 1+s2.MaxEncodedLen(len(payload)))
	out[0] = mark | flags
	n := len(encode(out[1:], payload))
	if n >= len(payload)-len(payload)/10 {
		return nil
	}
	return bytes.Clone(out[:1+n])
}

// unpackRecord is the inverse of packRecord. payload may be a part of b.
func unpackRecord(b []byte) (mark byte, payload []byte, err error) {
	size, err := unpackedSize(b)
	if err != nil {
		return 0, nil, err
	}
	mark, payload = b[0]&^(markCompressed|markDictionary), b[1:]
	if b[0]&markCompressed != 0 {
		payload, err = appendUnpacked(make([]byte, 0, size), b)
	}
	return mark, payload, err
}

// unpackedSize returns the size of a packed record's payload.
func unpackedSize(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, fmt.Errorf("%w: a record is empty", ErrCorrupt)
	}
	switch mark := b[0] &^ (markCompressed | markDictionary); {
	case mark != markJSON && mark != markCustomCodec, b[0]&(markCompressed|markDictionary) == markDictionary:
		return 0, fmt.Errorf("%w: a record has the unknown format %#02x", ErrCorrupt, b[0])
	case b[0]&markCompressed == 0:
		return len(b) - 1, nil
	}
	n, err := s2.DecodedLen(b[1:])
	if err != nil || n > maxRecordSize {
		return 0, fmt.Errorf("%w: a compressed record has an invalid length", ErrCorrupt)
	}
	return n, nil
}

// appendUnpacked appends the payload of a packed record.
func appendUnpacked(to, b []byte) ([]byte, error) {
	n, err := unpackedSize(b)
	switch {
	case err != nil:
		return nil, err
	case b[0]&markCompressed == 0:
		return append(to, b[1:]...), nil
	}
	decode := s2.Decode
	if b[0]&markDictionary != 0 {
		decode = recordDictionary().Decode
	}
	to = slices.Grow(to, n)
	if _, err := decode(to[len(to):len(to)+n], b[1:]); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return to[:len(to)+n], nil
}

// marshal encodes a record in its stored form.
func (c codec) marshal(r any) ([]byte, error) {
	b, err := c.encode(r)
	if err != nil {
		return nil, err
	}
	return packRecord(c.mark, b)
}

// unmarshal decodes stored bytes into r, which keeps no references to them. A table with its own codec can still read
// its older JSON records.
func (c codec) unmarshal(b []byte, r any) error {
	mark, plain, err := unpackRecord(b)
	if err != nil {
		return err
	}
	decode := c.decode
	if mark != c.mark {
		if mark != markJSON {
			return fmt.Errorf("%w: a record uses a codec that this table does not support", ErrCorrupt)
		}
		decode = decodeJSON
	}
	if err := decode(plain, r); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}
