package ocr

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Languages returns the languages used for recognition, such as "eng+deu".
func (t *Tesseract) Languages() string { return t.languages }

// MissingLanguages returns the configured languages for which tesseract has no data installed.
func (t *Tesseract) MissingLanguages(ctx context.Context) ([]string, error) {
	args := append(t.program[1:len(t.program):len(t.program)], "--list-langs")
	cmd := exec.CommandContext(ctx, t.program[0], args...)
	out := &limitedBuffer{max: 64 << 10}
	// Some versions print the list to stdout, others to stderr.
	cmd.Dir, cmd.Env, cmd.WaitDelay, cmd.Stdout, cmd.Stderr = t.folder, t.env, 5*time.Second, out, out
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("Tesseract can't list its languages: %s", lastLine(out.String(), err))
	}
	has := strings.Fields(out.String())
	return slices.DeleteFunc(strings.Split(t.languages, "+"), func(l string) bool { return slices.Contains(has, l) }), nil
}
