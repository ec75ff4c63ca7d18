package content

import (
	"strings"
	"time"

	"github.com/scf-service/service/api"
)

// Source is the data for a report, all collected at the same moment. It is never modified. A deliverable that does
// not exist yet is nil, and the report says so.
type Source struct {
	Organization api.Organization
	Assessment   api.Assessment
	Catalog      api.CatalogVersion
	Frameworks   []api.Framework
	// Domains maps domain codes to names.
	Domains   map[string]string
	Documents []api.Document
	Scope     *api.Scope

	SoA             *api.SoAVersion
	SoAItems        []api.SoAItem
	Gap             *api.GapVersion
	Findings        []api.Finding
	Maturity        *api.MaturityVersion
	Scores          []api.MaturityScore
	MaturitySummary *api.MaturitySummary
	POAM            *api.POAMVersion
	POAMItems       []api.POAMItem

	Approvals []api.Approval
	// Outdated lists the deliverables whose inputs have changed since they were made.
	Outdated []api.Outdated
	Summary  api.AssessmentSummary
	// Requirements holds all requirements of each framework by its code, including those to which
	// no control is mapped.
	Requirements map[string][]api.Requirement

	// Earlier is the assessment to compare with; nil if there is none. Its own Earlier is nil.
	Earlier *Source

	// AuditHead is the organization's last audit record that is not about a report or an export when
	// the data was read, or nil if it is not shown.
	AuditHead *api.AuditHead

	// Brand is the look of the organization's reports.
	Brand Brand

	// Tool is the program and its version, such as "service 0.1.0".
	Tool string
	// AsOf is the date of the report's data: the time of the assessment's last activity, not counting
	// reports. It determines whether items are overdue.
	AsOf time.Time
}

// Client returns the name of the organization that the report is about: the client's name or, if none was given, the
// name of the organization in the store. It returns "" for the organization of a single user, because its name means
// nothing to readers.
func (s *Source) Client() string {
	if name := strings.TrimSpace(s.Assessment.ClientName); name != "" {
		return name
	}
	if s.Organization.Slug == api.LocalOrganizationSlug {
		return ""
	}
	return s.Organization.Name
}
