package oscal

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/defenseunicorns/go-oscal/src/pkg/validation"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/scf-service/service/engine/catalog/custom"
	"github.com/scf-service/service/internal/lazyregexp"
)

// Validate holds a document with one of the models in it against the schema of the OSCAL
// version that it names. What doesn't fit is a *custom.PlaceError.
func Validate(data []byte, model string) error { return validateModels(data, model) }

func validateModels(data []byte, models ...string) error {
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return pathErrorf("", "this is not JSON: %v", err)
	}
	doc, ok := tree.(map[string]any)
	if !ok {
		return pathErrorf("", "this is not OSCAL: a document is an object with %s", joinWithOr(models))
	}
	model := ""
	for _, name := range models {
		if _, there := doc[name]; there {
			model = name
		}
	}
	if model == "" {
		return pathErrorf("", "it is no OSCAL %s", strings.ReplaceAll(joinWithOr(models), "-", " "))
	}
	body, _ := doc[model].(map[string]any)
	meta, _ := body["metadata"].(map[string]any)
	named, _ := meta["oscal-version"].(string)
	if !oscalVersion.MatchString(named) {
		return pathErrorf(model+".metadata.oscal-version", "it has no OSCAL version, such as %s", Version)
	}
	v, err := validation.NewValidatorDesiredVersion(doc, named)
	if err != nil {
		return pathErrorf(model+".metadata.oscal-version", "OSCAL %s is not supported: %v", named, err)
	}
	err = v.Validate()
	var misfit *jsonschema.ValidationError
	if errors.As(err, &misfit) {
		return custom.FirstSchemaError(modelError(misfit, model))
	}
	if err != nil {
		return fmt.Errorf("validating the document against the OSCAL schema: %w", err)
	}
	return nil
}

// joinWithOr names models as a sentence does.
func joinWithOr(models []string) string {
	last := len(models) - 1
	if last < 1 {
		return strings.Join(models, "")
	}
	return strings.Join(models[:last], ", ") + " or " + models[last]
}

var oscalVersion = lazyregexp.New(`^\d{1,2}\.\d{1,2}\.\d{1,2}$`)

// modelError is the branch of the schema's choice that speaks of the document's own model,
// not of those that it is not.
func modelError(err *jsonschema.ValidationError, model string) *jsonschema.ValidationError {
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
