package daemon

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scf-service/service/api"
)

// buildOpenAPI returns the OpenAPI document, combining huma's schemas with the declarations of the
// operations.
func (s *Server) buildOpenAPI() (*huma.OpenAPI, error) {
	schemas := newSchemas()
	schemas.Schema(errorEnvelope, true, "")
	inputs := map[string]*inputReader{}
	for _, op := range api.Operations() {
		inputs[op.ID] = newInputReader(schemas, op)
		if returnsJSON(op) {
			schemas.Schema(op.Out, true, op.Out.Name())
		}
	}
	markPointersNullable(schemas)
	markAddedFields(schemas)
	doc := &huma.OpenAPI{
		OpenAPI:           "3.1.0",
		JSONSchemaDialect: "https://spec.openapis.org/oas/3.1/dialect/base",
		Info: &huma.Info{
			Title: "service", Version: s.engine.Version(),
			Extensions:  map[string]any{"summary": "Security, compliance and maturity assessments against the Secure Controls Framework"},
			Description: apiIntroduction, License: &huma.License{Name: "Apache 2.0", Identifier: "Apache-2.0"},
		},
		Servers: []*huma.Server{{URL: "/", Description: "The server that provides this document"}},
		Tags:    apiTags,
		Paths:   map[string]*huma.PathItem{},
		Components: &huma.Components{
			Schemas: registryWithNullInEnums(schemas), SecuritySchemes: securitySchemes,
			Parameters: sharedParameters(), Headers: sharedHeaders(), Responses: errorResponseComponents(),
		},
	}
	for _, op := range api.Operations() {
		o, err := describeOperation(op, inputs[op.ID], schemas)
		if err != nil {
			return nil, fmt.Errorf("describing %s: %w", op.ID, err)
		}
		doc.AddOperation(o)
	}
	return doc, nil
}

func returnsJSON(op *api.Operation) bool {
	return (op.Form == api.JSON || op.Form == api.Upload) && op.Out != reflect.TypeFor[api.None]()
}

// describeOperation returns the description of an operation whose schemas are in the registry.
func describeOperation(op *api.Operation, in *inputReader, schemas huma.Registry) (*huma.Operation, error) {
	o := &huma.Operation{
		OperationID: op.ID, Method: op.Method, Path: op.Path, Tags: []string{op.Tag}, Summary: op.Summary, Description: operationDescription(op),
		Extensions: map[string]any{"x-service-rate-category": string(op.Rate), "x-service-error-codes": possibleErrorCodes(op)},
	}
	if op.Permission != "" {
		o.Extensions["x-service-permission"] = string(op.Permission)
	}
	if op.Access == api.Platform {
		o.Extensions["x-service-platform-admin"] = true
	}
	if op.Access == api.Public {
		o.Extensions["security"] = []any{} // huma omits an empty list
	} else {
		o.Security = []map[string][]string{{schemeKey: {}}, {schemeSession: {}}}
	}
	for _, p := range in.params {
		if p.in != "cookie" { // the session's cookie is described as a security scheme
			o.Parameters = append(o.Parameters, describeParameter(op, p))
		}
	}
	for _, name := range sharedParameterNames(op) {
		o.Parameters = append(o.Parameters, &huma.Param{Ref: "#/components/parameters/" + name})
	}
	if err := describeRequest(o, op, in); err != nil {
		return nil, err
	}
	return o, describeResponses(o, op, schemas)
}

// sortableFieldNames returns the fields that a list can be sorted by.
func sortableFieldNames(op *api.Operation) []string {
	for _, f := range reflect.VisibleFields(op.In) {
		if f.Tag.Get("query") == "sort" {
			return strings.Split(f.Tag.Get("sort"), ",")
		}
	}
	return []string{""}
}

