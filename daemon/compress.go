package daemon

import (
	"net/http"
	"sync"

	"github.com/klauspost/compress/gzhttp"
)

// minCompressed is the minimum size of JSON to be compressed. A smaller response fits into one packet.
const minCompressed = 1400

// jsonCompression is built on first use, because a command that works on the data folder doesn't need it.
var jsonCompression = sync.OnceValue(func() func(http.Handler) http.HandlerFunc {
	wrap, err := gzhttp.NewWrapper(
		gzhttp.MinSize(minCompressed), gzhttp.CompressionLevel(1), gzhttp.EnableZstd(false), gzhttp.ContentTypes([]string{"application/json"}),
	)
	if err != nil {
		panic(err) // the options are constant
	}
	return wrap
})

// compressJSON compresses JSON responses for network clients that accept compression.
func compressJSON(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if isLocalRequest(r.Context()) || isPageCall(r.Context()) {
			next(w, r)
			return
		}
		jsonCompression()(next)(w, r)
	}
}
