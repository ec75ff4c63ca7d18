package document

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Kinds of errors. Read returns an *Error that wraps one of these, or the context's own error if the caller
// canceled it.
var (
	ErrEmpty       = errors.New("the document is empty")
	ErrUnsupported = errors.New("this file type is not supported")
	ErrEncrypted   = errors.New("the document is password-protected; remove the password and add the document again")
	ErrDamaged     = errors.New("the document is damaged")
	ErrTooLarge    = errors.New("the document is too large")
	ErrNoTextLayer = errors.New("the document has no text layer and needs OCR")
	ErrTimeout     = errors.New("reading took too long")
	ErrOwnReport   = errors.New("the document was written by this program and is not evidence")
)

// Error describes where and why a document could not be read.
type Error struct {
	Kind   error  // one of the Err values above
	Place  string // "page 3", "word/document.xml"; empty for the whole document
	Detail string // adds detail to Kind; may be empty
	Cause  error  // a library's error; may be nil
}

func (e *Error) Error() string {
	s := e.Kind.Error()
	if e.Place != "" {
		s = e.Place + ": " + s
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Cause != nil {
		s += " (" + e.Cause.Error() + ")"
	}
	return s
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

// NewError returns an *Error with a formatted detail.
func NewError(kind error, place, format string, args ...any) error {
	return &Error{Kind: kind, Place: place, Detail: fmt.Sprintf(format, args...)}
}

// DamagedError converts an error that a library returned for a part of a document to an *Error. It returns an *Error
// or a context's error unchanged.
func DamagedError(place string, cause error) error {
	var own *Error
	if errors.As(cause, &own) || errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	return &Error{Kind: ErrDamaged, Place: place, Cause: cause}
}

// PanicError returns the error for a reader that panicked with p.
func PanicError(p any) error {
	return NewError(ErrDamaged, "", "the parser stopped unexpectedly (%v)", p)
}

// ReadAll reads a whole document into memory.
func ReadAll(content io.ReaderAt, size int64) ([]byte, error) {
	raw := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(content, 0, size), raw); err != nil {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	return raw, nil
}
