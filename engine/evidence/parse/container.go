package parse

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Limits of a container: an archive, or a mail with attachments.
const (
	maxNesting  = 3         // nested containers
	maxMembers  = 2000      // documents in one container
	maxContents = 512 << 20 // unpacked bytes of all members of a document, at any depth
)

// container reads the documents in a document. Each becomes a part of it: its blocks are under a
// heading with its name and keep their locators.
type container struct {
	r         *Reader
	b         *builder
	names     map[string]int // occurrences of each name, to distinguish equal names
	members   int
	readCount int
	firstErr  error // the error of the first unreadable member
}

func (r *Reader) newContainer(b *builder) *container {
	return &container{r: r, b: b, names: map[string]int{}}
}

// checkLimits returns an error if no further member may be read.
func (c *container) checkLimits(size int64) error {
	if c.members++; c.members > maxMembers {
		return newError(ErrTooLarge, "", "it contains more than %d files; split it", maxMembers)
	}
	if *c.b.unpackBudget -= size; *c.b.unpackBudget < 0 {
		return newError(ErrTooLarge, "", "its contents unpack to more than %d bytes", int64(maxContents))
	}
	return nil
}

// uniqueName returns the display name of a member. Names are never used as paths, but one that
// looks like a path out of the archive isn't displayed as such.
func (c *container) uniqueName(name string) string {
	name = cleanText(strings.ReplaceAll(name, `\`, "/"))
	parts := slices.DeleteFunc(strings.Split(name, "/"), func(p string) bool { return p == "" || p == "." || p == ".." })
	name = strings.Join(parts, "/")
	if name == "" {
		name = "unnamed"
	}
	if len(name) > maxHeadingBytes/2 {
		name = strings.ToValidUTF8("…"+name[len(name)-maxHeadingBytes/2:], "")
	}
	c.names[name]++
	if n := c.names[name]; n > 1 {
		name += " (" + strconv.Itoa(n) + ")"
	}
	return name
}

// addMember reads one member under a heading. Problems with the member become warnings; the error
// is for problems of the whole document.
func (c *container) addMember(label string, raw []byte) error {
	b := c.b
	if b.depth >= maxNesting {
		c.skipMember(label, newError(ErrTooLarge, "", "it is nested more than %d containers deep", maxNesting))
		return nil
	}
	child := newBuilder(b.ctx, "", min(b.remaining, b.maxText))
	child.maxText, child.depth, child.unpackBudget, child.extendDeadline = b.maxText, b.depth+1, b.unpackBudget, b.extendDeadline
	var err error
	switch size := int64(len(raw)); {
	case size == 0:
		err = newError(ErrEmpty, "", "0 bytes")
	case size > c.r.opt.MaxBytes:
		err = newError(ErrTooLarge, "", "%d bytes, the limit is %d", size, c.r.opt.MaxBytes)
	default:
		err = c.r.readMember(child, label, raw)
	}
	if ctxErr := b.ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	if err != nil {
		if errors.Is(err, ErrTooLarge) && child.remaining < 0 {
			return newError(ErrTooLarge, "", "it contains more than %d bytes of text", b.maxText)
		}
		c.skipMember(label, err)
		return nil
	}
	c.appendMember(label, child)
	return b.err
}

// readMember reads a member and turns a panic into an error, so that the other members are still
// read.
func (r *Reader) readMember(b *builder, name string, raw []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = newError(ErrDamaged, "", "its parser stopped unexpectedly (%v)", p)
		}
	}()
	return r.readInto(b, name, bytes.NewReader(raw), int64(len(raw)))
}

// skipMember adds a warning about a skipped member.
func (c *container) skipMember(label string, err error) {
	if c.firstErr == nil {
		c.firstErr = err
	}
	c.b.warn("%s: skipped: %s", label, err)
}

// appendMember appends a member's blocks under its name.
func (c *container) appendMember(label string, child *builder) {
	b, doc := c.b, child.doc
	c.readCount++
	b.remaining = child.remaining
	for _, w := range doc.Warnings {
		b.warn("%s: %s", label, w)
	}
	place := Block{}
	if len(doc.Blocks) > 0 {
		place = doc.Blocks[0]
	}
	level := len(b.headingPath) + 1
	for len(b.headingLevels) > 0 && b.headingLevels[len(b.headingLevels)-1] >= level {
		level++
	}
	keepLevels, keepPath := b.headingLevels, b.headingPath
	b.addHeading(level, label, place.Locator)
	c.appendBlocks(child, level)
	b.headingLevels, b.headingPath = keepLevels, keepPath
	// Metadata of one of several documents doesn't apply to the others; the metadata of a single
	// one applies to the whole.
	if b.isCollection = c.readCount > 1; !b.isCollection {
		b.facts, b.memberTitle = append(b.facts, child.facts...), doc.Title
	}
}

// appendBlocks appends another builder's blocks under the open headings, the last of which has the
// given level.
func (c *container) appendBlocks(child *builder, level int) {
	b := c.b
	above := b.headingPath
	var from, path []string
	for _, blk := range child.doc.Blocks {
		if path == nil || !slices.Equal(from, blk.HeadingPath) {
			from, path = blk.HeadingPath, append(above[:len(above):len(above)], blk.HeadingPath...)
		}
		blk.HeadingPath = path
		if blk.Kind == Heading {
			blk.Level = min(blk.Level+level, 9)
		}
		if blk.Table > 0 {
			blk.Table += b.tableCount
		}
		b.doc.Blocks = append(b.doc.Blocks, blk)
	}
	b.doc.Furniture = append(b.doc.Furniture, child.doc.Furniture...)
	b.tableCount += child.tableCount
}

// finish returns an error if no member could be read.
func (c *container) finish(what string) error {
	switch {
	case c.members == 0:
		return newError(ErrEmpty, "", "the %s contains no files", what)
	case c.readCount == 0 && c.members == 1:
		return c.firstErr
	case c.readCount == 0:
		return &Error{
			Kind:   ErrUnsupported,
			Detail: "none of the " + strconv.Itoa(c.members) + " files in the " + what + " can be read; the first",
			Cause:  c.firstErr,
		}
	}
	return c.b.err
}
