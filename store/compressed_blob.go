package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A blob is stored compressed if that makes it smaller. `zstd -dc` then prints its content:
//
//	compressedMark    the beginning of a zstd frame that decoders skip
//	8 bytes           size of the content, big endian; the end of that frame
//	zstd frame        the content
//
// Any other blob is stored unchanged. A blob is identified by the SHA-256 of its content, so content that merely looks
// like a compressed blob isn't mistaken for one.
const (
	compressedMark   = "\x50\x2a\x4d\x18\x10\x00\x00\x00" + "scfblob\x01"
	compressedHeader = len(compressedMark) + 8

	minCompressedContent = 4<<10 + 1 // smaller content fits into one block of the file system in any case
	maxCompressedContent = 16 << 20  // larger content is not held in memory
)

var (
	// Files are written once and read mostly by people, so they are compressed more than records.
	blobEncoders = newEncoders(zstd.SpeedBetterCompression)
	packEncoders = newEncoders(zstd.SpeedDefault)
	blobDecoders = sync.Pool{New: func() any {
		// The capacity of the output is limited, so that a small file can't fill the memory.
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			panic(err) // only for invalid options
		}
		return z
	}}
)

func newEncoders(level zstd.EncoderLevel) *sync.Pool {
	return &sync.Pool{New: func() any {
		z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(level), zstd.WithLowerEncoderMem(true))
		if err != nil {
			panic(err) // only for invalid options
		}
		return z
	}}
}

// compressBlob returns the compressed form of content, or content itself if compression would save less
// than a tenth.
func compressBlob(content []byte) []byte {
	if len(content) < minCompressedContent {
		return content
	}
	z := blobEncoders.Get().(*zstd.Encoder)
	defer blobEncoders.Put(z)
	out := append(make([]byte, 0, len(content)/4), compressedMark...)
	out = z.EncodeAll(content, binary.BigEndian.AppendUint64(out, uint64(len(content))))
	if len(out) > len(content)-len(content)/10 {
		return content
	}
	return out
}

// compressedSize returns the size of a compressed blob's content, given the beginning of its file. ok is false
// if the blob is not compressed.
func compressedSize(header []byte) (size int64, ok bool) {
	if len(header) < compressedHeader || string(header[:len(compressedMark)]) != compressedMark {
		return 0, false
	}
	n := binary.BigEndian.Uint64(header[len(compressedMark):])
	return int64(n), n <= maxCompressedContent
}

// contentSize returns the size of a blob's content without decompressing it. A file that begins like a compressed blob
// is treated as one, unless the hash shows that the file itself is the content.
func contentSize(f *os.File, sha string) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	stored := info.Size()
	header := make([]byte, min(stored, int64(compressedHeader)))
	if _, err := f.ReadAt(header, 0); err != nil {
		return 0, err
	}
	size, ok := compressedSize(header)
	if !ok || stored >= size {
		return stored, nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return 0, err
	}
	if hex.EncodeToString(h.Sum(nil)) == sha {
		return stored, nil
	}
	return size, nil
}

// decompressBlob returns the content of a compressed blob. ok is false if f is not a compressed blob or is
// damaged.
func decompressBlob(f *os.File) (content []byte, ok bool, err error) {
	header := make([]byte, compressedHeader)
	n, err := f.ReadAt(header, 0)
	size, ok := compressedSize(header[:n])
	if !ok {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return nil, false, err
	}
	stored, err := io.ReadAll(io.NewSectionReader(f, int64(compressedHeader), size))
	if err != nil {
		return nil, false, err
	}
	z := blobDecoders.Get().(*zstd.Decoder)
	defer blobDecoders.Put(z)
	content, err = z.DecodeAll(stored, make([]byte, 0, size))
	return content, err == nil && int64(len(content)) == size, nil
}

// memoryFile is the decompressed content of a blob.
type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }
