package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	models "github.com/defenseunicorns/go-oscal/src/types/oscal-1-2-2"
	"github.com/google/uuid"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/oscal"
	"github.com/scf-service/service/engine/catalog/structured"
	"github.com/scf-service/service/internal/lazyregexp"
)

// OSCAL has a model for four of the templates; each model is a file of its own.
//
//	full, gap_analysis ──► assessment-results, with the assessment-plan they refer to inside
//	assessment_plan ─────► assessment-plan, by itself
//	poam ────────────────► plan-of-action-and-milestones
//	soa ─────────────────► component-definition
//
// A UUID is made from the id of what it names, so that the same thing has the same one in
// every document. Nothing is written that doesn't hold against the official schema.
type oscalWriter struct {
	*reportData
	// rowNames are what the entries of a list tell of, by the list's name, for errors.
	rowNames map[string][]string
	// people and tools have been named as actors.
	parties []models.Party
	emitted map[string]bool
}

// oscalTemplates are those that OSCAL has a model for.
var oscalTemplates = []string{TemplateFull, TemplateSoA, TemplateGapAnalysis, TemplatePOAM, TemplateAssessmentPlan}

// writeOSCAL writes the template as OSCAL.
func writeOSCAL(out io.Writer, v *reportData) error {
	w := &oscalWriter{reportData: v, rowNames: map[string][]string{}, emitted: map[string]bool{}}
	var doc models.OscalModels
	var model string
	var err error
	switch v.template.name {
	case TemplatePOAM:
		model = "plan-of-action-and-milestones"
		doc.PlanOfActionAndMilestones, err = w.buildPOAM()
	case TemplateSoA:
		model = "component-definition"
		doc.ComponentDefinition, err = w.buildComponentDefinition()
	case TemplateAssessmentPlan:
		model = "assessment-plan"
		doc.AssessmentPlan, err = w.buildAssessmentPlan()
	default:
		model = "assessment-results"
		doc.AssessmentResults, err = w.buildResults()
	}
	if err != nil {
		return err
	}
	text, err := w.encodeValid(model, &doc)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}

// emptyDocumentError refuses a document whose model asks for at least one entry.
func emptyDocumentError(format string, args ...any) error {
	return api.Invalid("format", "there is nothing to write as OSCAL yet: "+format, args...)
}

// encodeValid is a document as JSON that holds against the schema.
func (w *oscalWriter) encodeValid(model string, doc *models.OscalModels) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(doc); err != nil {
		return nil, err
	}
	err := oscal.Validate(b.Bytes(), model)
	var at *structured.PathError
	if errors.As(err, &at) {
		return nil, api.Invalid(
			"format",
			"%s can't be told in OSCAL: %s; mend it, or choose another format",
			w.rowNameAt(at.Path),
			at.Error(),
		).WithCause(
			err,
		)
	}
	return b.Bytes(), err
}

var listIndexPattern = lazyregexp.New(`([a-z-]+)\[(\d+)\]`)

// rowNameAt is the row of the report that a place in the document tells of.
func (w *oscalWriter) rowNameAt(place string) string {
	for _, m := range listIndexPattern.FindAllStringSubmatch(place, -1) {
		if n, err := strconv.Atoi(m[2]); err == nil && n < len(w.rowNames[m[1]]) {
			return w.rowNames[m[1]][n]
		}
	}
	return "the report"
}

// noteRow notes what the next entry of a list tells of.
func (w *oscalWriter) noteRow(list, what string) { w.rowNames[list] = append(w.rowNames[list], what) }

// uuidFor is the UUID of a thing of a kind in this assessment.
func (w *oscalWriter) uuidFor(kind string, parts ...string) string {
	key := kind + "\x00" + w.Assessment.ID + "\x00" + strings.Join(parts, "\x00")
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(oscal.Namespace+"\x00"+key)).String()
}

// optionalList is a list where there is anything in it: OSCAL has no empty ones.
func optionalList[T any](all []T) *[]T {
	if len(all) == 0 {
		return nil
	}
	return &all
}

// oneLine is text as a title may be: one line without blanks around it.
func oneLine(s, otherwise string) string {
	return orDefault(strings.Join(strings.Fields(s), " "), otherwise)
}

type properties []models.Property

var singleLineValue = lazyregexp.New(`^\S(.*\S)?$`)

// add adds a property where there is a value; what is no single line stands in its remarks.
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

// addStandard adds a property that OSCAL itself names.
func (p *properties) addStandard(name, value string) {
	*p = append(*p, models.Property{Name: name, Value: value})
}

