package store

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/scf-service/service/engine/api"
)

// Membership is a person's place in an organization.
type Membership struct {
	ID             string    `json:"id"`
	OrganizationID string    `json:"organization_id"`
	UserID         string    `json:"user_id"`
	Role           api.Role  `json:"role"`
	Status         string    `json:"status"`
	CreatedAt      time.Time `json:"created_at"`
	UpdatedAt      time.Time `json:"updated_at"`
}

// CatalogVersion is a catalog version with the blobs that hold it.
type CatalogVersion struct {
	api.CatalogVersion
	// SnapshotBlob is the encoded catalog, EmbedderBlob the model trained on it ("" until trained).
	SnapshotBlob string `json:"snapshot_blob"`
	EmbedderBlob string `json:"embedder_blob"`
}

// Document is a document with how far it is read, and by which embedder its passages are embedded.
type Document struct {
	api.Document
	Stage    string `json:"stage"`
	Embedder string `json:"embedder"`
}

// Vector is the embedding of a passage.
type Vector struct {
	OrganizationID string
	AssessmentID   string
	DocumentID     string
	ChunkID        string
	Embedder       string
	Values         []float32
}

// TimelineEvent is a timeline event with where it belongs.
type TimelineEvent struct {
	api.TimelineEvent
	OrganizationID string `json:"organization_id"`
	AssessmentID   string `json:"assessment_id"`
}

// Setting is a value of the installation.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

var errVector = errors.New("a stored vector is damaged")

func encodeVector(v *Vector) ([]byte, error) {
	var b []byte
	for _, s := range []string{v.OrganizationID, v.AssessmentID, v.DocumentID, v.ChunkID, v.Embedder} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	for _, f := range v.Values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b, nil
}

func decodeVector(b []byte, v *Vector) error {
	for _, s := range []*string{&v.OrganizationID, &v.AssessmentID, &v.DocumentID, &v.ChunkID, &v.Embedder} {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) {
			return errVector
		}
		*s, b = string(b[size:size+int(n)]), b[size+int(n):]
	}
	if len(b)%4 != 0 {
		return errVector
	}
	v.Values = make([]float32, len(b)/4)
	for i := range v.Values {
		v.Values[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return nil
}
