// Package harbor holds the evidence of Harborquill Cargo, a company that does
// not exist: the policies, registers and records that "service demo" and tests
// assess. README.md says what each document is good for and what it lacks.
//
// It is data only: it must not know how evidence is read or judged, and nothing
// in it may name a real person, client or supplier.
package harbor

import (
	"embed"
	"io/fs"
)

//go:embed evidence
var files embed.FS

// Evidence returns the documents as a client would send them: as one flat, read-only folder.
func Evidence() fs.FS {
	sub, err := fs.Sub(files, "evidence")
	if err != nil {
		// Only an invalid name can fail here, and the name is a constant.
		panic(err)
	}
	return sub
}
