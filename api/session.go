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

// Session is the signed-in session of a browser.
type Session struct {
	ExpiresAt            time.Time `json:"expires_at"`
	ActiveOrganizationID *string   `json:"active_organization_id"`
}

// UserSession is one of the caller's sessions.
type UserSession struct {
	ID         string    `json:"id"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
	LastUsedAt time.Time `json:"last_used_at" doc:"Recorded every few minutes."`
	ExpiresAt  time.Time `json:"expires_at"`
	Address    string    `json:"address" doc:"The network address it was started from."`
	Current    bool      `json:"current" doc:"Whether it is the session of the request."`
}

// UserSessionInput identifies one of the caller's sessions.
type UserSessionInput struct {
	SessionID string `path:"sessionId"`
}

// SignedInUser is the response to signing in and to reading the current session.
type SignedInUser struct {
	User    User    `json:"user"`
	Session Session `json:"session"`
	// Token is the secret of a newly created session; it is sent only in the cookie.
	Token string `json:"-"`
	// DeviceToken lets later sign-ins recognize this browser; it is only sent in its own cookie. It is empty unless a
	// session was just started.
	DeviceToken     string    `json:"-"`
	DeviceExpiresAt time.Time `json:"-"`
}

// SessionCookieToSet returns the session token to set as a cookie, and the time at which the session ends. The token
// is empty unless the session was just created.
func (s *SignedInUser) SessionCookieToSet() (token string, ends time.Time) {
	return s.Token, s.Session.ExpiresAt
}

// SignedOut is the response to signing out; it clears the cookie.
type SignedOut struct {
	OK bool `json:"ok"`
}

// SessionCookieToSet returns an empty, expired cookie, which signs the browser out.
func (*SignedOut) SessionCookieToSet() (string, time.Time) { return "", time.Unix(0, 0).UTC() }

// AcceptLinkInput is the input for redeeming a single-use link, which is either an invitation or a link
// to set a new password.
type AcceptLinkInput struct {
	Body struct {
		Token    string `json:"token" minLength:"1" maxLength:"200"`
		Name     string `json:"name,omitempty" maxLength:"200" doc:"Display name, for new users."`
		Password string `json:"password,omitempty" maxLength:"128" doc:"A new password of 12 to 128 characters; for an invitation, your account's password if you have one."`
	}
}

// LinkInput is the input for reading the purpose of a single-use link without using it.
type LinkInput struct {
	Body struct {
		Token string `json:"token" minLength:"1" maxLength:"200"`
	}
}

// Link describes the purpose of a single-use link.
type Link struct {
	Purpose       string    `json:"purpose" enum:"invite,password"`
	Email         string    `json:"email"`
	Organization  *string   `json:"organization" doc:"Name of the inviting organization."`
	Role          *Role     `json:"role"`
	NeedsPassword bool      `json:"needs_password" doc:"Always true. A password link needs a new password; an invitation needs the account's password, or a new one if there is no account."`
	ExpiresAt     time.Time `json:"expires_at"`
}

// ChangePasswordInput is the input for changing the caller's password.
type ChangePasswordInput struct {
	Body struct {
		Current string `json:"current_password" maxLength:"128"`
		New     string `json:"new_password" minLength:"12" maxLength:"128"`
	}
}

// Me describes the caller: who they are and what they may do.
type Me struct {
	User           User         `json:"user"`
	Actor          Actor        `json:"actor"`
	OrganizationID *string      `json:"organization_id" doc:"The organization of the request, of the key, or the active one."`
	Organization   *string      `json:"organization"`
	Role           *Role        `json:"role"`
	Permissions    []Permission `json:"permissions"`
	ExpiresAt      *time.Time   `json:"expires_at" doc:"When the session or the key ends."`
}

// SignInInput is the input for signing in: an email address and a password.
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

// OrgInput identifies an organization in the path.
type OrgInput struct {
	OrgID string `path:"orgId"`
}

const tagSession = "Session and user"

// Operations on sessions and the caller's account, defined in section 4.2 of the API specification, and
// related ones.
var (
	SignIn = Post[SignInInput, SignedInUser](
		"sign-in", "/api/auth/sign-in/email", "", tagSession,
		"Sign in with email and password, and start a cookie session", WithAccess(Public),
	)
	GetSession = Get[None, SignedInUser](
		"get-session", "/api/auth/get-session", "", tagSession,
		"Get the current session", WithAccess(SignedIn),
	)
	SignOut = Post[None, SignedOut](
		"sign-out", "/api/auth/sign-out", "", tagSession,
		"End the session", WithAccess(SignedIn),
	)
	SignOutEverywhere = Post[None, SignedOut](
		"sign-out-everywhere", "/api/auth/sign-out-everywhere", "", tagSession,
		"End all sessions of the caller", WithAccess(SignedIn),
	)
	ListMySessions = Get[Paging, List[UserSession]](
		"list-my-sessions", "/users/me/sessions", "", tagSession,
		"List the caller's sessions, most recently used first", WithAccess(SignedIn),
	)
	EndMySession = Delete[UserSessionInput](
		"end-my-session", "/users/me/sessions/{sessionId}", "", tagSession,
		"End one of the caller's sessions", WithAccess(SignedIn),
	)
	GetLink = Post[LinkInput, Link](
		"get-link", "/api/auth/link", "", tagSession,
		"Get the purpose of a single-use link", WithAccess(Public),
	)
	AcceptLink = Post[AcceptLinkInput, SignedInUser](
		"accept-link", "/api/auth/accept-link", "", tagSession,
		"Accept an invitation or set a new password through a single-use link, and start a session", WithAccess(Public),
	)
	ChangePassword = Post[ChangePasswordInput, User](
		"change-password", "/api/auth/change-password", "", tagSession,
		"Change the caller's password and end the other sessions", WithAccess(SignedIn),
	)
	GetMe = Get[None, Me](
		"get-me", "/users/me", "", tagSession,
		"Get the caller's identity and permissions", WithAccess(SignedIn),
	)
	ListMyOrganizations = Get[Paging, List[MyOrganization]](
		"list-my-organizations", "/users/me/organizations", "", tagSession,
		"List the organizations the caller belongs to", WithAccess(SignedIn),
	)
	ActivateOrganization = Post[OrgInput, MyOrganization](
		"activate-organization", "/users/me/orgs/{orgId}/activate", "", tagSession,
		"Set the active organization", WithAccess(SignedIn),
	)
)
