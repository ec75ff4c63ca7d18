// Package cfbtest writes small compound files for testing their readers.
package cfbtest

import (
	"encoding/binary"
	"sort"
	"strings"
	"unicode/utf16"

	"github.com/scf-service/service/engine/evidence/parse/cfb"
)

const sector = 512

type node struct {
	name      string
	isStorage bool
	content   []byte
	children  []*node
	id        uint32
	sibling   uint32 // sibling
	start     uint32
}

// BuildFile returns a compound file with the given streams by path ("storage/stream"). As the format requires,
// streams shorter than 4096 bytes are stored in small sectors.
func BuildFile(streams map[string]string) []byte {
	root := &node{name: "Root Entry", isStorage: true}
	var paths []string
	for p := range streams {
		paths = append(paths, p)
	}
	sort.Strings(paths)
	for _, p := range paths {
		at := root
		parts := strings.Split(p, "/")
		for i, part := range parts {
			at = at.findOrAddChild(part, i+1 < len(parts))
		}
		at.content = []byte(streams[p])
	}
	var all []*node
	var number func(n *node)
	number = func(n *node) {
		n.id, n.sibling = uint32(len(all)), 0xFFFFFFFF
		all = append(all, n)
		for _, c := range n.children {
			number(c)
		}
		for i := range len(n.children) - 1 {
			n.children[i].sibling = n.children[i+1].id
		}
	}
	number(root)

	var body []byte
	var fat, miniFat []uint32
	put := func(raw []byte) uint32 {
		if len(raw) == 0 {
			return 0xFFFFFFFE
		}
		first := uint32(len(fat))
		for i := 0; i < len(raw); i += sector {
			piece := make([]byte, sector)
			copy(piece, raw[i:])
			body = append(body, piece...)
			fat = append(fat, uint32(len(fat)+1))
		}
		fat[len(fat)-1] = 0xFFFFFFFE
		return first
	}
	var small []byte
	for _, n := range all[1:] {
		switch {
		case n.isStorage || len(n.content) == 0:
		case len(n.content) >= 4096:
			n.start = put(n.content)
		default:
			n.start = uint32(len(miniFat))
			for i := 0; i < len(n.content); i += 64 {
				piece := make([]byte, 64)
				copy(piece, n.content[i:])
				small = append(small, piece...)
				miniFat = append(miniFat, uint32(len(miniFat)+1))
			}
			miniFat[len(miniFat)-1] = 0xFFFFFFFE
		}
	}
	root.start, root.content = put(small), small
	var dir []byte
	for _, n := range all {
		dir = append(dir, n.directoryEntry()...)
	}
	dirStart, miniStart := put(dir), put(littleEndianBytes(miniFat))
	// The sector table must include its own sectors.
	n := (len(fat) + 127) / 128
	for (len(fat)+n+127)/128 > n {
		n++
	}
	fatStart := uint32(len(fat))
	for range n {
		fat = append(fat, 0xFFFFFFFD)
	}
	table := littleEndianBytes(fat)
	for len(table)%sector != 0 {
		table = append(table, 0xFF)
	}
	body = append(body, table...)

	head := make([]byte, sector)
	copy(head, cfb.Magic)
	le := binary.LittleEndian
	le.PutUint16(head[24:], 0x3E)
	le.PutUint16(head[26:], 3)
	le.PutUint16(head[28:], 0xFFFE)
	le.PutUint16(head[30:], 9)
	le.PutUint16(head[32:], 6)
	le.PutUint32(head[44:], uint32(n))
	le.PutUint32(head[48:], dirStart)
	le.PutUint32(head[56:], 4096)
	le.PutUint32(head[60:], miniStart)
	le.PutUint32(head[68:], 0xFFFFFFFE)
	for i := range 109 {
		v := uint32(0xFFFFFFFF)
		if i < n {
			v = fatStart + uint32(i)
		}
		le.PutUint32(head[76+4*i:], v)
	}
	return append(head, body...)
}

func (n *node) findOrAddChild(name string, storage bool) *node {
	for _, c := range n.children {
		if c.name == name {
			return c
		}
	}
	c := &node{name: name, isStorage: storage}
	n.children = append(n.children, c)
	return c
}

func (n *node) directoryEntry() []byte {
	e := make([]byte, 128)
	le := binary.LittleEndian
	name := utf16.Encode([]rune(n.name))
	for i, u := range name {
		le.PutUint16(e[2*i:], u)
	}
	le.PutUint16(e[64:], uint16(2*len(name)+2))
	switch {
	case n.id == 0:
		e[66] = 5
	case n.isStorage:
		e[66] = 1
	default:
		e[66] = 2
	}
	child := uint32(0xFFFFFFFF)
	if len(n.children) > 0 {
		child = n.children[0].id
	}
	le.PutUint32(e[68:], 0xFFFFFFFF)
	le.PutUint32(e[72:], n.sibling)
	le.PutUint32(e[76:], child)
	le.PutUint32(e[116:], n.start)
	le.PutUint32(e[120:], uint32(len(n.content)))
	return e
}

func littleEndianBytes(list []uint32) []byte {
	var out []byte
	for _, v := range list {
		out = binary.LittleEndian.AppendUint32(out, v)
	}
	return out
}