// addItem adds what all items share.
func (p *properties) addItem(it *api.Item) {
	p.add("control-code", it.ControlCode)
	p.add("domain", it.DomainCode)
	for _, f := range sortedKeys(it.RequirementCodes) {
		for _, code := range it.RequirementCodes[f] {
			p.add("requirement", f+":"+code)
		}
	}
	if len(it.EditedFields) > 0 {
		p.add("edited-by-people", strings.Join(it.EditedFields, ", "))
	}
}

// clampTime is a moment that OSCAL can tell; what it can't is the report's own.
func (w *oscalWriter) clampTime(t time.Time) time.Time {
	if y := t.UTC().Year(); y < 1900 || y > 2999 {
		t = w.AsOf
	}
	return t.UTC()
}

// parseOptionalDate is a day's moment, nil for what is no day.
func parseOptionalDate(d api.Date) *time.Time {
	t, err := time.Parse(time.DateOnly, string(d))
	if err != nil || t.Year() < 1900 || t.Year() > 2999 {
		return nil
	}
	return &t
}

// metadata is a document's head. The parties are all that were named while it was made.
func (w *oscalWriter) metadata(title string) models.Metadata {
	version := strconv.Itoa(w.Assessment.Revision)
	if len(w.template.gates) == 1 {
		if v := w.deliverable(w.template.gates[0]); v != nil {
			version = strconv.Itoa(v.VersionNumber)
		}
	}
	var p properties
	for _, k := range sortedKeys(Provenance(w.Source, w.template.name)) {
		p.add(strings.ReplaceAll(k, "_", "-"), Provenance(w.Source, w.template.name)[k])
	}
	p.add("catalog", w.catalogName())
	p.add("written-by", w.Tool)
	m := models.Metadata{LastModified: w.clampTime(w.AsOf), OscalVersion: oscal.Version, Version: version, Title: oneLine(title, "Report")}
	if len(w.draftNotices) > 0 {
		p.add("draft", "true")
		m.Title = "DRAFT: " + m.Title
		m.Remarks = "DRAFT. " + strings.Join(w.draftNotices, " ")
	}
	if w.Catalog.IsStarter {
		m.Remarks = strings.TrimSpace(m.Remarks + "\n\nSTARTER CATALOG. " + starterNotice)
	}
	m.Props = optionalList(p)
	m.Roles = &[]models.Role{
		{ID: "prepared-by", Title: "Organization that was assessed"},
		{ID: "approved-by", Title: "Person who approved"},
	}
	org := w.addParty(w.Organization.ID, w.Organization.Name, "organization")
	m.Parties = optionalList(w.parties)
	m.ResponsibleParties = &[]models.ResponsibleParty{{RoleId: "prepared-by", PartyUuids: []string{org}}}
	return m
}

// addParty is the UUID of a person or organization, who is named in the metadata.
func (w *oscalWriter) addParty(id, name, kind string) string {
	key := w.uuidFor("party", kind, id, name)
	if !w.emitted[key] {
		w.emitted[key] = true
		w.parties = append(w.parties, models.Party{UUID: key, Type: kind, Name: oneLine(name, orDefault(oneLine(id, ""), "not stated"))})
	}
	return key
}

// toolComponent is the program as the component that found things out.
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

// backMatter are the documents that were read, with their hashes, and the catalog.
func (w *oscalWriter) backMatter(more ...models.Resource) *models.BackMatter {
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
		p.add("effective-date", dateOrEmpty(d.EffectiveDate))
		p.add("owner", d.Owner)
		p.add("approved-by", d.ApprovedBy)
		p.addAll("warning", d.Warnings)
		r := models.Resource{
			UUID:        key,
			Title:       oneLine(orDefault(d.Title, d.Filename), "Document"),
			Description: stringOrEmpty(d.Error),
			Props:       optionalList(p),
		}
		link := models.ResourceLink{Href: "documents/" + url.PathEscape(d.Filename)}
		if d.SHA256 != "" {
			link.Hashes = &[]models.Hash{{Algorithm: "SHA-256", Value: oneLine(d.SHA256, "none")}}
		}
		r.Rlinks = &[]models.ResourceLink{link}
		out = append(out, r)
	}
	return &models.BackMatter{Resources: optionalList(out)}
}

func (w *oscalWriter) documentUUID(id string) string { return w.uuidFor("document", id) }

func (w *oscalWriter) catalogResource() models.Resource {
	var p properties
	p.add("version", w.Catalog.Label)
	p.add("source-sha256", stringOrEmpty(w.Catalog.SourceSHA256))
	return models.Resource{
		UUID: w.uuidFor("catalog", w.Catalog.ID), Title: oneLine(w.catalogName(), "Catalog"), Props: optionalList(p),
		Description: "The catalog of controls; `service catalog export --format oscal` writes it as OSCAL, with the control ids that stand here.",
	}
}

func (w *oscalWriter) catalogRef() string { return "#" + w.uuidFor("catalog", w.Catalog.ID) }
