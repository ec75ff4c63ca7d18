package bundle_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/sync/bundle"
)

func secret(t testing.TB, org string) *bundle.SecretKey {
	s, err := bundle.NewSecretKey(org, "people of "+org)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func write(t testing.TB, from *bundle.SecretKey, to *bundle.Key, parts ...string) []byte {
	t.Helper()
	m := &bundle.Manifest{Serial: 1, CreatedAt: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC), Role: "remote", AssessmentID: "a"}
	for _, p := range parts {
		m.AddPart(bundle.File, []byte(p))
	}
	var b bytes.Buffer
	err := bundle.Write(&b, from, to, m, func(n int, _ bundle.Part) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(parts[n])), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func trusting(keys ...*bundle.Key) func(string) (*bundle.Key, error) {
	return func(fingerprint string) (*bundle.Key, error) {
		for _, k := range keys {
			if k.Fingerprint() == fingerprint {
				return k, nil
			}
		}
		return nil, nil
	}
}

// read returns the parts of a bundle.
func read(data []byte, mine *bundle.SecretKey, trusted func(string) (*bundle.Key, error)) (parts []string, err error) {
	r, err := bundle.Open(bytes.NewReader(data), mine, trusted)
	if err != nil {
		return nil, err
	}
	for {
		_, in, err := r.Next()
		if errors.Is(err, io.EOF) {
			return parts, nil
		}
		if err != nil {
			return parts, err
		}
		b, err := io.ReadAll(in)
		if err != nil {
			return parts, err
		}
		parts = append(parts, string(b))
	}
}

func refused(t *testing.T, err error, words string) {
	t.Helper()
	if !api.IsCode(err, api.CodeValidation) || !strings.Contains(err.Error(), words) {
		t.Errorf("got %v, want a refusal with %q", err, words)
	}
}

func TestBundle(t *testing.T) {
	office, site, stranger := secret(t, "office"), secret(t, "site"), secret(t, "stranger")
	long := strings.Repeat("a file of more than one chunk. ", 10_000)
	const first = "the first part" // too long to occur in ciphertext by chance
	data := write(t, office, &site.Key, first, "", long)
	got, err := read(data, site, trusting(&office.Key))
	if err != nil || len(got) != 3 || got[0] != first || got[1] != "" || got[2] != long {
		t.Fatalf("%d parts, %v", len(got), err)
	}
	if bytes.Contains(data, []byte(first)) || bytes.Contains(data, []byte("office")) {
		t.Error("what is in a bundle can be read")
	}
	_, err = read(data, site, trusting(&stranger.Key))
	refused(t, err, "from an unknown sender")
	_, err = read(data, stranger, trusting(&office.Key))
	refused(t, err, "for another organization")
	_, err = read([]byte("%PDF-1.7"), site, trusting(&office.Key))
	refused(t, err, "not a bundle")
	_, err = read(nil, site, trusting(&office.Key))
	refused(t, err, "not a bundle")
}

// TestDamaged checks that a bundle is rejected if any byte is changed or missing.
func TestDamaged(t *testing.T) {
	office, site := secret(t, "office"), secret(t, "site")
	data := write(t, office, &site.Key, "one", strings.Repeat("two ", 100))
	for n := range data {
		if _, err := read(data[:n], site, trusting(&office.Key)); err == nil {
			t.Fatalf("cut after %d bytes, it was taken", n)
		}
		flipped := bytes.Clone(data)
		flipped[n] ^= 1
		if _, err := read(flipped, site, trusting(&office.Key)); err == nil {
			t.Fatalf("with byte %d changed, it was taken", n)
		}
	}
	if _, err := read(append(bytes.Clone(data), 0), site, trusting(&office.Key)); err == nil {
		t.Error("with a byte behind its end, it was taken")
	}
}

// sealed encrypts any content for a recipient, as anyone who knows the public key can.
func sealed(t testing.TB, to *bundle.Key, plain []byte) []byte {
	t.Helper()
	// The key contains the recipient as text.
	body, err := base64.RawURLEncoding.DecodeString(strings.Split(to.Text(), ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	r, err := age.ParseX25519Recipient(strings.Split(strings.Split(string(body), `"seal":"`)[1], `"`)[0])
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, err := age.Encrypt(&b, r)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write(plain)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// signer extracts the private signing key from a secret key, as its owner could.
func signer(t testing.TB, s *bundle.SecretKey) ed25519.PrivateKey {
	t.Helper()
	var key ed25519.PrivateKey
	_, err := s.Seal(func(text string) ([]byte, error) {
		_, seed, _ := strings.Cut(text, " ")
		b, err := base64.StdEncoding.DecodeString(seed)
		key = ed25519.NewKeyFromSeed(b)
		return nil, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func plain(manifest []byte, key ed25519.PrivateKey, rest []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(manifest)))
	out = append(append(out, manifest...), ed25519.Sign(key, append([]byte(bundle.Format+"\n"), manifest...))...)
	return append(out, rest...)
}

// TestHostileManifests checks that hostile manifests are rejected even if a trusted sender signed them.
func TestHostileManifests(t *testing.T) {
	office, site, other := secret(t, "office"), secret(t, "site"), secret(t, "other")
	good := func() *bundle.Manifest {
		return &bundle.Manifest{
			Format:                bundle.Format,
			Serial:                1,
			Sender:                office.Fingerprint(),
			Recipient:             site.Fingerprint(),
			RecipientOrganization: "site",
		}
	}
	for name, c := range map[string]struct {
		change func(*bundle.Manifest)
		signer *bundle.SecretKey
		rest   string
		words  string
	}{
		"signed by another": {func(*bundle.Manifest) {}, other, "", "the signature doesn't match their key"},
		"handed on": {
			func(m *bundle.Manifest) { m.Recipient = other.Fingerprint() },
			office,
			"",
			"wrote the bundle for another organization",
		},
		"another organization": {
			func(m *bundle.Manifest) { m.RecipientOrganization = "other" },
			office,
			"",
			"wrote the bundle for another organization",
		},
		"a later form":      {func(m *bundle.Manifest) { m.Format = "service-bundle/9" }, office, "", "use the same version"},
		"a part of no kind": {func(m *bundle.Manifest) { m.Parts = []bundle.Part{{Kind: "program"}} }, office, "", "unknown part kind"},
		"a name that is no hash": {
			func(m *bundle.Manifest) { m.Parts = []bundle.Part{{Kind: bundle.File, SHA256: "../../etc"}} },
			office,
			"",
			"is not a SHA-256",
		},
		"a size below nothing": {func(m *bundle.Manifest) {
			m.Parts = []bundle.Part{{Kind: bundle.File, SHA256: strings.Repeat("0", 64), Size: -1}}
		}, office, "", "exceeds the limit"},
		"far too large": {func(m *bundle.Manifest) {
			for range 3 {
				m.Parts = append(m.Parts, bundle.Part{Kind: bundle.File, SHA256: strings.Repeat("0", 64), Size: 200 << 20})
			}
		}, office, "", "the bundle exceeds"},
		"too large to hold": {func(m *bundle.Manifest) {
			for range 2 {
				m.Parts = append(m.Parts, bundle.Part{Kind: bundle.Changes, SHA256: strings.Repeat("0", 64), Size: 40 << 20})
			}
		}, office, "", "the bundle exceeds"},
		"too many parts": {func(m *bundle.Manifest) {
			m.Parts = make([]bundle.Part, 20_001)
		}, office, "", "more than 20000 parts"},
		"another part than signed": {
			func(m *bundle.Manifest) { m.AddPart(bundle.File, []byte("one")) },
			office,
			"two",
			"does not match its signed hash",
		},
		"more than signed": {
			func(m *bundle.Manifest) { m.AddPart(bundle.File, []byte("one")) },
			office,
			"one more",
			"unexpected data after the end",
		},
		"less than signed": {func(m *bundle.Manifest) { m.AddPart(bundle.File, []byte("one")) }, office, "on", "the file is truncated"},
	} {
		t.Run(name, func(t *testing.T) {
			m := good()
			c.change(m)
			b, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			_, err = read(sealed(t, &site.Key, plain(b, signer(t, c.signer), []byte(c.rest))), site, trusting(&office.Key))
			refused(t, err, c.words)
		})
	}
	huge := binary.BigEndian.AppendUint32(nil, 1<<31)
	_, err := read(sealed(t, &site.Key, huge), site, trusting(&office.Key))
	refused(t, err, "manifest exceeds")
	_, err = read([]byte("age-encryption.org/v1\n"+strings.Repeat("-> X25519 aaaa\nbbbb\n", 100_000)), site, trusting(&office.Key))
	refused(t, err, "too long")
}

func TestKey(t *testing.T) {
	s := secret(t, "office")
	k, err := bundle.ParseKey("  " + s.Text()[:40] + "\n" + s.Text()[40:] + "\n")
	if err != nil || k.Fingerprint() != s.Fingerprint() || k.Name != "people of office" {
		t.Fatalf("%+v, %v", k, err)
	}
	var kept []byte
	kept, err = s.Seal(func(text string) ([]byte, error) { return []byte(text), nil })
	if err != nil {
		t.Fatal(err)
	}
	open := func(b []byte) (string, error) { return string(b), nil }
	again, err := bundle.Unseal(k, kept, open)
	if err != nil || again.Fingerprint() != s.Fingerprint() {
		t.Fatal(err)
	}
	if _, err := bundle.Unseal(&secret(t, "other").Key, kept, open); err == nil {
		t.Error("a secret was taken for that of another key")
	}
	if _, err := json.Marshal(s); err == nil || strings.Contains(s.String(), "AGE-SECRET") {
		t.Error("a secret key can be printed")
	}
	for name, text := range map[string]string{
		"nothing":   "",
		"a word":    "ssh-ed25519 AAAA",
		"cut":       s.Text()[:len(s.Text())-20],
		"a changed": strings.Replace(s.Text(), "eyJ", "eyK", 1),
		"long":      s.Text() + strings.Repeat("a", 2000),
	} {
		if _, err := bundle.ParseKey(text); !api.IsCode(err, api.CodeValidation) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzOpen opens any content that someone who knows a public key can send, signed or not.
func FuzzOpen(f *testing.F) {
	office, site := secret(f, "office"), secret(f, "site")
	key := signer(f, office)
	m := &bundle.Manifest{
		Format:                bundle.Format,
		Serial:                1,
		Sender:                office.Fingerprint(),
		Recipient:             site.Fingerprint(),
		RecipientOrganization: "site",
	}
	m.AddPart(bundle.File, []byte("one"))
	good, _ := json.Marshal(m)
	good = bytes.ReplaceAll(good, []byte(office.Fingerprint()), []byte("SENDER"))
	f.Add(bytes.ReplaceAll(good, []byte(site.Fingerprint()), []byte("RECIPIENT")), []byte("one"))
	f.Add([]byte(`{"parts":[{}]}`), []byte{})
	f.Fuzz(func(t *testing.T, manifest, rest []byte) {
		// The keys' fingerprints differ from run to run.
		manifest = bytes.ReplaceAll(manifest, []byte("SENDER"), []byte(office.Fingerprint()))
		manifest = bytes.ReplaceAll(manifest, []byte("RECIPIENT"), []byte(site.Fingerprint()))
		parts, err := read(sealed(t, &site.Key, plain(manifest, key, rest)), site, trusting(&office.Key))
		if err != nil {
			return
		}
		if all := strings.Join(parts, ""); all != string(rest) {
			t.Errorf("the parts are %q of %q", all, rest)
		}
	})
}

// FuzzBytes opens any bytes as a bundle.
func FuzzBytes(f *testing.F) {
	office, site := secret(f, "office"), secret(f, "site")
	f.Add(write(f, office, &site.Key, "one"))
	f.Add([]byte("age-encryption.org/v1\n-> X25519 a\nb\n--- c\nd"))
	good := write(f, office, &site.Key, "two")
	f.Fuzz(func(t *testing.T, data []byte) {
		if parts, err := read(data, site, trusting(&office.Key)); err == nil && !bytes.Equal(data, good) && len(parts) != 1 {
			t.Errorf("a bundle of %d parts, which nobody wrote", len(parts))
		}
	})
}

// FuzzKey checks that an accepted key is written back unchanged.
func FuzzKey(f *testing.F) {
	f.Add(secret(f, "office").Text())
	f.Add("service-key-1.eyJ9.00000000")
	f.Fuzz(func(t *testing.T, text string) {
		k, err := bundle.ParseKey(text)
		if err != nil {
			return
		}
		again, err := bundle.ParseKey(k.Text())
		if err != nil || again.Fingerprint() != k.Fingerprint() || k.Text() != strings.Join(strings.Fields(text), "") {
			t.Errorf("%q became %q, %v", text, k.Text(), err)
		}
	})
}
