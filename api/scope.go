package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Trait is a property of an organization that is true, false or unknown, with the reason.
type Trait struct {
	Value    string     `json:"value" enum:"true,false,unknown"`
	Source   string     `json:"source" enum:"evidence,user,default"`
	Reason   string     `json:"reason"`
	Evidence []Evidence `json:"evidence"`
}

// Scope describes which part of an organization is assessed.
type Scope struct {
	TenantRecord
	AssessmentID  string           `json:"assessment_id"`
	Title         string           `json:"title"`
	Description   string           `json:"description"`
	BusinessUnits []string         `json:"business_units"`
	Processes     []string         `json:"processes"`
	Systems       []string         `json:"systems"`
	Locations     []string         `json:"locations"`
	LegalEntities []string         `json:"legal_entities"`
	DataTypes     []string         `json:"data_types"`
	ThirdParties  []string         `json:"third_parties"`
	Exclusions    []string         `json:"exclusions"`
	Assumptions   []string         `json:"assumptions"`
	Constraints   []string         `json:"constraints"`
	Traits        map[string]Trait `json:"traits"`
	Status        VersionStatus    `json:"status"`
	VersionNumber int              `json:"version_number"`
	Revision      int              `json:"revision"`
	EditedFields  []string         `json:"edited_fields"`
	CreatedBy     string           `json:"created_by"`
	ApprovedBy    *string          `json:"approved_by"`
	ApprovedAt    *time.Time       `json:"approved_at"`

	existed bool
}

// MarkExisted records that the scope existed before it was set, so that the response has status 200
// instead of 201.
func (s *Scope) MarkExisted() { s.existed = true }

// Existed reports whether MarkExisted was called: the scope existed before it was set.
func (s *Scope) Existed() bool { return s.existed }

// TraitNames lists the traits of a scope in display order.
var TraitNames = []string{
	"develops_software", "uses_cloud", "processes_personal_data", "handles_cards", "has_ot", "has_facilities",
	"uses_ai", "outsources_it", "has_mobile_devices", "has_remote_workers",
}

// ScopeBody holds the user-settable fields of a scope. Absent fields are left unchanged.
type ScopeBody struct {
	Title         *string       `json:"title,omitempty" maxLength:"300"`
	Description   *string       `json:"description,omitempty" maxLength:"20000"`
	BusinessUnits *[]string     `json:"business_units,omitempty"`
	Processes     *[]string     `json:"processes,omitempty"`
	Systems       *[]string     `json:"systems,omitempty"`
	Locations     *[]string     `json:"locations,omitempty"`
	LegalEntities *[]string     `json:"legal_entities,omitempty"`
	DataTypes     *[]string     `json:"data_types,omitempty"`
	ThirdParties  *[]string     `json:"third_parties,omitempty"`
	Exclusions    *[]string     `json:"exclusions,omitempty"`
	Assumptions   *[]string     `json:"assumptions,omitempty"`
	Constraints   *[]string     `json:"constraints,omitempty"`
	Traits        TraitSettings `json:"traits,omitempty" doc:"Traits by name: true, false, null (unknown), or a trait object as returned."`
	// Reset returns traits to the values derived from the documents.
	Reset []string `json:"reset,omitempty" maxItems:"50" doc:"Manually set traits to derive from the documents again; all resets every one."`
}

// TraitSettings maps the names of traits to a user's settings.
type TraitSettings map[string]TraitSetting

// UnmarshalJSON reads each trait; an error names the trait that is invalid.
func (s *TraitSettings) UnmarshalJSON(b []byte) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(b, &given); err != nil {
		return Invalid("traits", "traits must be an object that maps the name of each trait to true, false or unknown")
	}
	*s = TraitSettings{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		var one TraitSetting
		if err := json.Unmarshal(given[name], &one); err != nil {
			return Invalid("traits."+name, "%v", err)
		}
		(*s)[name] = one
	}
	return nil
}

// TraitSetting is a user's setting of a trait, where nil means unknown. In JSON, it is written as true, false or
// null. Words for these values and a trait object as returned in a scope are accepted, too.
type TraitSetting struct {
	Value *bool
	// Source is the source of a trait that is sent back as it was read; empty for a plain value.
	Source string
}

// MarshalJSON writes true, false or null.
func (s TraitSetting) MarshalJSON() ([]byte, error) { return json.Marshal(s.Value) }

// UnmarshalJSON reads true, false or null, the words for them, or a trait object as returned in a scope.
func (s *TraitSetting) UnmarshalJSON(b []byte) error {
	var given any
	if err := json.Unmarshal(b, &given); err != nil {
		return err
	}
	*s = TraitSetting{}
	if fields, is := given.(map[string]any); is {
		var whole struct {
			Trait
			Value any `json:"value"`
		}
		strict := json.NewDecoder(bytes.NewReader(b))
		strict.DisallowUnknownFields()
		if err := strict.Decode(&whole); err != nil {
			return fmt.Errorf(
				"a trait must be true, false, unknown, or a trait object as returned by this API: %s",
				strings.TrimPrefix(err.Error(), "json: "),
			)
		}
		if _, has := fields["value"]; !has {
			return errors.New("a trait needs a value: true, false or unknown")
		}
		given, s.Source = whole.Value, whole.Source
	}
	switch v := given.(type) {
	case nil:
		return nil
	case bool:
		s.Value = &v
		return nil
	case string:
		switch v {
		case "unknown":
			return nil
		case "true", "false":
			is := v == "true"
			s.Value = &is
			return nil
		}
	}
	return fmt.Errorf("a trait must be true, false or unknown, not %.40s", b)
}

// Display returns the setting as text for users.
func (s TraitSetting) Display() string {
	if s.Value == nil {
		return "unknown"
	}
	return strconv.FormatBool(*s.Value)
}

// PutScopeInput is the input for creating or updating the scope of an assessment.
type PutScopeInput struct {
	AssessmentInput
	Body ScopeBody
}

// ScopeInput identifies a scope.
type ScopeInput struct {
	ScopeID string `path:"scopeId"`
}

// UpdateScopeInput is the input for changing a scope.
type UpdateScopeInput struct {
	ScopeInput
	Match
	Body ScopeBody
}

// ApproveScopeInput is the input for approving a scope.
type ApproveScopeInput struct {
	ScopeInput
	Body *VersionDecision
}

const tagScope = "Scope and SoA"

// Operations on the scope, defined in section 4.9 of the API specification.
var (
	GetAssessmentScope = Get[AssessmentInput, Scope](
		"get-assessment-scope", "/assessments/{assessmentId}/scope", "scope:read", tagScope,
		"Get the scope of an assessment",
	)
	PutScope = Create[PutScopeInput, Scope](
		"put-assessment-scope", "/assessments/{assessmentId}/scope", "scope:write", tagScope,
		"Create or update the scope of an assessment",
	)
	GetScope = Get[ScopeInput, Scope](
		"get-scope", "/scopes/{scopeId}", "scope:read", tagScope,
		"Get a scope",
	)
	UpdateScope = Patch[UpdateScopeInput, Scope](
		"update-scope", "/scopes/{scopeId}", "scope:write", tagScope,
		"Update a scope",
	)
	SubmitScope = Post[ScopeInput, Scope](
		"submit-scope", "/scopes/{scopeId}/submit-review", "scope:write", tagScope,
		"Submit a scope for review",
	)
	ApproveScope = Post[ApproveScopeInput, Scope](
		"approve-scope", "/scopes/{scopeId}/approve", ApprovalDecide, tagScope,
		"Approve a scope",
	)
)
