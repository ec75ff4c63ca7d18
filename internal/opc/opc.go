// Package opc handles what Word documents, presentations and workbooks have in common as files: they are zip archives
// of parts that refer to each other, by the Open Packaging Conventions (ISO/IEC 29500-2).
package opc

import (
	"archive/zip"
	"io"
	"path"
	"strings"
	"time"
)

// RelationshipsPart returns the name of the part that holds the relationships of a part.
func RelationshipsPart(part string) string {
	return path.Join(path.Dir(part), "_rels", path.Base(part)+".rels")
}

// ResolveTarget returns the name of the part that the target of a relationship refers to. part is the part that has
// the relationship.
func ResolveTarget(part, target string) string {
	if strings.HasPrefix(target, "/") {
		return strings.TrimPrefix(path.Clean(target), "/")
	}
	return strings.TrimPrefix(path.Join("/", path.Dir(part), target), "/")
}

// CreatePart adds a part to an archive and returns a writer for its content, to use before the next call.
func CreatePart(z *zip.Writer, name string) (io.Writer, error) {
	// The earliest time a zip can hold: the entries must not depend on the current time.
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
