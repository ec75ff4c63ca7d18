// Package ocr recognizes the text in images with the tesseract program, if it is installed. Images
// are untrusted: the program is started without a shell, with fixed arguments, a minimal
// environment, and limits on time, memory and output.
package ocr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/scf-service/service/internal/lazyregexp"
)

const (
	timeLimit     = 2 * time.Minute
	memoryLimit   = 2 << 30 // bytes of address space
	maxText       = 8 << 20
	maxConcurrent = 2 // concurrent images
)

// Tesseract runs the tesseract program. It is safe for concurrent use.
type Tesseract struct {
	program   []string // preceded by a command that limits its memory, if available
	folder    string   // the program's own; it may look for its data in the working directory, which can be the evidence
	languages string
	env       []string
	slots     chan struct{}
}

var languagesPattern = lazyregexp.New(`^[A-Za-z_]{2,20}(/[A-Za-z_]{2,20})?(\+[A-Za-z_]{2,20}(/[A-Za-z_]{2,20})?){0,9}$`)

// FindTesseract looks for the tesseract program. Languages are joined by a plus ("eng+deu"), as in tesseract;
// empty means English. It returns nil and no error if the program is not installed. env looks up environment
// variables.
func FindTesseract(languages string, env func(string) string) (*Tesseract, error) {
	if languages == "" {
		languages = "eng"
	}
	if !languagesPattern.MatchString(languages) {
		return nil, fmt.Errorf("%q is not a valid OCR language; use Tesseract names such as eng or eng+deu", languages)
	}
	path, err := exec.LookPath("tesseract")
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // not being installed is not an error
	}
	t := &Tesseract{
		program:   []string{path},
		folder:    filepath.Dir(path),
		languages: languages,
		slots:     make(chan struct{}, maxConcurrent),
		env:       []string{"OMP_THREAD_LIMIT=1", "LC_ALL=C"},
	}
	if prlimit, err := exec.LookPath("prlimit"); err == nil {
		t.program = []string{prlimit, fmt.Sprintf("--as=%d", memoryLimit), "--", path}
	}
	if dir := env("TESSDATA_PREFIX"); dir != "" {
		if dir, err = filepath.Abs(dir); err != nil {
			return nil, err
		}
		t.env = append(t.env, "TESSDATA_PREFIX="+dir)
	}
	return t, nil
}

// RecognizeText recognizes the text in an image. In the result, paragraphs are separated by empty
// lines and pages by form feeds. Data without a known image signature is rejected, because
// tesseract would treat it as a list of files to read.
func (t *Tesseract) RecognizeText(ctx context.Context, picture []byte) (string, error) {
	if !IsSupportedImage(picture) {
		return "", errors.New("unsupported image format")
	}
	select {
	case t.slots <- struct{}{}:
		defer func() { <-t.slots }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	limited, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	args := append(t.program[1:len(t.program):len(t.program)], "stdin", "stdout", "-l", t.languages)
	cmd := exec.CommandContext(limited, t.program[0], args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.WaitDelay = t.folder, t.env, bytes.NewReader(picture), 5*time.Second
	out, stderr := &limitedBuffer{max: maxText}, &limitedBuffer{max: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, stderr
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case limited.Err() != nil:
		return "", fmt.Errorf("Tesseract was stopped after %s", timeLimit)
	case err != nil:
		return "", fmt.Errorf("Tesseract could not read the image: %s", lastLine(stderr.String(), err))
	}
	return strings.ToValidUTF8(out.String(), ""), nil
}

// lastLine returns the last line of the program's output, or err's message if there is no output.
func lastLine(output string, err error) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return strings.ToValidUTF8(last, "")
	}
	return err.Error()
}

// limitedBuffer keeps the first max bytes written to it.
type limitedBuffer struct {
	bytes.Buffer
	max int
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if room := b.max - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

// IsSupportedImage reports whether the data begins with the signature of an image format that tesseract
// supports.
func IsSupportedImage(raw []byte) bool {
	for _, magic := range []string{"\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "GIF8", "II*\x00", "MM\x00*", "BM", "P5\n", "P6\n"} {
		if bytes.HasPrefix(raw, []byte(magic)) {
			return true
		}
	}
	return len(raw) > 12 && string(raw[:4]) == "RIFF" && string(raw[8:12]) == "WEBP"
}
