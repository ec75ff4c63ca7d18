package bolt

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/scf-service/service/store/kv"
)

// bbolt trusts its file: a damaged page crashes the process, because bbolt panics in a goroutine of its own, where the
// panic can't be recovered. Therefore, a file is checked before bbolt may write to it. Its format, in the machine's
// byte order:
//
//	page    id 8, flags 2, count 2, overflow 4 (number of following pages that belong to it)
//	meta    pages 0 and 1: magic 4, version 4, page size 4, flags 4, root 8, sequence 8,
//	        freelist 8, pages in use 8, transaction 8, FNV-1a hash of all preceding fields 8
//	branch  elements: position 4 (from the element), key size 4, page 8
//	leaf    elements: flags 4, position 4, key size 4, value size 4; key, value
//	bucket  a leaf element with flag 1; its value: root 8, sequence 8,
//	        followed by a whole leaf page if root is 0
const (
	pageHeader  = 16
	elementSize = 16
	metaSize    = 64
	bucketSize  = 16

	flagBranch = 0x01
	flagLeaf   = 0x02
	flagBucket = 0x01
)

// checkPages returns kv.ErrCorrupt if the structure of a file is damaged, or if the checker finds that its
// content is damaged. bbolt has no checksums for either.
func checkPages(ctx context.Context, path string, o Options) error {
	// If the file is opened read-only, bbolt reads only the two meta pages. It still locks the file.
	b, _, err := openWithRetry(ctx, path, o.LockTimeout, &bbolt.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer b.Close()
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	w := pageChecker{ctx: ctx, file: f, pageSize: int64(b.Info().PageSize), content: noChecker{}}
	if o.NewChecker != nil {
		w.content = o.NewChecker()
	}
	err = cmp.Or(w.checkFile(info.Size()), w.content.Err())
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case errors.Is(err, kv.ErrCorrupt):
		return fmt.Errorf("%s: %w; restore a backup", path, err)
	}
	return fmt.Errorf("%w: %s: %w; restore a backup", kv.ErrCorrupt, path, err)
}

// noChecker accepts any content.
type noChecker struct{}

func (noChecker) Pair(string, []byte, []byte) {}
func (noChecker) Err() error                  { return nil }

// pageChecker checks the pages of a file.
type pageChecker struct {
	ctx      context.Context
	file     io.ReaderAt
	content  PairChecker
	pageSize int64
	pages    uint64 // number of pages in use, from the meta page
	seen     []bool // pages that are in use
	buffer   []byte
}

var byteOrder = binary.NativeEndian

func (w *pageChecker) checkFile(fileSize int64) error {
	root, err := w.readMeta()
	if err != nil {
		return err
	}
	if have := uint64(fileSize / w.pageSize); w.pages > have {
		return fmt.Errorf("the file is truncated: it has only %d of %d pages", have, w.pages)
	}
	w.seen = make([]bool, w.pages)
	w.seen[0], w.seen[1] = true, true
	return w.checkTree(root)
}

// readMeta reads both meta pages and returns the root of the newer one. If either page is damaged, it returns
// an error, because the damaged page may be the newer one, with the last change. A crash doesn't damage a meta
// page, since it is smaller than a disk sector.
func (w *pageChecker) readMeta() (root uint64, err error) {
	newest := uint64(0)
	for page := range int64(2) {
		b := make([]byte, metaSize)
		if _, err := w.file.ReadAt(b, page*w.pageSize+pageHeader); err != nil {
			return 0, err
		}
		h := fnv.New64a()
		_, _ = h.Write(b[:56]) // never fails
		if h.Sum64() != byteOrder.Uint64(b[56:]) {
			return 0, errors.New("a header is damaged; the last change may be lost")
		}
		if tx := byteOrder.Uint64(b[48:]); page == 0 || tx > newest {
			newest = tx
			root, w.pages = byteOrder.Uint64(b[16:]), byteOrder.Uint64(b[40:])
		}
	}
	return root, nil
}

// subtree is a page with all the pages below it.
type subtree struct {
	page  uint64
	table string // "" for the tree of tables
	// low and high bound the keys: low ≤ key < high; nil means no bound. bbolt relies on them.
	low, high []byte
}

// checkTree checks all pages below a page. Each page may occur only once.
func (w *pageChecker) checkTree(root uint64) error {
	todo := []subtree{{page: root}}
	for len(todo) > 0 {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		at := todo[len(todo)-1]
		b, err := w.readUnseenPage(at.page)
		if err != nil {
			return err
		}
		below, err := w.checkPage(b, at)
		if err != nil {
			return fmt.Errorf("page %d: %w", at.page, err)
		}
		todo = append(todo[:len(todo)-1], below...)
	}
	return nil
}

