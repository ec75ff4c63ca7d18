// Package opc handles what Word documents, presentations and workbooks have in common as files. They are zip archives
// of parts that refer to each other, according to the Open Packaging Conventions (ISO/IEC 29500-2).
package opc

import (
	"archive/zip"
	"io"
	"path"
	"strings"
	"time"
)

// RelationshipsPart returns the name of the part that holds the given part's relationships.
func RelationshipsPart(part string) string {
	return path.Join(path.Dir(part), "_rels", path.Base(part)+".rels")
}

// ResolveTarget returns the name of the part that a relationship's target refers to. part is the part that contains
// the relationship.
func ResolveTarget(part, target string) string {
	if strings.HasPrefix(target, "/") {
		return strings.TrimPrefix(path.Clean(target), "/")
	}
	return strings.TrimPrefix(path.Join("/", path.Dir(part), target), "/")
}

// CreatePart adds a part to an archive and returns a writer for its content. The writer must be used before the next
// call.
func CreatePart(z *zip.Writer, name string) (io.Writer, error) {
	// This is the earliest time that a zip can represent. The entries must not depend on the current time.
	stamp := time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
	return z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: stamp})
}

// WritePart adds a part with the given content to an archive.
func WritePart(z *zip.Writer, name string, content []byte) error {
	w, err := CreatePart(z, name)
	if err == nil {
		_, err = w.Write(content)
	}
	return err
}
