package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"sort"
	"time"
)

// archivePart is a part of an Office file.
type archivePart struct {
	name string
	data []byte
}

// writeArchive returns an archive whose bytes depend only on the entries. Nothing is compressed,
// because a compressor's output may change with its version.
func writeArchive(entries []archivePart, modified time.Time) ([]byte, error) {
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

// normalizeArchive rewrites an archive in the form of writeArchive: the content types first, as
// readers expect, then the parts by name.
func normalizeArchive(archive []byte, modified time.Time) ([]byte, error) {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, err
	}
	var entries []archivePart
	for _, f := range r.File {
		data, err := readZipPart(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		entries = append(entries, archivePart{f.Name, data})
	}
	const types = "[Content_Types].xml"
	sort.Slice(entries, func(i, j int) bool {
		a, b := entries[i].name, entries[j].name
		if (a == types) != (b == types) {
			return a == types
		}
		return a < b
	})
	return writeArchive(entries, modified)
}

func readZipPart(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}
