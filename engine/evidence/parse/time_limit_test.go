package parse_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
)

// slowContent takes three minutes for each read.
type slowContent struct{ *strings.Reader }

func (s slowContent) ReadAt(p []byte, at int64) (int, error) {
	time.Sleep(3 * time.Minute) //nolint:forbidigo // the clock is fake
	return s.Reader.ReadAt(p, at)
}

func TestTimeIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := parse.New(parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		_, err = r.Read(t.Context(), "a.txt", slowContent{strings.NewReader("some text")}, 9)
		if !errors.Is(err, document.ErrTimeout) || !strings.Contains(err.Error(), "2m0s") {
			t.Errorf("got %v", err)
		}
	})
}
