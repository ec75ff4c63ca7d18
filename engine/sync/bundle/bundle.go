// Package bundle is the form of the file that carries a synchronisation where no network reaches.
//
//	age (X25519, for one recipient)
//	└─ length, manifest (JSON), signature (Ed25519), then the parts, one behind the other
//
// The signature is over the manifest, and the manifest has the hash of every part and names
// both keys: so nothing is in the file that its sender has not signed for this recipient. What a
// part means is not looked at here, and nothing is kept.
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

// Format is the form of a bundle.
const Format = "service-bundle/1"

// The kinds of part.
const (
	Batch   = "batch"   // what a clone has changed
	Changes = "changes" // what changed at the home
	Catalog = "catalog" // the content of the catalog version
	Custom  = "own"     // the frameworks and controls of the organization that the assessment uses
	File    = "file"    // a document as it came
)

const (
	// MaxBytes bounds the parts of a bundle together; with what is around them it goes through an upload.
	MaxBytes = 480 << 20
	// MaxMemoryBytes bounds the parts that are held in memory, all but files.
	MaxMemoryBytes = 64 << 20
	// MaxFile bounds one file.
	MaxFile = 256 << 20

	maxManifest = 4 << 20
	maxParts    = 20_000
	// maxHeader bounds what stands before the encrypted data; ours has some 200 bytes.
	maxHeader = 4 << 10
)

