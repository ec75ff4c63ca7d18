package pdf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"sync"
	"unsafe"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/charset"
)

const pdfScratch = 4096 // size of the buffer for results in bytes

// pdfiumEngine is PDFium, compiled once. Every document gets a fresh instance without files, network or
// environment, so that it can't affect other documents.
type pdfiumEngine struct {
	pool     pdfium.Pool
	cache    wazero.CompilationCache
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	slots    chan struct{} // one for each open document
	memory   int           // maximum bytes for each document
}

func startPDFium(opt Options) (engine, error) {
	e := &pdfiumEngine{slots: make(chan struct{}, pdfWorkers), memory: cmp.Or(opt.MaxMemory, defaultMaxMemory)}
	// Calls must end with their context, or a document could occupy a core forever.
	config := wazero.NewRuntimeConfig().WithCloseOnContextDone(true)
	if opt.CacheDir != "" {
		cache, err := wazero.NewCompilationCacheWithDir(opt.CacheDir)
		if err != nil {
			return nil, err
		}
		e.cache = cache
		config = config.WithCompilationCache(cache)
	}
	pool, err := webassembly.Init(webassembly.Config{
		FSConfig:      wazero.NewFSConfig(), // by default it would mount the whole disk
		RuntimeConfig: config,
	})
	if err != nil {
		return nil, err
	}
	e.pool = pool
	if e.runtime, e.compiled, err = poolModule(pool); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

func (e *pdfiumEngine) close() error {
	err := e.pool.Close()
	if e.cache != nil {
		err = errors.Join(err, e.cache.Close(context.Background()))
	}
	return err
}

// open opens a document in a PDFium instance of its own and passes it to fn.
func (e *pdfiumEngine) open(
	ctx context.Context,
	beginHeavy func() error,
	content io.ReaderAt,
	size int64,
	fn func(engineDocument) error,
) error {
	select {
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	// A document that waits for memory releases its slot: the document that uses the memory may
	// contain another PDF, which needs a slot.
	memory, err := newLinearMemory(e.memory, sync.OnceValue(func() error {
		<-e.slots
		err := beginHeavy()
		e.slots <- struct{}{}
		return err
	}))
	if err != nil {
		return fmt.Errorf("allocating memory to read a PDF: %w", err)
	}
	defer memory.release()
	mod, err := e.runtime.InstantiateModule(
		experimental.WithMemoryAllocator(ctx, memory),
		e.compiled,
		wazero.NewModuleConfig().WithStartFunctions("_initialize").WithName(""),
	)
	if err != nil {
		return fmt.Errorf("start a PDF instance: %w", err)
	}
	defer mod.Close(context.WithoutCancel(ctx))
	m := &pdfiumDocument{
		ctx: ctx, shortContext: context.WithoutCancel(ctx), mod: mod, mem: mod.Memory(), memory: memory, fns: map[string]api.Function{},
		keys: map[string]uint64{}, attachmentHandles: map[uint64]bool{},
	}
	m.call("FPDF_InitLibrary")
	m.scratch = uint32(m.call("malloc", pdfScratch))
	if m.err != nil || m.scratch == 0 {
		return m.documentError("")
	}
	if m.doc, err = m.loadDocument(content, size); err != nil {
		return err
	}
	return fn(m)
}

// poolModule returns the runtime of a go-pdfium pool and the compiled PDFium in it. The pool's own instances are
// unsuitable for two reasons. Their memory is a Go slice that is copied whenever it grows, so that 512 MB become 2 GB.
// Their calls run with a background context, so that they can't be stopped, and allocate memory about 10 times per
// character.
func poolModule(pool pdfium.Pool) (wazero.Runtime, wazero.CompiledModule, error) {
	v := reflect.Indirect(reflect.ValueOf(pool))
	runtime, ok := structField[wazero.Runtime](v, "runtime")
	compiled, found := structField[wazero.CompiledModule](v, "compiledModule")
	if !ok || !found {
		return nil, nil, errors.New("this version of go-pdfium doesn't expose its module")
	}
	return runtime, compiled, nil
}

// structField returns a field of a struct, even if it is unexported.
func structField[T any](v reflect.Value, name string) (field T, ok bool) {
	if v.Kind() != reflect.Struct || !v.CanAddr() {
		return field, false
	}
	f := v.FieldByName(name)
	if !f.IsValid() || f.Type() != reflect.TypeFor[T]() {
		return field, false
	}
	return *(*T)(unsafe.Pointer(f.UnsafeAddr())), true
}

// pdfiumDocument is a document open in PDFium. It calls PDFium's C functions and records the first failure,
// after which all calls return 0.
type pdfiumDocument struct {
	ctx context.Context
	// shortContext is for calls that need not be interrupted.
	shortContext context.Context
	doc          uint64
	mod          api.Module
	mem          api.Memory
	memory       *linearMemory
	fns          map[string]api.Function
	stack        [12]uint64
	scratch      uint32
	err          error

	keys        map[string]uint64 // addresses of dictionary keys
	form        uint64            // the handle of its form; 0 if it has none or isn't open
	isFormTried bool              // opening the form has been tried
	glyphNames  glyphNames        // nil until needed
	fileAt      uint32            // the address of the document's file
	fileSize    uint32

	attachments       []attachment
	attachmentHandles map[uint64]bool // handles of the attachments that were read
	attachmentBytes   int64
}

func (m *pdfiumDocument) exportedFunction(name string) api.Function {
	f := m.fns[name]
	if f == nil {
		if f = m.mod.ExportedFunction(name); f == nil {
			m.err = errors.New("PDFium has no " + name)
			return nil
		}
		m.fns[name] = f
	}
	return f
}

func (m *pdfiumDocument) call(name string, args ...uint64) uint64 {
	return m.callFunction(m.ctx, name, args...)
}

// callQuick calls a function that returns immediately, such as one that reads a property of a character or object. It
// can't be interrupted, because an interruptible call requires a goroutine and takes several times as long. Callers
// check m.ctx between pages instead.
func (m *pdfiumDocument) callQuick(name string, args ...uint64) uint64 {
	return m.callFunction(m.shortContext, name, args...)
}

func (m *pdfiumDocument) callFunction(ctx context.Context, name string, args ...uint64) uint64 {
	if m.err != nil {
		return 0
	}
	f := m.exportedFunction(name)
	if f == nil {
		return 0
	}
	m.stack[0] = 0
	copy(m.stack[:], args)
	if err := f.CallWithStack(ctx, m.stack[:]); err != nil {
		m.err = err
		return 0
	}
	return m.stack[0]
}

// isStopped reports whether no further page can be read, for example because the document needs too much memory. In
// that case, PDFium doesn't stop, but silently omits the content that doesn't fit into memory.
func (m *pdfiumDocument) isStopped() bool {
	return m.err != nil || m.memory.exhausted || m.ctx.Err() != nil
}

// documentError returns the context's error if it is done, and otherwise an error saying that the
// document needs too much memory or is damaged. It doesn't return the failed call's error, which is
// a trace of WebAssembly functions that users can't understand.
func (m *pdfiumDocument) documentError(place string) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	if m.memory.exhausted {
		return document.NewError(document.ErrTooLarge, place, "the PDF needs more memory than the %d MB allowed; "+
			"print the PDF to a new one or split it, then add the result", len(m.memory.mapped)>>20)
	}
	return document.NewError(document.ErrDamaged, place,
		"the PDF reader can't process this file; print it to a new PDF and add the new PDF instead")
}

func (m *pdfiumDocument) readFloat(at uint32) float64 {
	v, _ := m.mem.ReadFloat32Le(m.scratch + at)
	return float64(v)
}

// callForText calls a function and returns the text it writes. As its last two arguments, the function takes a
// buffer for UTF-16 text and its length in bytes; it returns the length of the text.
func (m *pdfiumDocument) callForText(name string, args ...uint64) string {
	n := uint32(m.call(name, append(args, uint64(m.scratch), pdfScratch)...))
	if m.err != nil || n < 2 || n > pdfScratch {
		return ""
	}
	raw, ok := m.mem.Read(m.scratch, n)
	if !ok {
		return ""
	}
	return charset.DecodeUTF16LE(raw[:n-2])
}

// loadDocument copies the file into the module's memory and opens it.
func (m *pdfiumDocument) loadDocument(content io.ReaderAt, size int64) (doc uint64, err error) {
	if size > math.MaxInt32 {
		return 0, document.NewError(document.ErrTooLarge, "", "the PDF has %d bytes", size)
	}
	at := uint32(m.call("malloc", uint64(size)))
	buf, ok := m.mem.Read(at, uint32(size))
	if m.err != nil || at == 0 || !ok {
		return 0, m.documentError("")
	}
	if _, err := io.ReadFull(io.NewSectionReader(content, 0, size), buf); err != nil {
		return 0, fmt.Errorf("read the file: %w", err)
	}
	m.fileAt, m.fileSize = at, uint32(size)
	doc = m.call("FPDF_LoadMemDocument64", uint64(at), uint64(size), 0)
	if m.isStopped() {
		return 0, m.documentError("")
	}
	if doc == 0 {
		switch m.call("FPDF_GetLastError") {
		case 4, 5: // a missing password, or an encryption scheme unknown to PDFium
			return 0, document.NewError(document.ErrEncrypted, "", "a PDF")
		}
		return 0, document.NewError(document.ErrDamaged, "", "the page tree can't be read")
	}
	if m.call("FPDF_GetFormType", doc) == dynamicXFAForm {
		return 0, document.NewError(document.ErrUnsupported, "", "the PDF is an XFA form, which only Adobe's programs can display; "+
			"open the form in Adobe Reader, print it to a new PDF and add the new PDF instead")
	}
	return doc, nil
}

func (m *pdfiumDocument) pageCount() (int, error) {
	n := int(int32(m.call("FPDF_GetPageCount", m.doc)))
	if m.err != nil {
		return 0, m.documentError("")
	}
	return n, nil
}

// title returns the title in the document's metadata, or "".
func (m *pdfiumDocument) title() string {
	const key = "Title"
	at := uint32(m.call("malloc", uint64(len(key)+1)))
	if m.err != nil || at == 0 || !m.mem.Write(at, append([]byte(key), 0)) {
		return ""
	}
	defer m.call("free", uint64(at))
	return m.callForText("FPDF_GetMetaText", m.doc, uint64(at))
}

// outlineLevels returns the level of each bookmark by its title. It stops at circular or endless lists.
func (m *pdfiumDocument) outlineLevels() (map[string]int, error) {
	levels := map[string]int{}
	seen := map[uint64]bool{}
	var visit func(parent uint64, level int)
	visit = func(parent uint64, level int) {
		for mark := m.call(
			"FPDFBookmark_GetFirstChild",
			m.doc,
			parent,
		); mark != 0 && m.err == nil; mark = m.call("FPDFBookmark_GetNextSibling", m.doc, mark) {
			if seen[mark] || len(seen) >= maxBookmarks {
				return
			}
			seen[mark] = true
			title := comparableText(m.callForText("FPDFBookmark_GetTitle", mark))
			if _, have := levels[title]; !have && title != "" {
				levels[title] = level
			}
			if level < maxOutline {
				visit(mark, level+1)
			}
		}
	}
	visit(0, 1)
	if m.err != nil {
		return nil, m.documentError("")
	}
	return levels, nil
}
