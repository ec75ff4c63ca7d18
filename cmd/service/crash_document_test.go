package main

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// TestDocumentThatKillsTheProgram checks that a document that kills the program when it is read is tried twice, after
// all others, and then fails with the reason until a user requests another attempt.
func TestDocumentThatKillsTheProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program that kills its caller is a shell script")
	}
	u := newTestUser(t)
	bin := filepath.Join(u.home, "bin")
	tesseract := func(does string) {
		t.Helper()
		script := "#!/bin/sh\ncat > /dev/null\n" + does + "\n"
		if err := os.WriteFile(filepath.Join(bin, "tesseract"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	u.env = append(u.env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	evidence := u.writeEvidence()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 60, 60))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(evidence, "a-scan.png"), picture.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func() int {
		return u.start(u.command("assess", "run", evidence, "--name", "Killer", "-f", "lgpd", "--until", "documents_ingested", "-q")).wait()
	}
	tesseract("kill -9 $PPID")
	for n := range 2 {
		if code := run(); code != -1 {
			t.Fatalf("run %d ended with %d", n+1, code)
		}
	}
	if code := run(); code == -1 {
		t.Fatal("the document was read a third time")
	}
	status := func() (ingested int, scan api.Document) {
		t.Helper()
		for _, d := range readJSON[api.List[api.Document]](u, "doc", "list").Data {
			switch {
			case d.Filename == "a-scan.png":
				scan = d
			case d.Status == api.DocumentIngested:
				ingested++
			}
		}
		return ingested, scan
	}
	ingested, scan := status()
	if ingested != 7 || scan.Status != api.DocumentFailed || !strings.Contains(*scan.Error, "service doc reprocess") {
		t.Errorf("%d documents were read; the scan is %+v", ingested, scan)
	}
	tesseract("echo The vault is locked every evening by the guard on duty.")
	u.do("doc", "reprocess", "a-scan.png")
	if _, scan = status(); scan.Status != api.DocumentIngested {
		t.Errorf("after another try it is %+v", scan)
	}
}
