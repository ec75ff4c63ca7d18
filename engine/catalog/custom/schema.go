package custom

import (
	"bytes"
	_ "embed" // the schema
	"errors"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/scf-service/service/engine/catalog/scf"
)

//go:embed schema.json
var schemaJSON []byte

var compiledSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaJSON))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("schema.json")
})

// checkSchema validates a document, as decoded by jsonschema.UnmarshalJSON, against the schema of catalog
// documents.
func checkSchema(doc any) error {
	schema, err := compiledSchema()
	if err != nil {
		return fmt.Errorf("the built-in schema is invalid: %w", err)
	}
	return FirstSchemaError(schema.Validate(doc))
}

// FirstSchemaError turns a jsonschema validation error into a *PathError that describes the first violation
// and states how many more there are. It returns other errors, and nil, unchanged.
func FirstSchemaError(err error) error {
	var v *jsonschema.ValidationError
	if !errors.As(err, &v) {
		return err
	}
	words := message.NewPrinter(language.English)
	more := 0
	first := v
	for len(first.Causes) > 0 {
		more += len(first.Causes) - 1
		first = first.Causes[0]
	}
	text := scf.Shorten(first.ErrorKind.LocalizedString(words))
	if more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return &PathError{Path: FormatPath(first.InstanceLocation), Message: text}
}
