package parse

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// What a container may hold: an archive, or a mail with what is attached to it.
const (
	maxNesting  = 3         // containers in each other
	maxMembers  = 2000      // documents of one container
	maxContents = 512 << 20 // bytes of all members of a document, unpacked, however deep
)

// container reads the documents that a document holds. Each becomes a part of it: its
// blocks stand under a heading with its name, and keep the places they have in it.
type container struct {
	r         *Reader
	b         *builder
	names     map[string]int // how often a name came, so that two of one name stay apart
	members   int
	readCount int
	firstErr  error // why the first unreadable member was
}

func (r *Reader) newContainer(b *builder) *container {
	return &container{r: r, b: b, names: map[string]int{}}
}

// checkLimits reports whether one more member may be looked at, by the limits on all of them.
func (c *container) checkLimits(size int64) error {
	if c.members++; c.members > maxMembers {
		return newError(ErrTooLarge, "", "it contains more than %d files; split it", maxMembers)
	}
	if *c.b.unpackBudget -= size; *c.b.unpackBudget < 0 {
		return newError(ErrTooLarge, "", "its contents unpack to more than %d bytes", int64(maxContents))
	}
	return nil
}

// uniqueName is the name that a member is shown by. Names are never used as paths, but one that
// looks like a way out of the archive should not be shown as one either.
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

// addMember reads one member under a heading. What is wrong with it is a warning; the error is of
// what concerns the whole.
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

// readMember keeps a fault of ours that one member meets from the others.
func (r *Reader) readMember(b *builder, name string, raw []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = newError(ErrDamaged, "", "its parser stopped unexpectedly (%v)", p)
		}
	}()
	return r.readInto(b, name, bytes.NewReader(raw), int64(len(raw)))
}

// skipMember tells of a member that was left out.
func (c *container) skipMember(label string, err error) {
	if c.firstErr == nil {
		c.firstErr = err
	}
	c.b.warn("%s: skipped: %s", label, err)
}

// appendMember puts a member's blocks under its name.
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
	// What one of many documents says of itself is not true of the others; where there is
	// but one, it speaks for the whole.
	if b.isCollection = c.readCount > 1; !b.isCollection {
		b.facts, b.memberTitle = append(b.facts, child.facts...), doc.Title
	}
}

// appendBlocks appends what a builder has read under the open headings, the last of which is of
// the given level.
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

// finish fails where nothing of a container could be read.
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