// sharedParameterNames returns the shared headers that an operation reads.
func sharedParameterNames(op *api.Operation) []string {
	names := []string{"TraceId"}
	switch {
	case op.Access == api.Tenant:
		names = append(names, "TenantId")
	case op.Access == api.SignedIn && op.Permission != "":
		names = append(names, "OptionalTenantId")
	}
	if op.Method == http.MethodPost && op.Access != api.Public {
		names = append(names, "IdempotencyKey")
	}
	if op.Form == api.Download || op.Form == api.Markup {
		names = append(names, "Range", "IfNoneMatch")
	}
	return names
}

func describeParameter(op *api.Operation, p parameter) *huma.Param {
	out := &huma.Param{
		Name:        p.name,
		In:          p.in,
		Description: p.schema.Description,
		Required:    p.required,
		Schema:      schemaWithNullInEnums(p.schema),
	}
	if p.in == "path" || p.in == "query" {
		out.Example = exampleParameter(op, p.name)
	}
	if p.in == "query" {
		out.Explode = new(bool) // a list is a single comma-separated value
	}
	if p.in == "query" && p.name == "sort" {
		names := sortableFieldNames(op)
		out.Description = "Sort order: `" + strings.Join(names, "`, `") + "`, separated by commas; prefix a field with - for descending."
		out.Example = "-" + names[0]
	}
	if p.name == "If-Match" {
		out.Example = `"3"`
	}
	return out
}

// describeRequest adds the request body to the description of an operation.
func describeRequest(o *huma.Operation, op *api.Operation, in *inputReader) error {
	contentType, schema := "application/json", in.schema
	if op.Form == api.Upload {
		contentType, schema = "multipart/form-data", uploadSchema(op.In)
	}
	if schema == nil {
		return nil
	}
	example, err := exampleRequest(op)
	o.RequestBody = &huma.RequestBody{
		Required: !in.bodyOptional,
		Content:  map[string]*huma.MediaType{contentType: {Schema: schemaWithNullInEnums(schema), Example: example}},
	}
	return err
}

func uploadSchema(in reflect.Type) *huma.Schema {
	schema := &huma.Schema{Type: "object", Properties: map[string]*huma.Schema{}, Required: []string{"file"}}
	for i := range in.NumField() {
		f := in.Field(i)
		if name := f.Tag.Get("form"); name == "file" {
			schema.Properties[name] = &huma.Schema{Type: "string", Format: "binary"}
		} else if name != "" {
			schema.Properties[name] = &huma.Schema{Type: "string", Description: f.Tag.Get("doc")}
		}
	}
	return schema
}

// describeResponses adds the successful and the error responses to the description of an operation.
func describeResponses(o *huma.Operation, op *api.Operation, schemas huma.Registry) error {
	ok := &huma.Response{Description: successDescription(op), Headers: responseHeaders(op, op.Status)}
	switch {
	case op.Form == api.Markup:
		ok.Content = map[string]*huma.MediaType{"text/html": {
			Schema:  &huma.Schema{Type: huma.TypeString},
			Example: "<!doctype html>\n<html lang=\"en\"><title>Executive summary</title>…</html>",
		}}
	case op.Form == api.Events:
		ok.Content = map[string]*huma.MediaType{eventStream: {
			Schema:  &huma.Schema{Type: huma.TypeString},
			Example: "event: progress\nid: 7\ndata: {\"status\":\"running\",\"progress\":35}\n\n",
		}}
	case op.Form == api.Download:
		ok.Content = map[string]*huma.MediaType{"*/*": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}
	case returnsJSON(op):
		example, err := exampleResponse(op)
		if err != nil {
			return err
		}
		schema := schemas.Schema(op.Out, true, op.Out.Name())
		ok.Content = map[string]*huma.MediaType{"application/json": {Schema: schemaWithNullInEnums(schema), Example: example}}
	}
	o.Responses = map[string]*huma.Response{strconv.Itoa(op.Status): ok}
	if op.Form == api.Download || op.Form == api.Markup {
		part := &huma.Response{
			Description: "The part requested by the Range header",
			Headers:     responseHeaders(op, op.Status),
			Content:     ok.Content,
		}
		o.Responses["206"] = part
		o.Responses["304"] = &huma.Response{
			Description: "The file matches the If-None-Match header",
			Headers:     responseHeaders(op, http.StatusNotModified),
		}
		o.Responses["416"] = &huma.Response{
			Description: "The range is outside the file", Headers: responseHeaders(op, http.StatusRequestedRangeNotSatisfiable),
			Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}},
		}
	}
	if _, may := reflect.New(op.Out).Interface().(interface{ Existed() bool }); may && op.Status == http.StatusCreated {
		o.Responses["200"] = &huma.Response{
			Description: "The record already existed and is returned",
			Headers:     responseHeaders(op, http.StatusOK),
			Content:     ok.Content,
		}
	}
	for status, codes := range errorCodesByStatus(op) {
		o.Responses[strconv.Itoa(status)] = &huma.Response{Ref: "#/components/responses/" + errorResponseName(codes)}
	}
	return nil
}

