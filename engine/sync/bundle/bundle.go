// Package bundle implements the file format that carries a sync where there is no network.
//
//	age (X25519, for one recipient)
//	└─ length, manifest (JSON), signature (Ed25519), then the parts in sequence
//
// The signature covers the manifest, which contains the hash of every part and names both keys.
// So the file holds nothing that its sender has not signed for this recipient. The package does
// not interpret parts and stores nothing.
package bundle

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"filippo.io/age"

	"github.com/scf-service/service/api"
)

// Format identifies the bundle format.
const Format = "service-bundle/1"

// The kinds of parts in a bundle.
const (
	Batch   = "batch"   // what a clone has changed
	Changes = "changes" // what changed at the remote
	Catalog = "catalog" // the content of the catalog version
	Custom  = "own"     // the frameworks and controls of the organization that the assessment uses
	File    = "file"    // a document's original file
)

const (
	// MaxBytes limits the total size of a bundle's parts, so that a bundle can be uploaded in one
	// request.
	MaxBytes = 480 << 20
	// MaxMemoryBytes limits the total size of the parts that are held in memory, which are all except
	// files.
	MaxMemoryBytes = 64 << 20
	// MaxFile limits the size of a document's file in a bundle.
	MaxFile = 256 << 20

	maxManifest = 4 << 20
	maxParts    = 20_000
	// maxHeader limits the size of the file's age encryption header. The headers written by this package take up about
	// 200 bytes.
	maxHeader = 4 << 10
)

