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

// A document that needs much memory waits for another to be read, and its time limit starts after that.
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

// Texts of one letter take hundreds of times their size in memory.
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
