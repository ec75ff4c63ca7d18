package cli

import (
	"context"

	"github.com/scf-service/service/internal/regularfile"
)

// openFile opens a file of at most limit bytes for streaming.
func openFile(ctx context.Context, path string, limit int64) (*regularfile.File, error) {
	f, err := regularfile.Open(ctx, path, limit)
	if err != nil {
		return nil, fileError(path, err)
	}
	return f, nil
}

// readFile returns the content of a file of at most limit bytes, or of stdin if path is "-".
func (a *app) readFile(path string, limit int64) ([]byte, error) {
	var data []byte
	var err error
	if path == "-" {
		data, err = regularfile.ReadAll(a.Stdin, limit)
	} else {
		data, err = regularfile.Read(path, limit)
	}
	if err != nil {
		return nil, fileError(path, err)
	}
	return data, nil
}

func fileError(path string, err error) error {
	return runtimeError("%s can't be read: %w", path, errorWithoutPath(err))
}
