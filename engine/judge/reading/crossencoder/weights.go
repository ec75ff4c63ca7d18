package crossencoder

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/internal/regularfile"
)

// Magic is the signature at the start of a weights file.
const Magic = "READER01"

const maxFileBytes = 128 << 20

// Limits on the shape of a network. They ensure that sums of products fit in an int32.
const (
	maxLayers    = 24
	maxWidth     = 1024
	maxInner     = 2048
	maxHeadWidth = 128
	maxWords     = 200_000
	maxPositions = 512
	minPositions = 64
)

// header is the part of a weights file that describes the network.
type header struct {
	Name            string          `json:"name"`
	Layers          int             `json:"layers"`
	Width           int             `json:"width"`
	Inner           int             `json:"inner"`
	Heads           int             `json:"heads"`
	Words           int             `json:"words"`
	Positions       int             `json:"positions"`
	Labels          []reading.Label `json:"labels"`
	VocabularyBytes int             `json:"vocabulary_bytes"`
}

func (h *header) check() error {
	switch {
	case h.Layers < 1 || h.Layers > maxLayers || h.Width < panelWidth || h.Width > maxWidth || h.Inner < panelWidth || h.Inner > maxInner ||
		h.Heads < 1 || h.Words < 1 || h.Words > maxWords || h.Positions < minPositions || h.Positions > maxPositions:
		return errors.New("this version of the program doesn't support the network's shape")
	case h.Width%panelWidth != 0 || h.Inner%panelWidth != 0 || h.Width%h.Heads != 0 || h.Width/h.Heads%panelWidth != 0 ||
		h.Width/h.Heads > maxHeadWidth:
		return fmt.Errorf("the widths of the network are not multiples of %d", panelWidth)
	case !slices.Equal(h.Labels, reading.Labels):
		return fmt.Errorf("the labels are %v instead of %v", h.Labels, reading.Labels)
	}
	return nil
}

// matrix holds the weights of a linear layer: columns of integers, with a scale (the value of the
// integer 1) and a bias for each column.
type matrix struct {
	columns panels
	scales  []float32
	bias    []float32
}

type normWeights struct{ weight, bias []float32 }

type layer struct {
	qkv, out, up, down matrix
	norm1, norm2       normWeights
}

// Network is a trained cross-encoder. Its methods may be called concurrently.
type Network struct {
	header
	sha256    string
	tokenizer *tokenizer
	words     []int8 // has Words rows
	scales    []float32
	positions []float32
	segments  []float32
	norm      normWeights
	layers    []layer
	head      []float32 // a row of 2 × Width for each label
	headBias  []float32
}

// SHA256 returns the hash that identifies the weights.
func (n *Network) SHA256() string { return n.sha256 }

// ReadFile reads a network from a weights file. Errors name the file.
func ReadFile(path string) (*Network, error) {
	file, err := regularfile.Read(path, maxFileBytes)
	if err != nil {
		return nil, err
	}
	n, err := Parse(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return n, nil
}

// Parse parses a weights file, which tools/reader/train.py writes as reader.bin. The network retains the slice.
func Parse(file []byte) (*Network, error) {
	body := len(file) - sha256.Size
	if !bytes.HasPrefix(file, []byte(Magic)) {
		return nil, errors.New("this is not a reader's weights file; use a reader.bin file created by train.py")
	}
	if body < len(Magic)+4 {
		return nil, errors.New("the weights file is truncated")
	}
	sum := sha256.Sum256(file[:body])
	if !bytes.Equal(sum[:], file[body:]) {
		return nil, errors.New("the weights file is truncated or damaged (wrong SHA-256 hash); copy it again")
	}
	n := &Network{sha256: hex.EncodeToString(sum[:])}
	if err := n.parse(file[len(Magic):body]); err != nil {
		return nil, fmt.Errorf("the weights file can't be used: %w", err)
	}
	return n, nil
}

var errCut = errors.New("the tensors don't have the size given in the header")

func (n *Network) parse(data []byte) error {
	length := int(binary.LittleEndian.Uint32(data))
	if data = data[4:]; length > len(data) {
		return errCut
	}
	if err := json.Unmarshal(data[:length], &n.header); err != nil {
		return fmt.Errorf("the header is not valid: %w", err)
	}
	if err := n.check(); err != nil {
		return err
	}
	data = data[length:]
	if n.VocabularyBytes < 0 || n.VocabularyBytes > len(data) || !utf8.Valid(data[:n.VocabularyBytes]) {
		return errors.New("the vocabulary is not valid")
	}
	var err error
	if n.tokenizer, err = newTokenizer(strings.Split(string(data[:n.VocabularyBytes]), "\n"), n.Words); err != nil {
		return err
	}
	t := tensors{data: data[n.VocabularyBytes:]}
	n.scales, n.words = t.floats(n.Words), t.bytes(n.Words*n.Width)
	n.positions, n.segments = t.floats(n.Positions*n.Width), t.floats(2*n.Width)
	n.norm = t.norm(n.Width)
	for range n.Layers {
		n.layers = append(n.layers, layer{
			qkv: t.matrix(3*n.Width, n.Width), out: t.matrix(n.Width, n.Width), norm1: t.norm(n.Width),
			up: t.matrix(n.Inner, n.Width), down: t.matrix(n.Width, n.Inner), norm2: t.norm(n.Width),
		})
	}
	n.head, n.headBias = t.floats(len(n.Labels)*2*n.Width), t.floats(len(n.Labels))
	switch {
	case t.short || len(t.data) > 0:
		return errCut
	case t.invalid:
		return errors.New("the file contains weights that are not numbers")
	}
	return nil
}

// tensors reads tensors from the data of a file. If there is less data than a tensor needs, the tensor is returned
// empty and short is set, so that a forged header can't cause large allocations.
type tensors struct {
	data           []byte
	short, invalid bool
}

func (t *tensors) takeBytes(n int) []byte {
	if n > len(t.data) {
		t.short = true
		return nil
	}
	out := t.data[:n:n]
	t.data = t.data[n:]
	return out
}

func (t *tensors) floats(n int) []float32 {
	b := t.takeBytes(4 * n)
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		t.invalid = t.invalid || !(out[i] > -1e9 && out[i] < 1e9)
	}
	return out
}

func (t *tensors) bytes(n int) []int8 {
	b := t.takeBytes(n)
	out := make([]int8, len(b))
	for i, v := range b {
		out[i] = int8(v)
	}
	return out
}

func (t *tensors) matrix(columns, k int) (m matrix) {
	m.scales = t.floats(columns)
	if b := t.takeBytes(columns * k); b != nil {
		m.columns.reset(columns, k)
		column := make([]int16, k)
		for c := range columns {
			for i, v := range b[c*k : (c+1)*k] {
				column[i] = int16(int8(v))
			}
			m.columns.setColumn(c, column)
		}
	}
	m.bias = t.floats(columns)
	return m
}

func (t *tensors) norm(n int) normWeights { return normWeights{t.floats(n), t.floats(n)} }