// responseHeaders returns descriptions of the headers of a successful response.
func responseHeaders(op *api.Operation, status int) map[string]*huma.Header {
	names := []string{api.TraceHeader, api.RateLimitHeader, api.RateRemainingHeader, api.RateResetHeader}
	if status == http.StatusCreated && api.CollectionPath(reflect.New(op.Out).Interface()) != "" {
		names = append(names, "Location")
	}
	if slices.Contains(sharedParameterNames(op), "IdempotencyKey") {
		names = append(names, api.IdempotencyReplayed)
	}
	if hasEntityTag(op) {
		names = append(names, "ETag")
	}
	if op.Form == api.Download || op.Form == api.Markup {
		names = append(names, "ETag")
		if status == http.StatusOK {
			names = append(names, "Content-Disposition", "Accept-Ranges")
		}
	}
	return headerRefs(names)
}

func headerRefs(names []string) map[string]*huma.Header {
	out := map[string]*huma.Header{}
	for _, n := range names {
		out[n] = &huma.Header{Ref: "#/components/headers/" + n}
	}
	return out
}

// possibleErrorCodes returns the possible error codes of an operation, in the order of the checks.
func possibleErrorCodes(op *api.Operation) []api.ErrorCode {
	var out []api.ErrorCode
	// A public operation with input receives a password or a single-use link.
	if op.Access != api.Public || op.In != reflect.TypeFor[api.None]() {
		out = append(out, api.CodeUnauthorized)
	}
	if op.Access == api.Tenant {
		out = append(out, api.CodeTenantRequired)
	}
	writes := op.Method != http.MethodGet
	if op.Access != api.Public || writes {
		out = append(out, api.CodeForbidden)
	}
	out = append(out, api.CodeRateLimit, api.CodeValidation)
	if op.Access != api.Public {
		out = append(out, api.CodeNotFound)
	}
	if op.Access != api.Public && writes {
		out = append(out, api.CodeInvalidState)
	}
	if slices.Contains(gatedOperations, op.ID) {
		out = append(out, api.CodeApproval)
	}
	return append(out, api.CodeInternal)
}

// gatedOperations are the operations that may fail because an approval is missing.
var gatedOperations = []string{api.Transition.ID, api.StartLifecycle.ID, api.StartWorkflow.ID, api.ResumeWorkflow.ID, api.SignalWorkflow.ID}

// errorCodesByStatus returns the possible error codes of an operation by status.
func errorCodesByStatus(op *api.Operation) map[int][]api.ErrorCode {
	out := map[int][]api.ErrorCode{}
	if !slices.Contains(anyHostPaths, op.Path) {
		out[http.StatusMisdirectedRequest] = []api.ErrorCode{api.CodeForbidden}
	}
	if op.Method != http.MethodGet {
		out[http.StatusUnsupportedMediaType] = []api.ErrorCode{api.CodeValidation}
	}
	for _, c := range possibleErrorCodes(op) {
		out[c.HTTPStatus()] = append(out[c.HTTPStatus()], c)
	}
	for _, codes := range out {
		slices.Sort(codes)
	}
	return out
}

