package pdf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/text"
)

const (
	pdfMemoryPages = 10240 // of 64 KiB: 640 MiB a document at most
	pdfScratch     = 4096  // bytes that results are passed through
)

// pdfiumEngine holds PDFium, compiled once. Every document gets a fresh instance without files,
// network or environment, so that it can't affect other documents.
type pdfiumEngine struct {
	pool  pdfium.Pool
	cache wazero.CompilationCache
}

func startPDFium(opt Options) (engine, error) {
	e := &pdfiumEngine{}
	// Calls must end with their context, or a document could occupy a core forever.
	config := wazero.NewRuntimeConfig().WithCloseOnContextDone(true).WithMemoryLimitPages(pdfMemoryPages)
	if opt.CacheDir != "" {
		cache, err := wazero.NewCompilationCacheWithDir(opt.CacheDir)
		if err != nil {
			return nil, err
		}
		e.cache = cache
		config = config.WithCompilationCache(cache)
	}
	pool, err := webassembly.Init(webassembly.Config{
		MinIdle: 0, MaxIdle: 0, MaxTotal: pdfWorkers,
		FSConfig:      wazero.NewFSConfig(), // by default it would mount the whole disk
		RuntimeConfig: config,
		Stdout:        io.Discard,
		Stderr:        io.Discard,
	})
	if err != nil {
		return nil, err
	}
	e.pool = pool
	return e, nil
}

func (e *pdfiumEngine) close() error {
	err := e.pool.Close()
	if e.cache != nil {
		err = errors.Join(err, e.cache.Close(context.Background()))
	}
	return err
}

// open opens a document in an instance of its own.
func (e *pdfiumEngine) open(ctx context.Context, content io.ReaderAt, size int64, fn func(engineDocument) error) error {
	inst, err := e.pool.GetInstanceWithContext(ctx)
	if err != nil {
		return fmt.Errorf("start a PDF instance: %w", err)
	}
	defer inst.Close() // a module that was stopped can't say goodbye; nothing to do about it
	mod, err := wasmModule(inst)
	if err != nil {
		return err
	}
	m := &pdfiumDocument{ctx: ctx, mod: mod, mem: mod.Memory(), fns: map[string]api.Function{}}
	m.scratch = uint32(m.call("malloc", pdfScratch))
	if m.scratch == 0 {
		return m.documentError("no memory")
	}
	if m.doc, err = m.loadDocument(content, size); err != nil {
		return err
	}
	return fn(m)
}

// wasmModule accesses the WebAssembly module of the library's instance. The library's own calls
// can't be stopped (they run under a background context, and Kill panics on a nil pool) and need
// some 10 allocations per character; calls on the module have neither problem.
func wasmModule(inst pdfium.Pdfium) (api.Module, error) {
	impl, ok := inst.(interface{ GetImplementation() interface{} })
	if !ok {
		return nil, errors.New("this go-pdfium hides its implementation")
	}
	v := reflect.Indirect(reflect.ValueOf(impl.GetImplementation()))
	if v.Kind() == reflect.Struct {
		if f := v.FieldByName("Module"); f.IsValid() && f.CanInterface() {
			if mod, ok := f.Interface().(api.Module); ok {
				return mod, nil
			}
		}
	}
	return nil, errors.New("this go-pdfium hides its module")
}

// pdfiumDocument is one document in PDFium, whose C functions it calls. The first failure is kept; later
// calls return 0.
type pdfiumDocument struct {
	ctx     context.Context
	doc     uint64
	mod     api.Module
	mem     api.Memory
	fns     map[string]api.Function
	stack   [12]uint64
	scratch uint32
	err     error
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
	if m.err != nil {
		return 0
	}
	f := m.exportedFunction(name)
	if f == nil {
		return 0
	}
	return m.callFn(f, args...)
}

// callFn is like call, for functions that are called for every character.
func (m *pdfiumDocument) callFn(f api.Function, args ...uint64) uint64 {
	if m.err != nil {
		return 0
	}
	m.stack[0] = 0
	copy(m.stack[:], args)
	if err := f.CallWithStack(m.ctx, m.stack[:]); err != nil {
		m.err = err
		return 0
	}
	return m.stack[0]
}

// isStopped reports whether no later page can be read.
func (m *pdfiumDocument) isStopped() bool { return m.err != nil || m.ctx.Err() != nil }

// documentError returns the context's error if it ended, else that the document is damaged.
func (m *pdfiumDocument) documentError(place string) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	return &document.Error{Kind: document.ErrDamaged, Place: place, Cause: m.err}
}

func (m *pdfiumDocument) readFloat(at uint32) float64 {
	v, _ := m.mem.ReadFloat32Le(m.scratch + at)
	return float64(v)
}

// callForText calls a function that writes UTF-16 into (buffer, length in bytes) given as its
// last arguments and returns the length it needs.
func (m *pdfiumDocument) callForText(name string, args ...uint64) string {
	n := uint32(m.call(name, append(args, uint64(m.scratch), pdfScratch)...))
	if m.err != nil || n < 2 || n > pdfScratch {
		return ""
	}
	raw, ok := m.mem.Read(m.scratch, n)
	if !ok {
		return ""
	}
	return text.DecodeUTF16LE(raw[:n-2])
}

// loadDocument copies the file into the module's memory and opens it.
func (m *pdfiumDocument) loadDocument(content io.ReaderAt, size int64) (doc uint64, err error) {
	if size > math.MaxInt32 {
		return 0, document.NewError(document.ErrTooLarge, "", "a PDF of %d bytes", size)
	}
	at := uint32(m.call("malloc", uint64(size)))
	buf, ok := m.mem.Read(at, uint32(size))
	if m.err != nil || at == 0 || !ok {
		if err := m.ctx.Err(); err != nil {
			return 0, err
		}
		return 0, document.NewError(document.ErrTooLarge, "", "a PDF of %d bytes does not fit the memory allowed to it", size)
	}
	if _, err := io.ReadFull(io.NewSectionReader(content, 0, size), buf); err != nil {
		return 0, fmt.Errorf("read the file: %w", err)
	}
	doc = m.call("FPDF_LoadMemDocument64", uint64(at), uint64(size), 0)
	if m.err != nil {
		return 0, m.documentError("")
	}
	if doc == 0 {
		switch m.call("FPDF_GetLastError") {
		case 4, 5: // a password is missing, or a scheme PDFium doesn't know
			return 0, document.NewError(document.ErrEncrypted, "", "a PDF")
		}
		return 0, document.NewError(document.ErrDamaged, "", "its page tree can't be read")
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

// outlineLevels reads the bookmarks: the level of each title. Circular and endless lists are cut off.
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
