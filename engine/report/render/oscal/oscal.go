// Package oscal writes a report as OSCAL JSON.
package oscal

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	models "github.com/defenseunicorns/go-oscal/src/types/oscal-1-2-2"
	"github.com/google/uuid"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/custom"
	"github.com/scf-service/service/engine/catalog/oscal"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/lazyregexp"
)

// oscalWriter writes a report as OSCAL. The templates correspond to these OSCAL models:
//
//	full, gap_analysis ──► assessment-results, with the assessment-plan they refer to embedded
//	assessment_plan ─────► assessment-plan
//	poam ────────────────► plan-of-action-and-milestones
//	soa ─────────────────► component-definition
//
// UUIDs are derived from the IDs of what they identify, so that they are the same in every document.
// Only output that validates against the official schema is written.
type oscalWriter struct {
	*content.Report
	// rowNames describes, by list name, what each entry of a list refers to, for error messages.
	rowNames map[string][]string
	// parties lists the people and tools named as actors.
	parties []models.Party
	emitted map[string]bool
}

// Templates lists the report templates for which OSCAL has a model.
var Templates = []string{
	content.TemplateFull,
	content.TemplateSoA,
	content.TemplateGapAnalysis,
	content.TemplatePOAM,
	content.TemplateAssessmentPlan,
}

// Write writes a report as OSCAL JSON. The template determines which OSCAL model is used.
func Write(out io.Writer, v *content.Report) error {
	w := &oscalWriter{Report: v, rowNames: map[string][]string{}, emitted: map[string]bool{}}
	var doc models.OscalModels
	var model string
	var err error
	switch v.Template.Name {
	case content.TemplatePOAM:
		model = "plan-of-action-and-milestones"
		doc.PlanOfActionAndMilestones, err = w.buildPOAM()
	case content.TemplateSoA:
		model = "component-definition"
		doc.ComponentDefinition, err = w.buildComponentDefinition()
	case content.TemplateAssessmentPlan:
		model = "assessment-plan"
		doc.AssessmentPlan, err = w.buildAssessmentPlan()
	default:
		model = "assessment-results"
		doc.AssessmentResults, err = w.buildAssessmentResults()
	}
	if err != nil {
		return err
	}
	text, err := w.encodeAndValidate(model, &doc)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}

// emptyDocumentError returns the error for a document that would be empty although its model requires at
// least one entry.
func emptyDocumentError(format string, args ...any) error {
	return api.Invalid("format", "the report can't be written as OSCAL yet: "+format, args...)
}

// encodeAndValidate encodes a document as JSON and validates the result against the OSCAL schema.
func (w *oscalWriter) encodeAndValidate(model string, doc *models.OscalModels) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(doc); err != nil {
		return nil, err
	}
	err := oscal.Validate(b.Bytes(), model)
	var at *custom.PathError
	if errors.As(err, &at) {
		return nil, api.Invalid(
			"format",
			"%s can't be represented in OSCAL: %s; correct the value, or choose another format",
			w.rowNameAt(at.Path),
			at.Error(),
		).WithCause(
			err,
		)
	}
	return b.Bytes(), err
}

var listIndexPattern = lazyregexp.New(`([a-z-]+)\[(\d+)\]`)

// rowNameAt returns the name of the report item that is at a given location in the OSCAL document, for use in error
// messages.
func (w *oscalWriter) rowNameAt(jsonPath string) string {
	for _, m := range listIndexPattern.FindAllStringSubmatch(jsonPath, -1) {
		if n, err := strconv.Atoi(m[2]); err == nil && n < len(w.rowNames[m[1]]) {
			return w.rowNames[m[1]][n]
		}
	}
	return "the report"
}

// recordRowName records the name of the report item that the next entry of a list represents, for use in
// error messages.
func (w *oscalWriter) recordRowName(list, rowName string) {
	w.rowNames[list] = append(w.rowNames[list], rowName)
}

// uuidFor returns the UUID of an object in this assessment, identified by its kind and parts. The
// same arguments always give the same UUID.
func (w *oscalWriter) uuidFor(kind string, parts ...string) string {
	key := kind + "\x00" + w.Assessment.ID + "\x00" + strings.Join(parts, "\x00")
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(oscal.Namespace+"\x00"+key)).String()
}

