package parse_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"image"
	"image/png"
	"strings"
	"sync"
	"testing"

	"github.com/scf-service/service/api"
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

// TestPicturesInDocuments checks that text in pictures of documents is recognized if OCR is available, and is placed
// next to the text that it belongs to. Logos are skipped, and a repeated picture is read once.
func TestPicturesInDocuments(t *testing.T) {
	shot := string(picture(t, 200, 80))
	logo := string(picture(t, 40, 40))
	photo := string(picture(t, 300, 300))
	says := eye{func(p []byte) (string, error) {
		switch string(p) {
		case shot:
			return "MFA ENFORCED\n\nfor all users\n\f", nil
		case logo:
			t.Error("a logo was tried")
		}
		return "~ | .", nil
	}}
	rels := func(folder string) string {
		list := ""
		for _, name := range []string{"shot", "logo", "photo"} {
			list += `<Relationship Id="` + name + `" Type="http://x/image" Target="` + folder + name + `.png"/>`
		}
		return `<Relationships>` + list + `</Relationships>`
	}
	media := func(parts map[string]string, folder string) map[string]string {
		parts[folder+"shot.png"], parts[folder+"logo.png"], parts[folder+"photo.png"] = shot, logo, photo
		return parts
	}
	blip := func(id string) string { return `<w:r><w:drawing><a:blip r:embed="` + id + `"/></w:drawing></w:r>` }
	pic := func(id string) string {
		return `<p:pic><p:blipFill><a:blip r:embed="` + id + `"/></p:blipFill></p:pic>`
	}
	image := func(name string) string {
		return `<draw:frame><draw:image xlink:href="Pictures/` + name + `.png"/></draw:frame>`
	}
	hexOf := func(raw string) string { return `{\pict\pngblip ` + hex.EncodeToString([]byte(raw)) + "}" }
	data := func(raw string) string {
		return `<img src="data:image/png;base64,` + base64.StdEncoding.EncodeToString([]byte(raw)) + `">`
	}
	shape := slideShape("", "", "", "", `<a:p><a:r><a:t>Before</a:t></a:r></a:p>`)
	for file, raw := range map[string][]byte{
		"a.docx": documenttest.Docx(t, `<w:p><w:r><w:t>Before</w:t></w:r>`+blip("shot")+blip("logo")+`</w:p><w:tbl><w:tr><w:tc><w:p>`+
			blip("shot")+blip("photo")+`</w:p></w:tc></w:tr></w:tbl>`, media(map[string]string{"word/_rels/document.xml.rels": rels("")}, "word/")),
		"a.pptx": presentation(t, shape+pic("shot")+pic("shot")+pic("logo")+pic("photo"),
			media(map[string]string{"ppt/_rels/slide1.xml.rels": rels("../media/")}, "media/")),
		"a.odt": documenttest.ODF(t, "text", `<text:p>Before`+image("shot")+`</text:p><text:p>`+image("logo")+image("photo")+image("shot")+`</text:p>`,
			media(map[string]string{}, "Pictures/")),
		"a.rtf":  []byte(`{\rtf1 Before{\*\shppict` + hexOf(shot) + `}{\nonshppict` + hexOf(shot) + `}\par ` + hexOf(logo) + hexOf(photo) + hexOf(shot) + `\par}`),
		"a.html": []byte(`<!doctype html><p>Before` + data(shot) + data(logo) + data(photo) + data(shot) + `</p>`),
	} {
		addExample(kindBeside, file, "pictures")
		doc, err := readWith(t, says, file, raw)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		text := strings.Join(strings.Fields(allText(doc)), " ")
		if strings.Count(text, "MFA ENFORCED for all users") != 1 || !strings.HasPrefix(text, "Before") || strings.Contains(text, "~") {
			t.Errorf("%s: read %q", file, text)
		}
		if got := api.DescribeNotRead(doc.NotRead); got != "2 pictures" || len(doc.Warnings) != 1 {
			t.Errorf("%s: not read %q, warnings %q", file, got, doc.Warnings)
		}
		if doc = parsetest.Read(t, file, raw); !strings.HasSuffix(api.DescribeNotRead(doc.NotRead), "4 pictures") || len(doc.Warnings) > 0 {
			t.Errorf("%s without OCR: not read %v, warnings %q", file, doc.NotRead, doc.Warnings)
		}
	}
}

// picture returns a PNG image of the given size.
func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := png.Encode(&buf, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// FuzzPicture reads pictures, both separately and in a document. It checks that no program gets a picture that claims
// to have more pixels than allowed, and that any output of the program is read.
func FuzzPicture(f *testing.F) {
	for _, raw := range [][]byte{
		hugePNG(), []byte("GIF89a\xff\xff\xff\xff\x00\x00\x00;"), []byte("BM\x1a\x00\x00\x00\x00\x00\x00\x00\x1a\x00\x00\x00\x0c\x00\x00\x00\x01\x00\x01\x00"),
		[]byte("II*\x00\x08\x00\x00\x00"), []byte("\xff\xd8\xff\xc0\x00\x0b\x08\xff\xff\xff\xff\x01\x01\x11\x00"),
		[]byte("RIFF\x1a\x00\x00\x00WEBPVP8 \x0e\x00\x00\x00"),
	} {
		f.Add(raw, "MFA SETTINGS\n\nfor all users\f")
	}
	reader := sync.OnceValue(func() *parse.Reader {
		r, err := parse.New(parse.Options{OCR: eye{func(p []byte) (string, error) {
			picture, words, _ := bytes.Cut(p, []byte("\x00words\x00"))
			if c, _, err := image.DecodeConfig(bytes.NewReader(picture)); err == nil && c.Width*c.Height > 100<<20 {
				panic("too many pixels")
			}
			return string(words), nil
		}}})
		if err != nil {
			panic(err)
		}
		return r
	})
	f.Fuzz(func(t *testing.T, raw []byte, words string) {
		raw = append(raw[:len(raw):len(raw)], "\x00words\x00"+words...)
		page := []byte(`<!doctype html><p>Before<img src="data:image/png;base64,` + base64.StdEncoding.EncodeToString(raw) + `">`)
		for name, raw := range map[string][]byte{"a.png": raw, "a.html": page} {
			doc, err := reader().Read(context.Background(), name, bytes.NewReader(raw), int64(len(raw)))
			var own *document.Error
			switch {
			case err != nil && (!errors.As(err, &own) || errors.Is(err, document.ErrTimeout) || strings.Contains(err.Error(), "unexpectedly")):
				t.Fatalf("%s: %v", name, err)
			case err == nil && len(doc.Blocks)+len(doc.Furniture) == 0:
				t.Fatalf("%s: an empty success", name)
			}
		}
	})
}