// Part describes one part of a bundle. The contents of the parts follow the manifest, in the order listed there.
type Part struct {
	Kind   string `json:"kind"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// Manifest describes a bundle's contents, sender and recipient.
type Manifest struct {
	Format string `json:"format"`
	// Serial numbers the bundles from one side to the other.
	Serial    int64     `json:"serial"`
	CreatedAt time.Time `json:"created_at"`
	// Sender and Recipient are key fingerprints.
	Sender                string `json:"sender"`
	Recipient             string `json:"recipient"`
	RecipientOrganization string `json:"recipient_organization"`
	// Role is the sender's role: "remote" or "clone".
	Role         string `json:"role"`
	AssessmentID string `json:"assessment_id"`
	Name         string `json:"name"`
	ReplicaID    string `json:"replica_id"`
	// Machine is the clone's display name, Account its account at the remote.
	Machine       string `json:"machine,omitempty"`
	Account       string `json:"account,omitempty"`
	Publish       bool   `json:"publish,omitempty"`
	CatalogSHA256 string `json:"catalog_sha256"`
	CatalogLabel  string `json:"catalog_label"`
	CustomSHA256  string `json:"custom_sha256,omitempty"`
	// Counter is the number of the enclosed batch (from a clone) or of the last applied batch (from
	// a remote).
	Counter int64 `json:"counter"`
	// Since is how far the clone has read; the anchor is the remote's last audit record it knows.
	Since          int64  `json:"since,omitempty"`
	AnchorSequence uint64 `json:"anchor_sequence,omitempty"`
	AnchorHash     string `json:"anchor_hash,omitempty"`
	// Answer is the remote's result of the last batch, and BatchSHA256 the hash of that batch.
	Answer      json.RawMessage `json:"result,omitempty"`
	BatchSHA256 string          `json:"batch_sha256,omitempty"`
	// More reports that not everything fitted; the next bundle follows the reply to this one.
	More  bool   `json:"more,omitempty"`
	Parts []Part `json:"parts"`
}

// Sum returns the SHA-256 of the manifest, which identifies the bundle.
func (m *Manifest) Sum() (string, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// AddPart adds a part whose content is held in memory.
func (m *Manifest) AddPart(kind string, data []byte) {
	sum := sha256.Sum256(data)
	m.Parts = append(m.Parts, Part{Kind: kind, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data))})
}

// validate returns an error if the manifest has an unsupported format, too many parts, or parts that are oversized or
// malformed.
func (m *Manifest) validate() error {
	if m.Format != Format {
		return api.Invalid(
			"file",
			"the bundle has format %.40q, but this program supports %s; use the same version on both sides",
			m.Format,
			Format,
		)
	}
	if len(m.Parts) > maxParts {
		return api.Invalid("file", "the bundle has more than %d parts", maxParts)
	}
	var all, held int64
	for _, p := range m.Parts {
		limit := int64(MaxMemoryBytes)
		switch p.Kind {
		case File:
			limit = MaxFile
		case Batch, Changes, Catalog, Custom:
			held += p.Size
		default:
			return damagedError("unknown part kind %.20q", p.Kind)
		}
		if p.Size < 0 || p.Size > limit {
			return api.Invalid("file", "a part of kind %q exceeds the limit of %d MiB", p.Kind, limit>>20)
		}
		if raw, err := hex.DecodeString(p.SHA256); err != nil || len(raw) != sha256.Size {
			return damagedError("%.80q is not a SHA-256", p.SHA256)
		}
		all += p.Size
	}
	if all > MaxBytes || held > MaxMemoryBytes {
		return api.Invalid(
			"file",
			"the bundle exceeds %d MiB in total, or %d MiB without its files",
			MaxBytes>>20,
			MaxMemoryBytes>>20,
		)
	}
	return nil
}

// damagedError returns the error for an incomplete or malformed bundle.
func damagedError(format string, args ...any) error {
	return api.Invalid("file", "the bundle is damaged: "+format, args...)
}

// signedBytes returns the bytes over which the signature is computed.
func signedBytes(manifest []byte) []byte { return append([]byte(Format+"\n"), manifest...) }

// Write writes a bundle. It calls open for the content of each part, in manifest order.
func Write(w io.Writer, sender *SecretKey, recipient *Key, m *Manifest, open func(n int, p Part) (io.ReadCloser, error)) error {
	m.Format, m.Sender, m.Recipient, m.RecipientOrganization = Format, sender.Fingerprint(), recipient.Fingerprint(), recipient.Organization
	if err := m.validate(); err != nil {
		return err
	}
	manifest, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encoding the bundle manifest: %w", err)
	}
	if len(manifest) > maxManifest {
		return api.Conflict("the bundle's manifest would exceed %d MiB", maxManifest>>20)
	}
	out, err := age.Encrypt(w, recipient.recipient)
	if err != nil {
		return fmt.Errorf("encrypting the bundle: %w", err)
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(len(manifest))) //nolint:gosec // bounded above
	head = append(append(head, manifest...), ed25519.Sign(sender.signer, signedBytes(manifest))...)
	if _, err := out.Write(head); err != nil {
		return err
	}
	for n, p := range m.Parts {
		if err := copyPart(out, n, p, open); err != nil {
			return err
		}
	}
	return out.Close()
}

func copyPart(w io.Writer, n int, p Part, open func(int, Part) (io.ReadCloser, error)) error {
	r, err := open(n, p)
	if err != nil {
		return err
	}
	defer r.Close()
	h := sha256.New()
	got, err := io.Copy(io.MultiWriter(w, h), io.LimitReader(r, p.Size+1))
	if err == nil && (got != p.Size || hex.EncodeToString(h.Sum(nil)) != p.SHA256) {
		err = fmt.Errorf("the content of %s %s has changed", p.Kind, p.SHA256)
	}
	return err
}

// Reader reads a bundle whose sender and recipient have already been verified.
type Reader struct {
	Manifest Manifest
	// Sum is the manifest's hash, which identifies the bundle.
	Sum     string
	in      io.Reader
	next    int
	current *partReader
}

// partReader reads one part and verifies its hash.
type partReader struct {
	io.LimitedReader
	hash hash.Hash
	part Part
}

// Open decrypts a bundle and verifies its manifest. lookupKey returns the trusted key with the given
// fingerprint, or nil if there is none.
func Open(r io.Reader, recipientKey *SecretKey, lookupKey func(fingerprint string) (*Key, error)) (*Reader, error) {
	in := bufio.NewReaderSize(r, 2*maxHeader)
	head, err := in.Peek(maxHeader)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.HasPrefix(head, []byte("age-encryption.org/v1\n")) {
		return nil, api.Invalid("file", "this is not a bundle written by `service sync bundle`")
	}
	if !bytes.Contains(head, []byte("\n--- ")) {
		return nil, damagedError("the file is truncated, or the header is too long")
	}
	plain, err := age.Decrypt(in, recipientKey.identity)
	var other *age.NoIdentityMatchError
	switch {
	case errors.As(err, &other):
		return nil, api.Invalid(
			"file",
			"the bundle was written for another organization or for a key that has been replaced. The key here is %s (%s); ask for a bundle written for this key",
			recipientKey.Name,
			recipientKey.Fingerprint(),
		)
	case err != nil:
		return nil, damagedError("%v", err)
	}
	b := &Reader{in: plain}
	var size [4]byte
	if err := b.readFull(size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxManifest {
		return nil, damagedError("the manifest exceeds %d MiB", maxManifest>>20)
	}
	manifest, signature := make([]byte, n), make([]byte, ed25519.SignatureSize)
	if err := b.readFull(manifest); err != nil {
		return nil, err
	}
	if err := b.readFull(signature); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(manifest)
	b.Sum = hex.EncodeToString(sum[:])
	return b, b.decodeAndVerify(manifest, signature, recipientKey, lookupKey)
}

// readFull fills the buffer with decrypted content.
func (b *Reader) readFull(to []byte) error {
	if _, err := io.ReadFull(b.in, to); err != nil {
		return toReadError(err)
	}
	return nil
}

// decodeAndVerify decodes the manifest and verifies its sender, signature and recipient.
func (b *Reader) decodeAndVerify(manifest, signature []byte, recipientKey *SecretKey, lookupKey func(string) (*Key, error)) error {
	m := &b.Manifest
	if err := json.Unmarshal(manifest, m); err != nil {
		return damagedError("%v", err)
	}
	from, err := lookupKey(m.Sender)
	switch {
	case err != nil:
		return err
	case from == nil:
		return api.Invalid(
			"file",
			"the bundle comes from an unknown sender (key %.60q): compare the fingerprint with the sender, "+
				"then trust their key with `service sync trust`",
			m.Sender,
		)
	case !ed25519.Verify(from.verifyKey, signedBytes(manifest), signature):
		return api.Invalid("file", "the bundle claims to be from %s, but the signature doesn't match their key", from.Name)
	case m.Recipient != recipientKey.Fingerprint() || m.RecipientOrganization != recipientKey.Organization:
		return api.Invalid("file", "%s wrote the bundle for another organization", from.Name)
	}
	return m.validate()
}

// Next returns the next part. After the last one, it returns io.EOF, which means that the whole file has been verified.
// A part's hash is checked only if the part is read to the end.
func (b *Reader) Next() (Part, io.Reader, error) {
	if b.current != nil {
		if _, err := io.Copy(io.Discard, b.current); err != nil {
			return Part{}, nil, err
		}
	}
	if b.next == len(b.Manifest.Parts) {
		var more [1]byte
		switch n, err := io.ReadFull(b.in, more[:]); {
		case n > 0:
			return Part{}, nil, damagedError("there is unexpected data after the end")
		case errors.Is(err, io.EOF):
			return Part{}, nil, io.EOF
		default:
			return Part{}, nil, toReadError(err)
		}
	}
	p := b.Manifest.Parts[b.next]
	b.next++
	b.current = &partReader{LimitedReader: io.LimitedReader{R: b.in, N: p.Size}, hash: sha256.New(), part: p}
	return p, b.current, nil
}

func toReadError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return damagedError("the file is truncated")
	}
	return damagedError("%v", err)
}

// Read reads from the part. At the end, it returns an error if the content isn't what was signed.
func (r *partReader) Read(to []byte) (int, error) {
	n, err := r.LimitedReader.Read(to)
	r.hash.Write(to[:n])
	switch {
	case err == nil:
		return n, nil
	case !errors.Is(err, io.EOF) || r.N > 0:
		return n, toReadError(err)
	case hex.EncodeToString(r.hash.Sum(nil)) != r.part.SHA256:
		return n, damagedError("a part of kind %q does not match its signed hash", r.part.Kind)
	}
	return n, io.EOF
}
