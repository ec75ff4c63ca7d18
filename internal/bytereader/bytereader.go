// Package bytereader decodes numbers and byte strings from the beginning of a byte slice that may be damaged.
package bytereader

import "encoding/binary"

// Reader reads from the beginning of Data. After an error, Failed is true, and all methods return zero values.
type Reader struct {
	Data   []byte
	Failed bool
}

// Uvarint reads a number. A number greater than limit is an error.
func (r *Reader) Uvarint(limit int) int {
	if len(r.Data) > 0 && r.Data[0] < 0x80 && int(r.Data[0]) <= limit { // the most common case
		n := int(r.Data[0])
		r.Data = r.Data[1:]
		return n
	}
	n, size := binary.Uvarint(r.Data)
	if size <= 0 || n > uint64(max(limit, 0)) {
		r.fail()
		return 0
	}
	r.Data = r.Data[size:]
	return int(n)
}

// Bytes reads n bytes, without copying them.
func (r *Reader) Bytes(n int) []byte {
	if n > len(r.Data) {
		r.fail()
		return nil
	}
	out := r.Data[:n:n]
	r.Data = r.Data[n:]
	return out
}

// PrefixedBytes reads a length, followed by as many bytes.
func (r *Reader) PrefixedBytes() []byte { return r.Bytes(r.Uvarint(len(r.Data))) }

func (r *Reader) fail() { r.Data, r.Failed = nil, true }
