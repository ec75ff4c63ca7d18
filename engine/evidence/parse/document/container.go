package document

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Limits on documents within a document, such as the files in an archive.
const (
	MaxNesting  = 3         // maximum number of enclosing documents
	MaxMembers  = 2000      // maximum number of documents in one document
	maxUnpacked = 512 << 20 // bytes of all of them, at any depth
)

// Container reads the documents within a document, such as the files in an archive. Each of them becomes a part
// of the document: its blocks are placed under a heading with its name and keep their locators.
type Container struct {
	b         *Builder
	names     map[string]int // occurrences of each name, to distinguish equal names
	members   int
	readCount int
	firstErr  error // the error of the first unreadable member
}

// NewContainer returns a Container that adds its members to b.
func (b *Builder) NewContainer() *Container {
	return &Container{b: b, names: map[string]int{}}
}

// NextMemberLabel counts a member (a nested document) and returns a unique label for it. Labels are only displayed and
// never used as paths, but parts such as ".." are removed anyway.
func (c *Container) NextMemberLabel(name string) (label string, err error) {
	if c.members++; c.members > MaxMembers {
		return "", NewError(ErrTooLarge, "", "the document contains more than %d files; split it", MaxMembers)
	}
	label = CleanLine(strings.ReplaceAll(name, `\`, "/"))
	parts := slices.DeleteFunc(strings.Split(label, "/"), func(p string) bool { return p == "" || p == "." || p == ".." })
	label = strings.Join(parts, "/")
	if label == "" {
		label = "unnamed"
	}
	if len(label) > MaxHeadingBytes/2 {
		label = strings.ToValidUTF8("…"+label[len(label)-MaxHeadingBytes/2:], "")
	}
	c.names[label]++
	if n := c.names[label]; n > 1 {
		label += " (" + strconv.Itoa(n) + ")"
	}
	return label, nil
}

// Add reads a document within the document, under a heading with its name.
func (c *Container) Add(name string, content []byte) error {
	label, err := c.NextMemberLabel(name)
	if err != nil {
		return err
	}
	if err := c.b.ConsumeUnpackedBudget(int64(len(content))); err != nil {
		return err
	}
	return c.AddMember(label, content)
}

// AddMember reads one member under a heading with its label. Problems with the member become warnings; an error
// means that the whole document can't be read.
func (c *Container) AddMember(label string, content []byte) error {
	b := c.b
	if b.depth >= MaxNesting {
		c.SkipMember(label, NewError(ErrTooLarge, "", "the file is nested more than %d containers deep", MaxNesting))
		return nil
	}
	part := b.NewPart()
	part.depth++
	left := *b.budget
	err := readMember(part, label, content)
	if ctxErr := b.ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	if err != nil {
		if err := b.exhaustedBudget(); err != nil {
			return err
		}
		b.budget.text, b.budget.blocks = left.text, left.blocks
		c.SkipMember(label, err)
		return nil
	}
	c.appendMember(label, part)
	return b.err
}

// AppendDocument reads a document that is shown as a part of this one, and appends its blocks under
// the open headings. The error is about the appended document; other problems stop the reading of
// b.
func (b *Builder) AppendDocument(name string, content []byte) error {
	if b.depth >= MaxNesting {
		return NewError(ErrTooLarge, "", "the file is nested more than %d containers deep", MaxNesting)
	}
	if err := b.ConsumeUnpackedBudget(int64(len(content))); err != nil {
		b.Fail(err)
		return nil
	}
	part, left := b.NewPart(), *b.budget
	part.depth++
	if err := readMember(part, name, content); err != nil {
		if b.err = cmp.Or(b.ctx.Err(), b.exhaustedBudget()); b.err == nil {
			b.budget.text, b.budget.blocks = left.text, left.blocks
		}
		return err
	}
	b.AppendPart(part)
	return nil
}

// readMember reads a member and turns a panic into an error, so that the other members are still
// read.
func readMember(part *Builder, label string, content []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = PanicError(p)
		}
	}()
	switch size := int64(len(content)); {
	case size == 0:
		return NewError(ErrEmpty, "", "0 bytes")
	case size > part.opt.MaxBytes:
		return NewError(ErrTooLarge, "", "the file has %d bytes (the limit is %d)", size, part.opt.MaxBytes)
	}
	return part.opt.ReadDocument(part, label, content)
}

// SkipMember adds a warning that a member was skipped because of err.
func (c *Container) SkipMember(label string, err error) {
	if c.firstErr == nil {
		c.firstErr = err
	}
	c.b.Warn("%s: skipped: %s", label, err)
}

// appendMember appends a member's blocks under its name.
func (c *Container) appendMember(label string, part *Builder) {
	b, doc := c.b, part.Doc
	c.readCount++
	for i, w := range doc.Warnings {
		doc.Warnings[i] = label + ": " + w
	}
	first := Block{}
	if len(doc.Blocks) > 0 {
		first = doc.Blocks[0]
	}
	level := max(len(b.headingPath), b.openLevel()) + 1
	levels, path := b.headingLevels, b.headingPath
	b.AddHeading(level, label, first.Locator)
	b.AppendPart(part)
	b.headingLevels, b.headingPath = levels, path
	// The metadata of a single member applies to the whole document, but that of one among several
	// members doesn't.
	if b.IsCollection = c.readCount > 1; !b.IsCollection {
		b.Facts, b.MemberTitle = append(b.Facts, part.Facts...), doc.Title
	}
}

// RequireAnyRead returns an error if no member could be read.
func (c *Container) RequireAnyRead(what string) error {
	switch {
	case c.members == 0:
		return NewError(ErrEmpty, "", "the %s contains no files", what)
	case c.readCount == 0 && c.members == 1:
		return c.firstErr
	case c.readCount == 0:
		return &Error{
			Kind:   ErrUnsupported,
			Detail: "none of the " + strconv.Itoa(c.members) + " files in the " + what + " can be read; the reason for the first one is",
			Cause:  c.firstErr,
		}
	}
	return c.b.err
}
