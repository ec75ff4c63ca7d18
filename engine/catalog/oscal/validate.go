package oscal

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/defenseunicorns/go-oscal/src/pkg/validation"
	"github.com/defenseunicorns/go-oscal/src/pkg/versioning"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/scf-service/service/engine/catalog/custom"
	"github.com/scf-service/service/internal/lazyregexp"
)

// Validate checks an OSCAL document against the schema of the OSCAL version that it names. The document must
// have exactly one top-level field, whose name is one of models. Validation errors are of type
// *custom.PathError.
func Validate(data []byte, models ...string) error {
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return pathErrorf("", "the document is not valid JSON: %v", err)
	}
	doc, ok := tree.(map[string]any)
	if !ok {
		return pathErrorf("", "this is not an OSCAL document; the top level must have the field %s", joinWithOr(models))
	}
	model := ""
	for _, name := range models {
		if _, found := doc[name]; found {
			model = name
		}
	}
	if model == "" {
		return pathErrorf("", "the document is not an OSCAL %s", strings.ReplaceAll(joinWithOr(models), "-", " "))
	}
	if len(doc) > 1 {
		return pathErrorf("", "the document has %d top-level fields, but OSCAL allows exactly one", len(doc))
	}
	body, _ := doc[model].(map[string]any)
	meta, _ := body["metadata"].(map[string]any)
	version, _ := meta["oscal-version"].(string)
	place := model + ".metadata.oscal-version"
	if !oscalVersion.MatchString(version) {
		return pathErrorf(place, "the OSCAL version is missing or malformed; it should look like %s", Version)
	}
	if err := versioning.IsValidOscalVersion(version); err != nil {
		return pathErrorf(place, "OSCAL %s is not supported", version)
	}
	schema, err := compiledSchema(version)
	if err != nil {
		return fmt.Errorf("the OSCAL %s schema is invalid: %w", version, err)
	}
	err = schema.Validate(tree)
	var mismatch *jsonschema.ValidationError
	if errors.As(err, &mismatch) {
		return custom.FirstSchemaError(selectModelError(mismatch, model))
	}
	return err
}

// compiledSchemas caches the compiled schema of every OSCAL version used so far, as a func()
// (*jsonschema.Schema, error) keyed by version. Compiling a schema takes far longer than validating a typical
// document.
var compiledSchemas sync.Map

// compiledSchema returns the compiled schema of an OSCAL version. It returns an error if go-oscal has no schema
// for that version.
func compiledSchema(version string) (*jsonschema.Schema, error) {
	compile, _ := compiledSchemas.LoadOrStore(version, sync.OnceValues(func() (*jsonschema.Schema, error) {
		// The validator is only used to obtain the schema, so its document is empty.
		v, err := validation.NewValidatorDesiredVersion(map[string]any{"catalog": nil}, version)
		if err != nil {
			return nil, err
		}
		params, err := v.GetValidationParams()
		if err != nil {
			return nil, err
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource(params.SchemaPath, params.SchemaData); err != nil {
			return nil, err
		}
		return c.Compile(params.SchemaPath)
	}))
	return compile.(func() (*jsonschema.Schema, error))()
}

// joinWithOr joins names into a phrase such as "a, b or c".
func joinWithOr(models []string) string {
	last := len(models) - 1
	if last < 1 {
		return strings.Join(models, "")
	}
	return strings.Join(models[:last], ", ") + " or " + models[last]
}

var oscalVersion = lazyregexp.New(`^\d{1,2}\.\d{1,2}\.\d{1,2}$`)

// selectModelError returns the part of a validation error that concerns the document's own model. The schema
// accepts several models, so the complete error also explains why the document doesn't match the other models.
func selectModelError(err *jsonschema.ValidationError, model string) *jsonschema.ValidationError {
	for len(err.InstanceLocation) == 0 {
		at := -1
		for i, c := range err.Causes {
			if len(c.InstanceLocation) > 0 && c.InstanceLocation[0] == model {
				at = i
			}
			for _, d := range c.Causes {
				if len(d.InstanceLocation) > 0 && d.InstanceLocation[0] == model {
					at = i
				}
			}
		}
		if at < 0 {
			return err
		}
		err = err.Causes[at]
	}
	return err
}
