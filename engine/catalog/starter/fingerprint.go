package starter

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"sync"
)

// EditionSHA256 returns a SHA-256 of the paths and contents of all embedded files. It identifies the edition
// of the starter catalog.
var EditionSHA256 = sync.OnceValue(func() string {
	h := sha256.New()
	err := fs.WalkDir(embeddedFiles, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(embeddedFiles, path)
		h.Write([]byte(path + "\x00"))
		h.Write(data)
		return err
	})
	if err != nil {
		panic("starter catalog: the program's built-in files can't be read: " + err.Error())
	}
	return hex.EncodeToString(h.Sum(nil))
})
