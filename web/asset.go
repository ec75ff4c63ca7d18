package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"
)

// Asset is a file in memory, served with an ETag.
type Asset struct {
	Body              []byte
	contentType, etag string
}

// NewAsset returns the asset with the given content.
func NewAsset(contentType string, body []byte) Asset {
	sum := sha256.Sum256(body)
	return Asset{Body: body, contentType: contentType, etag: `"` + hex.EncodeToString(sum[:16]) + `"`}
}

// ServeHTTP sends the asset, or 304 if the caller already has it.
func (a Asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.contentType)
	h.Set("ETag", a.etag)
	h.Set("Cache-Control", "no-cache") // the caller may cache it, but must revalidate it each time
	h.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.Body))
}
