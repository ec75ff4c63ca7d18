package api

import "time"

// MaxLogoBytes bounds the file of a logo.
const MaxLogoBytes = 2 << 20

// Branding is how an organization's reports look. What is empty is as the program has it.
type Branding struct {
	OrganizationID string `json:"organization_id"`
	Accent         string `json:"accent" doc:"Colour of title pages and headings, as #RRGGBB; dark enough to be read on white."`
	Band           string `json:"band" doc:"Colour of the strip below a title page's head, as #RRGGBB."`
	Line           string `json:"line" doc:"A line on the title page, such as who prepared the report."`
	Footer         string `json:"footer" doc:"A line at the foot of each page."`
	// Logo is a PNG in base64.
	Logo      string     `json:"logo" doc:"PNG in base64; empty for none."`
	UpdatedAt *time.Time `json:"updated_at"`
	UpdatedBy string     `json:"updated_by"`
}

// PutBrandingInput replaces the branding.
type PutBrandingInput struct {
	OrgInput
	Body struct {
		Accent string `json:"accent,omitempty" maxLength:"7"`
		Band   string `json:"band,omitempty" maxLength:"7"`
		Line   string `json:"line,omitempty" maxLength:"200"`
		Footer string `json:"footer,omitempty" maxLength:"200"`
		Logo   string `json:"logo,omitempty" maxLength:"2800000" doc:"PNG or JPEG in base64, up to 2 MiB and 4000 pixels a side; it is kept smaller."`
	}
}

// Operations on how reports look.
var (
	GetBranding = Get[OrgInput, Branding](
		"get-branding",
		"/organizations/{orgId}/report-branding",
		WithPermission("report:read"),
		WithTag(tagReport),
		WithSummary("Read how the organization's reports look"),
	)
	PutBranding = Put[PutBrandingInput, Branding](
		"put-branding",
		"/organizations/{orgId}/report-branding",
		WithPermission(memberWrite),
		WithMaxBody(4<<20),
		WithTag(tagReport),
		WithSummary("Set how the organization's reports look"),
	)
	DeleteBranding = Delete[OrgInput](
		"delete-branding",
		"/organizations/{orgId}/report-branding",
		WithPermission(memberWrite),
		WithTag(tagReport),
		WithSummary("Go back to the program's own look"),
	)
)
