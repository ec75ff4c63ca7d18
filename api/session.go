package api

import "time"

// User is a person who can sign in.
type User struct {
	Record
	Email         string     `json:"email"`
	Name          string     `json:"name"`
	PlatformAdmin bool       `json:"platform_admin"`
	Status        string     `json:"status" enum:"active,banned,invited"`
	BanReason     *string    `json:"ban_reason"`
	LastSignInAt  *time.Time `json:"last_sign_in_at"`
}

// Session is a signed-in browser.
type Session struct {
	ExpiresAt            time.Time `json:"expires_at"`
	ActiveOrganizationID *string   `json:"active_organization_id"`
}

// SignedInUser answers a sign-in and a look at the session.
type SignedInUser struct {
	User    User    `json:"user"`
	Session Session `json:"session"`
	// Token is the session's secret where one was just made; it travels as the cookie alone.
	Token string `json:"-"`
}

// SessionStarted is the cookie's value and end where a session was just made.
func (s *SignedInUser) SessionStarted() (token string, ends time.Time) {
	return s.Token, s.Session.ExpiresAt
}

// SignedOut answers a sign-out; the cookie is taken back.
type SignedOut struct {
	OK bool `json:"ok"`
}

// SessionStarted is an empty cookie.
func (*SignedOut) SessionStarted() (string, time.Time) { return "", time.Unix(0, 0).UTC() }

// AcceptLinkInput uses a one-time link: of an invitation, or to set a new password.
type AcceptLinkInput struct {
	Body struct {
		Token    string `json:"token" minLength:"1" maxLength:"200"`
		Name     string `json:"name,omitempty" maxLength:"200" doc:"How you want to be called, where you are new."`
		Password string `json:"password,omitempty" maxLength:"128" doc:"12 to 128 characters; needed where you have none yet, or set a new one."`
	}
}

// LinkInput looks at a one-time link without using it.
type LinkInput struct {
	Body struct {
		Token string `json:"token" minLength:"1" maxLength:"200"`
	}
}

// Link is what a one-time link is for.
type Link struct {
	Purpose       string    `json:"purpose" enum:"invite,password"`
	Email         string    `json:"email"`
	Organization  *string   `json:"organization" doc:"Name of the organization that invites."`
	Role          *Role     `json:"role"`
	NeedsPassword bool      `json:"needs_password"`
	ExpiresAt     time.Time `json:"expires_at"`
}

// ChangePasswordInput changes one's own password.
type ChangePasswordInput struct {
	Body struct {
		Current string `json:"current_password" maxLength:"128"`
		New     string `json:"new_password" minLength:"12" maxLength:"128"`
	}
}

// Me is who calls, as the service sees it.
type Me struct {
	User           User         `json:"user"`
	Actor          Actor        `json:"actor"`
	OrganizationID *string      `json:"organization_id" doc:"The organization of the request, of the key, or the active one."`
	Organization   *string      `json:"organization"`
	Role           *Role        `json:"role"`
	Permissions    []Permission `json:"permissions"`
	ExpiresAt      *time.Time   `json:"expires_at" doc:"When the session or the key ends."`
}

// SignInInput is an e-mail address and its password.
type SignInInput struct {
	Body struct {
		Email    string `json:"email" format:"email" maxLength:"254"`
		Password string `json:"password" minLength:"1" maxLength:"128"`
	}
}

// MyOrganization is an organization as one of its members sees it.
type MyOrganization struct {
	Organization
	Role   Role `json:"role"`
	Active bool `json:"active"`
}

// OrgInput names an organization in the path.
type OrgInput struct {
	OrgID string `path:"orgId"`
}

const tagSession = "Session and user"

// Operations of the interface's part 4.2, and what makes them whole.
var (
	SignIn = Post[SignInInput, SignedInUser](
		"sign-in",
		"/api/auth/sign-in/email",
		WithAccess(Public),
		WithTag(tagSession),
		WithSummary("Sign in with e-mail and password; starts a cookie session"),
	)
	GetSession = Get[None, SignedInUser](
		"get-session",
		"/api/auth/get-session",
		WithAccess(SignedIn),
		WithTag(tagSession),
		WithSummary("Read the current session"),
	)
	SignOut = Post[None, SignedOut](
		"sign-out",
		"/api/auth/sign-out",
		WithAccess(SignedIn),
		WithTag(tagSession),
		WithSummary("End the session"),
	)
	GetLink = Post[LinkInput, Link](
		"get-link",
		"/api/auth/link",
		WithAccess(Public),
		WithTag(tagSession),
		WithSummary("Tell what a one-time link is for"),
	)
	AcceptLink = Post[AcceptLinkInput, SignedInUser](
		"accept-link",
		"/api/auth/accept-link",
		WithAccess(Public),
		WithTag(tagSession),
		WithSummary("Accept an invitation, or set a new password, by a one-time link; starts a session"),
	)
	ChangePassword = Post[ChangePasswordInput, User](
		"change-password",
		"/api/auth/change-password",
		WithAccess(SignedIn),
		WithTag(tagSession),
		WithSummary("Change one's password; other sessions end"),
	)
	GetMe = Get[None, Me](
		"get-me",
		"/users/me",
		WithAccess(SignedIn),
		WithTag(tagSession),
		WithSummary("Tell who calls, and what they may do"),
	)
	ListMyOrganizations = Get[Paging, List[MyOrganization]](
		"list-my-organizations",
		"/users/me/organizations",
		WithAccess(SignedIn),
		WithTag(tagSession),
		WithSummary("List the organizations the caller belongs to"),
	)
	ActivateOrganization = Post[OrgInput, MyOrganization](
		"activate-organization",
		"/users/me/orgs/{orgId}/activate",
		WithAccess(SignedIn),
		WithTag(tagSession),
		WithSummary("Make an organization the active one"),
	)
)
