package parse

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/documenttest"
)

func readString(t *testing.T, r *Reader, name, content string) error {
	t.Helper()
	_, err := r.Read(t.Context(), name, strings.NewReader(content), int64(len(content)))
	return err
}

// A document that needs much memory waits until another has been read, and its time limit starts after that.
func TestHeavyDocumentsAreReadOneByOne(t *testing.T) {
	heavy := strings.Repeat("word\n\n", 120_000)
	synctest.Test(t, func(t *testing.T) {
		r, err := New(Options{Clock: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		r.heavy <- struct{}{}
		done := make(chan error, 1)
		go func() {
			doc, err := r.Read(t.Context(), "heavy.txt", strings.NewReader(heavy), int64(len(heavy)))
			if err == nil && doc.TimeLimit != time.Hour+2*time.Minute {
				err = fmt.Errorf("it may take %s in all", doc.TimeLimit)
			}
			done <- err
		}()
		time.Sleep(time.Hour) //nolint:forbidigo // the clock is fake
		if err := readString(t, r, "light.txt", "a few words"); err != nil {
			t.Errorf("a light document meanwhile: %v", err)
		}
		select {
		case err := <-done:
			t.Fatalf("it was read beside another: %v", err)
		default:
		}
		<-r.heavy
		if err := <-done; err != nil {
			t.Error(err)
		}
		if len(r.heavy) != 0 {
			t.Error("the memory is still claimed after the document was read")
		}
	})
}

// The time limit for OCR starts when the first image is found; time used before doesn't count.
func TestTimeStartsAnewForOCR(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := newTimeLimit(t.Context(), 2*time.Minute, time.Now)
		defer limit.stop()
		time.Sleep(90 * time.Second) //nolint:forbidigo // the clock is fake
		limit.extend(10 * time.Minute)
		time.Sleep(9*time.Minute + 30*time.Second) //nolint:forbidigo // the clock is fake
		if limit.ctx.Err() != nil || limit.total() != 11*time.Minute+30*time.Second {
			t.Errorf("%v after 11 of %s", limit.ctx.Err(), limit.total())
		}
		time.Sleep(time.Minute) //nolint:forbidigo // the clock is fake
		if limit.ctx.Err() == nil {
			t.Error("it never ends")
		}
	})
}

// Texts of one letter take up hundreds of times their size in memory.
func TestManyBlocksAreRefused(t *testing.T) {
	r, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	paragraphs := strings.Repeat("a\n\n", 300_000)
	for name, content := range map[string]string{
		"paragraphs.txt": paragraphs + paragraphs,
		"cells.csv":      "h" + strings.Repeat(",h", 199) + "\n" + strings.Repeat("a"+strings.Repeat(",", 199)+"\n", 80_000),
		"two files.zip":  string(documenttest.Zip(t, map[string]string{"a.txt": paragraphs, "b.txt": paragraphs})),
		"tags.html":      "<!doctype html><p>" + strings.Repeat("<p>a", 500_000),
	} {
		if err := readString(t, r, name, content); !errors.Is(err, document.ErrTooLarge) || !strings.Contains(err.Error(), "split it") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