// errorResponseName returns the name of the shared response for a set of codes, such as
// "ValidationErrorOrTenantContextRequired".
func errorResponseName(codes []api.ErrorCode) string {
	var names []string
	for _, c := range codes {
		var b strings.Builder
		for _, word := range strings.Split(strings.ToLower(string(c)), "_") {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
		names = append(names, b.String())
	}
	return strings.Join(names, "Or")
}

// errorResponseComponents returns the shared error responses: one for each combination of codes that an operation
// can return with the same status.
func errorResponseComponents() map[string]*huma.Response {
	out := map[string]*huma.Response{}
	for _, op := range api.Operations() {
		for status, codes := range errorCodesByStatus(op) {
			name := errorResponseName(codes)
			if out[name] != nil {
				continue
			}
			var words []string
			examples := map[string]*huma.Example{}
			for _, c := range codes {
				words = append(words, "`"+string(c)+"`: "+errorCodeDescriptions[c])
				examples[string(c)] = &huma.Example{Summary: errorCodeDescriptions[c], Value: exampleError(c)}
			}
			headers := []string{api.TraceHeader}
			if status == http.StatusTooManyRequests {
				headers = append(headers, "Retry-After", api.RateLimitHeader, api.RateRemainingHeader, api.RateResetHeader)
			}
			out[name] = &huma.Response{
				Description: strings.Join(words, ". ") + ".", Headers: headerRefs(headers),
				Content: map[string]*huma.MediaType{"application/json": {Schema: errorSchema(codes), Examples: examples}},
			}
		}
	}
	return out
}

// errorSchema returns the error envelope limited to the given codes.
func errorSchema(codes []api.ErrorCode) *huma.Schema {
	code := &huma.Schema{}
	for _, c := range codes {
		code.Enum = append(code.Enum, string(c))
	}
	inner := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{"code": code}}
	return &huma.Schema{AllOf: []*huma.Schema{
		{Ref: schemaRef("ErrorEnvelope")},
		{Type: huma.TypeObject, Properties: map[string]*huma.Schema{"error": inner}},
	}}
}

// publishedRegistry wraps huma's registry and returns the schemas in their published form.
type publishedRegistry struct {
	huma.Registry
	schemas map[string]*huma.Schema
}

func (r publishedRegistry) Map() map[string]*huma.Schema { return r.schemas }

// MarshalJSON returns the published schemas as JSON, sorted by name.
func (r publishedRegistry) MarshalJSON() ([]byte, error) { return json.Marshal(r.schemas) }

// registryWithNullInEnums returns a registry whose schemas are strict JSON Schema.
func registryWithNullInEnums(from huma.Registry) huma.Registry {
	out := map[string]*huma.Schema{}
	for name, s := range from.Map() {
		out[name] = schemaWithNullInEnums(s)
	}
	return publishedRegistry{from, out}
}

// schemaWithNullInEnums returns a copy of a schema that is strict JSON Schema. Unlike huma, the standard allows
// null in a nullable enumeration only if null is one of its values.
func schemaWithNullInEnums(s *huma.Schema) *huma.Schema {
	if s == nil {
		return nil
	}
	c := *s
	if c.Nullable && len(c.Enum) > 0 {
		c.Enum = append(slices.Clone(c.Enum), nil)
	}
	c.Items = schemaWithNullInEnums(s.Items)
	if more, ok := s.AdditionalProperties.(*huma.Schema); ok {
		c.AdditionalProperties = schemaWithNullInEnums(more)
	}
	if s.Properties != nil {
		c.Properties = maps.Clone(s.Properties)
		for name, p := range c.Properties {
			c.Properties[name] = schemaWithNullInEnums(p)
		}
	}
	for _, list := range []*[]*huma.Schema{&c.AnyOf, &c.AllOf, &c.OneOf} {
		*list = slices.Clone(*list)
		for i, sub := range *list {
			(*list)[i] = schemaWithNullInEnums(sub)
		}
	}
	return &c
}