// Part is one part, in the order in which they stand.
type Part struct {
	Kind   string `json:"kind"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// Manifest says what a bundle is and for whom.
type Manifest struct {
	Format string `json:"format"`
	// Serial counts the bundles from one side of a clone to the other.
	Serial int64     `json:"serial"`
	MadeAt time.Time `json:"made_at"`
	// Sender and Recipient are fingerprints.
	Sender                string `json:"sender"`
	Recipient             string `json:"recipient"`
	RecipientOrganization string `json:"recipient_organization"`
	// Role is what the sender is of the assessment: home or clone.
	Role         string `json:"role"`
	AssessmentID string `json:"assessment_id"`
	Name         string `json:"name"`
	ReplicaID    string `json:"replica_id"`
	// Machine is how people know the clone, Account as whom it is at the home.
	Machine       string `json:"machine,omitempty"`
	Account       string `json:"account,omitempty"`
	Publish       bool   `json:"publish,omitempty"`
	CatalogSHA256 string `json:"catalog_sha256"`
	CatalogLabel  string `json:"catalog_label"`
	OwnSHA256     string `json:"own_sha256,omitempty"`
	// Counter is the number of the batch in it, from a clone; from a home, of the last batch that it took.
	Counter int64 `json:"counter"`
	// Since is how far the clone has read, and the audit record of the home that it knows of.
	Since          int64  `json:"since,omitempty"`
	AnchorSequence uint64 `json:"anchor_sequence,omitempty"`
	AnchorHash     string `json:"anchor_hash,omitempty"`
	// Answer is what came of the last batch at the home, and BatchSHA256 is of its content.
	Answer      json.RawMessage `json:"answer,omitempty"`
	BatchSHA256 string          `json:"batch_sha256,omitempty"`
	// More: not all fits, another bundle follows the answer to this one.
	More  bool   `json:"more,omitempty"`
	Parts []Part `json:"parts"`
}

// Sum names a manifest by its content.
func (m *Manifest) Sum() (string, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// AddPart adds a part that is in memory.
func (m *Manifest) AddPart(kind string, data []byte) {
	sum := sha256.Sum256(data)
	m.Parts = append(m.Parts, Part{Kind: kind, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data))})
}

// validate refuses a manifest whose parts are too many or too large, or that is no manifest.
func (m *Manifest) validate() error {
	if m.Format != Format {
		return api.Invalid(
			"file",
			"the bundle has the form %.40q, and this program knows %s; use the same version on both sides",
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
			return damagedError("it has a part of the kind %.20q", p.Kind)
		}
		if p.Size < 0 || p.Size > limit {
			return api.Invalid("file", "a %s in the bundle is over the limit of %d MiB", p.Kind, limit>>20)
		}
		if raw, err := hex.DecodeString(p.SHA256); err != nil || len(raw) != sha256.Size {
			return damagedError("%.80q is no SHA-256", p.SHA256)
		}
		all += p.Size
	}
	if all > MaxBytes || held > MaxMemoryBytes {
		return api.Invalid(
			"file",
			"the bundle holds more than %d MiB, or more than %d MiB without its files",
			MaxBytes>>20,
			MaxMemoryBytes>>20,
		)
	}
	return nil
}

// damagedError is the refusal of what is no whole bundle.
func damagedError(format string, args ...any) error {
	return api.Invalid("file", "the bundle is damaged: "+format, args...)
}

// signedBytes is what a signature is over.
func signedBytes(manifest []byte) []byte { return append([]byte(Format+"\n"), manifest...) }

// Write writes a bundle; open gives the content of its parts in their order.
func Write(w io.Writer, sender *SecretKey, recipient *Key, m *Manifest, open func(n int, p Part) (io.ReadCloser, error)) error {
	m.Format, m.Sender, m.Recipient, m.RecipientOrganization = Format, sender.Fingerprint(), recipient.Fingerprint(), recipient.Organization
	if err := m.validate(); err != nil {
		return err
	}
	manifest, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("the manifest of a bundle: %w", err)
	}
	if len(manifest) > maxManifest {
		return api.Conflict("the bundle would have a table of contents of more than %d MiB", maxManifest>>20)
	}
	out, err := age.Encrypt(w, recipient.recipient)
	if err != nil {
		return fmt.Errorf("sealing a bundle: %w", err)
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
		err = fmt.Errorf("the %s %s is not what it was", p.Kind, p.SHA256)
	}
	return err
}

// Reader reads a bundle whose sender and recipient are known.
type Reader struct {
	Manifest Manifest
	// Sum names the manifest by its content: the same bundle again has the same.
	Sum     string
	in      io.Reader
	next    int
	current *partReader
}

// partReader is a part that is being read.
type partReader struct {
	io.LimitedReader
	hash hash.Hash
	part Part
}

// Open reads the head of a bundle. trusted gives the key with a fingerprint, and nil for a stranger's.
func Open(r io.Reader, mine *SecretKey, lookupKey func(fingerprint string) (*Key, error)) (*Reader, error) {
	in := bufio.NewReaderSize(r, 2*maxHeader)
	head, err := in.Peek(maxHeader)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.HasPrefix(head, []byte("age-encryption.org/v1\n")) {
		return nil, api.Invalid("file", "this is no bundle as `service sync bundle` writes it")
	}
	if !bytes.Contains(head, []byte("\n--- ")) {
		return nil, damagedError("it is cut, or what stands before its content is too long")
	}
	plain, err := age.Decrypt(in, mine.identity)
	var other *age.NoIdentityMatchError
	switch {
	case errors.As(err, &other):
		return nil, api.Invalid(
			"file",
			"the bundle is for another organization, or for a key that this one had before: the key here is %s (%s); have it written for this one",
			mine.Name,
			mine.Fingerprint(),
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
		return nil, damagedError("its table of contents is over %d MiB", maxManifest>>20)
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
	return b, b.verify(manifest, signature, mine, lookupKey)
}

// readFull fills a buffer from the decrypted content.
func (b *Reader) readFull(to []byte) error {
	if _, err := io.ReadFull(b.in, to); err != nil {
		return readError(err)
	}
	return nil
}

// verify holds the manifest against its signature and the recipient.
func (b *Reader) verify(manifest, signature []byte, mine *SecretKey, lookupKey func(string) (*Key, error)) error {
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
			"the bundle is from a stranger: nobody here trusts the key %.60q; compare its fingerprint with who sent it, then `service sync trust` their key",
			m.Sender,
		)
	case !ed25519.Verify(from.verifyKey, signedBytes(manifest), signature):
		return api.Invalid("file", "the bundle says it is from %s, and its signature is not theirs", from.Name)
	case m.Recipient != mine.Fingerprint() || m.RecipientOrganization != mine.Organization:
		return api.Invalid("file", "%s wrote the bundle for another organization", from.Name)
	}
	return m.validate()
}

// Next is the next part; io.EOF after the last, when the whole file has been found to be as
// it was written. A part is to be read to its end, where its hash is looked at.
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
			return Part{}, nil, damagedError("there is more behind its end")
		case errors.Is(err, io.EOF):
			return Part{}, nil, io.EOF
		default:
			return Part{}, nil, readError(err)
		}
	}
	p := b.Manifest.Parts[b.next]
	b.next++
	b.current = &partReader{LimitedReader: io.LimitedReader{R: b.in, N: p.Size}, hash: sha256.New(), part: p}
	return p, b.current, nil
}

func readError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return damagedError("it is cut")
	}
	return damagedError("%v", err)
}

// Read reads of the part, and refuses it at its end where it is not what was signed.
func (r *partReader) Read(to []byte) (int, error) {
	n, err := r.LimitedReader.Read(to)
	r.hash.Write(to[:n])
	switch {
	case err == nil:
		return n, nil
	case !errors.Is(err, io.EOF) || r.N > 0:
		return n, readError(err)
	case hex.EncodeToString(r.hash.Sum(nil)) != r.part.SHA256:
		return n, damagedError("a %s in it is not the one that was signed", r.part.Kind)
	}
	return n, io.EOF
}
