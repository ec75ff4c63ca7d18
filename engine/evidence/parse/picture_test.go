package parse_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

// eye is a fake OCR program that returns the result of say.
type eye struct{ say func([]byte) (string, error) }

func (e eye) RecognizeText(ctx context.Context, picture []byte) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return e.say(picture)
}

func readWith(t testing.TB, o document.OCR, name string, raw []byte) (*document.Document, error) {
	t.Helper()
	r := parsetest.New(t, parse.Options{OCR: o})
	return r.Read(context.Background(), name, bytes.NewReader(raw), int64(len(raw)))
}

func TestPictures(t *testing.T) {
	var buf bytes.Buffer
	if err := png.Encode(&buf, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	shot := buf.Bytes()
	says := eye{func(p []byte) (string, error) { return "MFA SETTINGS\n\nRequired for all\nusers.\n\f", nil }}
	doc, err := readWith(t, says, "mfa.png", shot)
	if err != nil {
		t.Fatal(err)
	}
	documenttest.Compare(t, documenttest.Outline(doc.Blocks), "# MFA SETTINGS\n¶ Required for all users.  {MFA SETTINGS}\n")
	if doc.MIME != "image/png" || len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0], "OCR") {
		t.Errorf("%s %q", doc.MIME, doc.Warnings)
	}
	if doc, err = readWith(
		t,
		eye{func([]byte) (string, error) { return "one\n\ftwo\n\f", nil }},
		"fax.tif",
		[]byte("II*\x00rest"),
	); err != nil ||
		doc.PageCount != 2 ||
		doc.Blocks[1].Locator.Page != 2 {
		t.Errorf("%+v %v", doc, err)
	}
	for name, tt := range map[string]struct {
		o    document.OCR
		raw  []byte
		want error
	}{
		"no program":    {nil, shot, document.ErrNoTextLayer},
		"no text":       {eye{func([]byte) (string, error) { return " \n\f", nil }}, shot, document.ErrEmpty},
		"program fails": {eye{func([]byte) (string, error) { return "", errors.New("out of memory") }}, shot, document.ErrDamaged},
		"too large":     {says, hugePNG(), document.ErrTooLarge},
	} {
		if _, err := readWith(t, tt.o, "a.png", tt.raw); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
	}
}

// hugePNG returns an image that claims to have 60,000 by 60,000 pixels.
func hugePNG() []byte {
	var buf bytes.Buffer
	_ = png.Encode(&buf, image.NewGray(image.Rect(0, 0, 1, 1)))
	raw := buf.Bytes()
	copy(raw[16:], []byte{0, 0, 0xEA, 0x60, 0, 0, 0xEA, 0x60})
	// The checksum of the header is now wrong, and DecodeConfig would stop there, so fix it.
	binary.BigEndian.PutUint32(raw[29:], crc32.ChecksumIEEE(raw[12:29]))
	return raw
}
