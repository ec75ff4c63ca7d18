package pdf

import (
	"cmp"
	"fmt"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/parse/document"
)

// attachment is a file inside a PDF.
type attachment struct {
	name       string
	content    []byte
	isTooLarge bool
}

// attachedFiles is implemented by engines that can read the files inside a PDF.
type attachedFiles interface{ attachedFiles() []attachment }

// readAttachments reads the files inside a document as parts of it.
func readAttachments(b *document.Builder, files []attachment) error {
	c := b.NewContainer()
	b.CloseHeadings()
	for i, f := range files {
		label, err := c.NextMemberLabel(cmp.Or(f.name, fmt.Sprintf("attachment %d", i+1)))
		if err != nil {
			return err
		}
		if f.isTooLarge {
			c.SkipMember(label,
				document.NewError(document.ErrTooLarge, "", "the files attached to a PDF can have up to %d bytes in total; add this file separately",
					maxAttachmentBytes))
			b.Doc.AddNotRead(api.UnreadEmbeddedFile, 1, api.Locator{})
			continue
		}
		if err := b.ConsumeUnpackedBudget(int64(len(f.content))); err != nil {
			return err
		}
		blocks := len(b.Doc.Blocks)
		if err := c.AddMember(label, f.content); err != nil {
			return err
		}
		if len(b.Doc.Blocks) == blocks {
			b.Doc.AddNotRead(api.UnreadEmbeddedFile, 1, api.Locator{})
		}
	}
	return b.Err()
}
