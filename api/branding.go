package api

import "time"

// MaxLogoBytes is the maximum size of a logo file.
const MaxLogoBytes = 2 << 20

// Branding is the appearance of an organization's reports. Empty fields use the default.
type Branding struct {
	Revised
	OrganizationID string `json:"organization_id"`
	Accent         string `json:"accent" doc:"Color of title pages and headings, as #RRGGBB; dark enough to be read on white."`
	Band           string `json:"band" doc:"Color of the band below the title page header, as #RRGGBB."`
	Line           string `json:"line" doc:"A line on the title page, such as who prepared the report."`
	Footer         string `json:"footer" doc:"Footer of each page."`
	// Logo is a PNG in base64.
	Logo      string     `json:"logo" doc:"PNG in base64; empty for none."`
	UpdatedAt *time.Time `json:"updated_at"`
	UpdatedBy string     `json:"updated_by"`
}

// PutBrandingInput is the input for replacing an organization's branding.
type PutBrandingInput struct {
	OrgInput
	Match
	Body struct {
		Accent string `json:"accent,omitempty" maxLength:"7"`
		Band   string `json:"band,omitempty" maxLength:"7"`
		Line   string `json:"line,omitempty" maxLength:"200"`
		Footer string `json:"footer,omitempty" maxLength:"200"`
		Logo   string `json:"logo,omitempty" maxLength:"2800000" doc:"PNG or JPEG in base64, up to 2 MiB and 4000 pixels per side; stored at a reduced size."`
	}
}

// DeleteBrandingInput is the input for deleting the report branding.
type DeleteBrandingInput struct {
	OrgInput
	Match
}

// Operations on report branding.
var (
	GetBranding = Get[OrgInput, Branding](
		"get-branding", "/organizations/{orgId}/report-branding", "report:read", tagReport,
		"Get the branding of the organization's reports",
	)
	PutBranding = Put[PutBrandingInput, Branding](
		"put-branding", "/organizations/{orgId}/report-branding", memberWrite, tagReport,
		"Set the branding of the organization's reports", WithMaxBody(MaxValidatedBody),
	)
	DeleteBranding = Delete[DeleteBrandingInput](
		"delete-branding", "/organizations/{orgId}/report-branding", memberWrite, tagReport,
		"Reset the branding to the default",
	)
)