// nilIfEmptyList returns a pointer to the list, or nil if the list is empty, because OSCAL does not allow
// empty lists.
func nilIfEmptyList[T any](all []T) *[]T {
	if len(all) == 0 {
		return nil
	}
	return &all
}

// oneLine returns text as a single line without surrounding spaces. If nothing remains, it returns fallback.
func oneLine(s, fallback string) string {
	return wording.OrDefault(strings.Join(strings.Fields(s), " "), fallback)
}

type properties []models.Property

var singleLineValue = lazyregexp.New(`^\S(.*\S)?$`)

// add adds a property unless its value is empty. If the value has several lines, it goes into the remarks of
// the property.
func (p *properties) add(name, value string) {
	if strings.TrimSpace(value) == "" {
		return
	}
	one := models.Property{Name: name, Ns: oscal.Namespace, Value: value}
	if !singleLineValue.MatchString(value) {
		one.Value, one.Remarks = "see-remarks", value
	}
	*p = append(*p, one)
}

func (p *properties) addAll(name string, values []string) {
	for _, v := range values {
		p.add(name, v)
	}
}

// addStandard adds a property that OSCAL itself defines.
func (p *properties) addStandard(name, value string) {
	*p = append(*p, models.Property{Name: name, Value: value})
}

// addItemProperties adds the properties that the items of all deliverables have.
func (p *properties) addItemProperties(it *api.Item) {
	p.add("control-code", it.ControlCode)
	p.add("domain", it.DomainCode)
	for _, f := range slices.Sorted(maps.Keys(it.RequirementCodes)) {
		for _, code := range it.RequirementCodes[f] {
			p.add("requirement", f+":"+code)
		}
	}
	if len(it.EditedFields) > 0 {
		p.add("edited-by-people", strings.Join(it.EditedFields, ", "))
	}
}

// timeOrReportDate returns t in UTC. If OSCAL can't represent t, it returns the time of the report's data.
func (w *oscalWriter) timeOrReportDate(t time.Time) time.Time {
	if y := t.UTC().Year(); y < 1900 || y > 2999 {
		t = w.AsOf
	}
	return t.UTC()
}

// parseOptionalDate parses a date, or returns nil if it is not a date.
func parseOptionalDate(d api.Date) *time.Time {
	t, err := time.Parse(time.DateOnly, string(d))
	if err != nil || t.Year() < 1900 || t.Year() > 2999 {
		return nil
	}
	return &t
}

// metadataWithParties returns the metadata of a document, including all parties (people and
// organizations) added so far. Therefore, it must be called last.
func (w *oscalWriter) metadataWithParties(title string) models.Metadata {
	version := strconv.Itoa(w.Assessment.Revision)
	if len(w.Template.Gates) == 1 {
		if v := w.Deliverable(w.Template.Gates[0]); v != nil {
			version = strconv.Itoa(v.VersionNumber)
		}
	}
	var p properties
	sources := content.Provenance(w.Source, w.Template.Name)
	for _, k := range slices.Sorted(maps.Keys(sources)) {
		p.add(strings.ReplaceAll(k, "_", "-"), sources[k])
	}
	p.add("catalog", w.CatalogName())
	p.add("written-by", w.Tool)
	m := models.Metadata{
		LastModified: w.timeOrReportDate(w.AsOf),
		OscalVersion: oscal.Version,
		Version:      version,
		Title:        oneLine(title, "Report"),
	}
	if len(w.DraftReasons) > 0 {
		p.add("draft", "true")
		m.Title = "DRAFT: " + m.Title
		m.Remarks = "DRAFT. " + strings.Join(w.DraftReasons, " ")
	}
	if w.Catalog.IsStarter {
		m.Remarks = strings.TrimSpace(m.Remarks + "\n\nSTARTER CATALOG. " + content.StarterNotice)
	}
	m.Props = nilIfEmptyList(p)
	m.Roles = &[]models.Role{
		{ID: "prepared-by", Title: "Assessed organization"},
		{ID: "approved-by", Title: "Approver"},
	}
	org := w.addParty(w.Organization.ID, w.Organization.Name, "organization")
	m.Parties = nilIfEmptyList(w.parties)
	m.ResponsibleParties = &[]models.ResponsibleParty{{RoleId: "prepared-by", PartyUuids: []string{org}}}
	return m
}

