package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"sort"
	"time"
)

// entry is one part of an Office file.
type entry struct {
	name string
	data []byte
}

// pack makes an archive whose bytes depend on the entries alone. Nothing is
// compressed, because the output of a compressor may change with its version.
func pack(entries []entry, modified time.Time) ([]byte, error) {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, e := range entries {
		part, err := w.CreateHeader(&zip.FileHeader{Name: e.name, Method: zip.Store, Modified: modified})
		if err != nil {
			return nil, err
		}
		if _, err := part.Write(e.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// repack puts a foreign archive into pack's form: the list of types first, as
// readers expect, then the parts by name.
func repack(archive []byte, modified time.Time) ([]byte, error) {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, err
	}
	var entries []entry
	for _, f := range r.File {
		data, err := readPart(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		entries = append(entries, entry{f.Name, data})
	}
	const types = "[Content_Types].xml"
	sort.Slice(entries, func(i, j int) bool {
		a, b := entries[i].name, entries[j].name
		if (a == types) != (b == types) {
			return a == types
		}
		return a < b
	})
	return pack(entries, modified)
}

func readPart(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}