// readUnseenPage reads a page with its overflow pages. It returns an error if any of them has been read before.
// The result is valid until the next call.
func (w *pageChecker) readUnseenPage(id uint64) ([]byte, error) {
	if id < 2 || id >= w.pages {
		return nil, fmt.Errorf("page %d is referenced but does not exist", id)
	}
	w.buffer = slices.Grow(w.buffer[:0], int(w.pageSize))[:w.pageSize]
	if _, err := w.file.ReadAt(w.buffer, int64(id)*w.pageSize); err != nil {
		return nil, err
	}
	if own := byteOrder.Uint64(w.buffer); own != id {
		return nil, fmt.Errorf("page %d is numbered %d", id, own)
	}
	n := 1 + uint64(byteOrder.Uint32(w.buffer[12:]))
	if n > w.pages-id {
		return nil, fmt.Errorf("page %d extends beyond the file", id)
	}
	for i := id; i < id+n; i++ {
		if w.seen[i] {
			return nil, fmt.Errorf("page %d is used twice", i)
		}
		w.seen[i] = true
	}
	if n == 1 {
		return w.buffer, nil
	}
	w.buffer = slices.Grow(w.buffer, int(n-1)*int(w.pageSize))[:int(n)*int(w.pageSize)]
	_, err := w.file.ReadAt(w.buffer[w.pageSize:], int64(id+1)*w.pageSize)
	return w.buffer, err
}

// checkPage checks a page and returns the subtrees below it.
func (w *pageChecker) checkPage(b []byte, in subtree) (below []subtree, err error) {
	if len(b) < pageHeader {
		return nil, fmt.Errorf("the page is too short")
	}
	flags, count := byteOrder.Uint16(b[8:]), int(byteOrder.Uint16(b[10:]))
	if flags != flagBranch && flags != flagLeaf {
		return nil, fmt.Errorf("the page's type is unknown (%#x)", flags)
	}
	if flags == flagBranch && count == 0 {
		return nil, fmt.Errorf("the page is a branch without elements")
	}
	if pageHeader+count*elementSize > len(b) {
		return nil, fmt.Errorf("%d elements don't fit", count)
	}
	var last []byte
	for i := range count {
		at := pageHeader + i*elementSize
		e := b[at : at+elementSize]
		var pos, keySize, valueSize uint64
		if flags == flagBranch {
			pos, keySize = uint64(byteOrder.Uint32(e)), uint64(byteOrder.Uint32(e[4:]))
		} else {
			pos, keySize, valueSize = uint64(byteOrder.Uint32(e[4:])), uint64(byteOrder.Uint32(e[8:])), uint64(byteOrder.Uint32(e[12:]))
		}
		begin := uint64(at) + pos
		if begin+keySize+valueSize > uint64(len(b)) {
			return nil, fmt.Errorf("element %d extends beyond the page", i)
		}
		key, value := b[begin:begin+keySize], b[begin+keySize:begin+keySize+valueSize]
		switch {
		case bytes.Compare(last, key) >= 0: // an empty key is possible, too
			return nil, fmt.Errorf("element %d is out of order", i)
		// Because the keys are in order, it is enough to check the first and the last one.
		case i == 0 && bytes.Compare(key, in.low) < 0, i == count-1 && in.high != nil && bytes.Compare(key, in.high) >= 0:
			return nil, fmt.Errorf("element %d belongs on another page", i)
		}
		last = key
		switch isTable := byteOrder.Uint32(e)&flagBucket != 0; {
		case flags == flagBranch:
			child := subtree{page: byteOrder.Uint64(e[8:]), table: in.table, low: bytes.Clone(key), high: in.high}
			if i > 0 {
				below[i-1].high = child.low
			}
			below = append(below, child)
		case isTable != (in.table == ""):
			return nil, fmt.Errorf("element %d is a nested table or a value outside a table", i)
		case isTable:
			more, err := w.checkTable(string(key), value)
			if err != nil {
				return nil, fmt.Errorf("element %d: %w", i, err)
			}
			below = append(below, more...)
		default:
			w.content.Pair(in.table, key, value)
		}
	}
	return below, nil
}

// checkTable checks the value of a bucket and returns the tree that it refers to. It returns nil if the bucket is so
// small that its only page is stored in the value itself.
func (w *pageChecker) checkTable(name string, value []byte) ([]subtree, error) {
	if name == "" || len(value) < bucketSize {
		return nil, fmt.Errorf("a table has no name or content")
	}
	if root := byteOrder.Uint64(value); root != 0 {
		return []subtree{{page: root, table: name}}, nil
	}
	inline := value[bucketSize:]
	if len(inline) < pageHeader || byteOrder.Uint16(inline[8:]) != flagLeaf {
		return nil, fmt.Errorf("a table has no page")
	}
	return w.checkPage(inline, subtree{table: name})
}

// Verify checks the whole file, including the order of all keys, and returns kv.ErrCorrupt if it is damaged.
// newChecker is like Options.NewChecker. No other process may have the file open.
func Verify(ctx context.Context, path string, newChecker func() PairChecker) (err error) {
	if err := checkPages(ctx, path, Options{LockTimeout: lockStep, NewChecker: newChecker}); err != nil {
		return err
	}
	b, _, err := openWithRetry(ctx, path, lockStep, &bbolt.Options{ReadOnly: true, PreLoadFreelist: true})
	if err != nil {
		return err
	}
	defer b.Close()
	return b.View(func(tx *bbolt.Tx) error {
		var first error
		for err := range tx.Check() { // must be read to its end, or its goroutine leaks
			if first == nil {
				first = fmt.Errorf("%w: %s: %w", kv.ErrCorrupt, path, err)
			}
		}
		return first
	})
}
