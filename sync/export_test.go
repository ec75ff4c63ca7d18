package sync

import (
	"fmt"
	"io"

	"github.com/scf-service/service/store"
)

// Dump writes the synchronised records of an assessment.
func Dump(tx *store.Tx, org, id string, w io.Writer) error {
	for _, t := range tables {
		for key, err := range t.all(tx, org, id) {
			if err != nil {
				return err
			}
			f, _, err := t.read(tx, org, key)
			if err != nil {
				return err
			}
			b, err := encode(t.wire(f))
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "%s %x %s\n", t.name, key, b)
		}
	}
	return nil
}