// addParty adds a person or organization to the parties in the metadata, and returns the UUID of that party.
func (w *oscalWriter) addParty(id, name, kind string) string {
	key := w.uuidFor("party", kind, id, name)
	if !w.emitted[key] {
		w.emitted[key] = true
		w.parties = append(
			w.parties,
			models.Party{UUID: key, Type: kind, Name: oneLine(name, wording.OrDefault(oneLine(id, ""), "not specified"))},
		)
	}
	return key
}

// toolComponent returns the component that represents this program.
func (w *oscalWriter) toolComponent() models.SystemComponent {
	return models.SystemComponent{
		UUID: w.uuidFor(
			"tool",
		), Type: "software", Title: oneLine(w.Tool, "service"), Description: "The program that read the evidence and wrote the drafts.",
		Status: models.SystemComponentStatus{State: "operational"},
	}
}

func (w *oscalWriter) assessmentAssets() *models.AssessmentAssets {
	return &models.AssessmentAssets{
		Components: &[]models.SystemComponent{w.toolComponent()},
		AssessmentPlatforms: []models.AssessmentPlatform{
			{
				UUID:           w.uuidFor("platform"),
				Title:          oneLine(w.Tool, "service"),
				UsesComponents: &[]models.UsesComponent{{ComponentUuid: w.uuidFor("tool")}},
			},
		},
	}
}

func (w *oscalWriter) toolOrigins() *[]models.Origin {
	return &[]models.Origin{{Actors: []models.OriginActor{{Type: "tool", ActorUuid: w.uuidFor("tool")}}}}
}

// backMatterWithEvidence returns the back matter of a document. Its resources are the catalog, the assessment's
// documents with their hashes, and the resources in more.
func (w *oscalWriter) backMatterWithEvidence(more ...models.Resource) *models.BackMatter {
	out := append([]models.Resource{w.catalogResource()}, more...)
	for i := range w.Documents {
		d := &w.Documents[i]
		key := w.documentUUID(d.ID)
		if w.emitted[key] {
			continue
		}
		w.emitted[key] = true
		var p properties
		p.addStandard("type", "evidence")
		p.add("status", string(d.Status))
		p.add("category", d.Category)
		p.add("document-version", d.DocVersion)
		p.add("effective-date", wording.OrEmpty(d.EffectiveDate))
		p.add("owner", d.Owner)
		p.add("approved-by", d.ApprovedBy)
		p.addAll("warning", d.Warnings)
		p.add("not-read", api.DescribeNotRead(d.NotRead))
		r := models.Resource{
			UUID:        key,
			Title:       oneLine(wording.OrDefault(d.Title, d.Filename), "Document"),
			Description: wording.OrEmpty(d.Error),
			Props:       nilIfEmptyList(p),
		}
		link := models.ResourceLink{Href: "documents/" + url.PathEscape(d.Filename)}
		if d.SHA256 != "" {
			link.Hashes = &[]models.Hash{{Algorithm: "SHA-256", Value: oneLine(d.SHA256, "none")}}
		}
		r.Rlinks = &[]models.ResourceLink{link}
		out = append(out, r)
	}
	return &models.BackMatter{Resources: nilIfEmptyList(out)}
}

func (w *oscalWriter) documentUUID(id string) string { return w.uuidFor("document", id) }

func (w *oscalWriter) catalogResource() models.Resource {
	var p properties
	p.add("version", w.Catalog.Label)
	p.add("source-sha256", wording.OrEmpty(w.Catalog.SourceSHA256))
	return models.Resource{
		UUID: w.uuidFor("catalog", w.Catalog.ID), Title: oneLine(w.CatalogName(), "Catalog"), Props: nilIfEmptyList(p),
		Description: "The control catalog. To export it as OSCAL with the same control IDs, run `service catalog export --format oscal`.",
	}
}

func (w *oscalWriter) catalogRef() string { return "#" + w.uuidFor("catalog", w.Catalog.ID) }
