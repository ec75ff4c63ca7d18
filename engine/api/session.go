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
}

// SignInInput is an e-mail address and its password.
type SignInInput struct {
	Body struct {
		Email    string `json:"email" format:"email" maxLength:"254"`
		Password string `json:"password" minLength:"1" maxLength:"128"`
	}
}

// SessionInput carries the session cookie.
type SessionInput struct {
	Session string `cookie:"service-native-auth.session_token"`
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

// Operations of the interface's part 4.2.
var (
	SignIn               = Post[SignInInput, SignedInUser]("sign-in", "/api/auth/sign-in/email", For(Public), Tagged(tagSession), Summary("Sign in with e-mail and password; starts a cookie session"))
	GetSession           = Get[SessionInput, SignedInUser]("get-session", "/api/auth/get-session", For(Public), Tagged(tagSession), Summary("Read the current session"))
	ListMyOrganizations  = Get[Paging, List[MyOrganization]]("list-my-organizations", "/users/me/organizations", For(SignedIn), Tagged(tagSession), Summary("List the organizations the caller belongs to"))
	ActivateOrganization = Post[OrgInput, MyOrganization]("activate-organization", "/users/me/orgs/{orgId}/activate", For(SignedIn), Tagged(tagSession), Summary("Make an organization the active one"))
)
