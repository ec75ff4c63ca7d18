package daemon

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/identity"
)

// requestCredential returns the credential of the request. A bearer token takes precedence over a cookie,
// because clients always send a token deliberately.
func requestCredential(r *http.Request, op *api.Operation) identity.Credential {
	if isLocalRequest(r.Context()) {
		// Reading the server's state, or creating its first organization, must not create another organization.
		return identity.Credential{Local: true, CreateLocal: op.ID != api.CreateOrganization.ID &&
			(op.Method != http.MethodGet || op.ID == api.ListMyOrganizations.ID || op.ID == api.GetMe.ID)}
	}
	var c identity.Credential
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		if strings.EqualFold(scheme, "Bearer") {
			c.Bearer = strings.TrimSpace(token)
		}
		if c.Bearer == "" {
			c.Bearer = "none" // reject an Authorization header without a bearer token instead of ignoring it
		}
		return c
	}
	for i, cookie := range r.CookiesNamed(api.SessionCookie) {
		if i > 0 && cookie.Value != c.Cookie {
			c.Cookie = "none" // another site of the same domain may have set one of them
			break
		}
		c.Cookie = cookie.Value
	}
	return c
}

// resolveCaller returns the caller in the organization that the operation acts on. For an operation on an
// organization's data, this is the organization in the header, which is required. For other operations, it is
// the organization in the path, or else the one in the header, or else the active one.
func (s *Server) resolveCaller(r *http.Request, p identity.Principal, op *api.Operation) (api.Caller, error) {
	ctx, pathOrg := r.Context(), pathOrganizationID(r)
	if op.Access != api.Tenant {
		if pathOrg == "" {
			by, err := s.engine.Identity.ResolveCaller(ctx, p, r.Header.Get(api.TenantHeader))
			if err == nil && op.Access == api.Platform && by.Local && by.OrganizationID == "" {
				by.OrganizationID, err = s.engine.Identity.FirstOrganization(ctx) // in whose audit chain the local user's actions are recorded
			}
			return by, err
		}
		by, err := s.engine.Identity.ResolveCaller(ctx, p, pathOrg)
		if api.IsCode(err, api.CodeForbidden) {
			// The caller is not a member. A platform admin may continue; for anyone else, the organization does
			// not exist.
			by, err = s.engine.Identity.ResolveCaller(ctx, p, "")
			if err == nil && !by.PlatformAdmin && op.ID != api.ActivateOrganization.ID {
				err = api.NotFound("organization", pathOrg)
			}
		}
		return by, err
	}
	tenant := r.Header.Get(api.TenantHeader)
	if tenant == "" {
		return api.Caller{}, api.TenantRequired()
	}
	by, err := s.engine.Identity.ResolveCaller(ctx, p, tenant)
	if err == nil && pathOrg != "" && pathOrg != by.OrganizationID {
		err = api.NotFound("organization", pathOrg)
	}
	return by, err
}

// sessionChanger is a response that starts or ends a browser session.
type sessionChanger interface {
	SessionCookieToSet() (token string, ends time.Time)
}

// sendSessionCookie sends the cookie of a response that starts or ends a session.
func (s *Server) sendSessionCookie(ctx context.Context, out any) {
	if v, ok := out.(sessionChanger); ok {
		if token, ends := v.SessionCookieToSet(); token != "" || ends.Before(s.clock()) {
			x := requestContextFrom(ctx)
			s.setSessionCookie(x.w, x.r, token, ends)
		}
	}
	if user, ok := out.(*api.SignedInUser); ok && user.DeviceToken != "" {
		x := requestContextFrom(ctx)
		http.SetCookie(x.w, &http.Cookie{
			Name: api.DeviceCookie, Value: user.DeviceToken, Path: s.deviceCookiePath(), Expires: user.DeviceExpiresAt, HttpOnly: true,
			SameSite: http.SameSiteStrictMode, Secure: s.isHTTPS(x.r),
		})
	}
}

// deviceCookiePath returns the path that the device cookie is limited to: that of the public URL. Both the API
// and the sign-in pages read the cookie.
func (s *Server) deviceCookiePath() string {
	u, err := url.Parse(s.publicURL)
	if err != nil {
		return "/"
	}
	return path.Join("/", u.Path)
}

// resendCookieIfRenewed sends the session cookie again, with its new expiry, if the session was extended.
func (s *Server) resendCookieIfRenewed(w http.ResponseWriter, r *http.Request, p identity.Principal) {
	if ends, slid := p.RenewedUntil(); slid {
		if cookie, err := r.Cookie(api.SessionCookie); err == nil {
			s.setSessionCookie(w, r, cookie.Value, ends)
		}
	}
}

// setSessionCookie sets the session cookie, or clears it if ends is in the past.
func (s *Server) setSessionCookie(w http.ResponseWriter, r *http.Request, token string, ends time.Time) {
	http.SetCookie(w, &http.Cookie{
		Name: api.SessionCookie, Value: token, Path: "/", Expires: ends, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: s.isHTTPS(r),
	})
}

// isHTTPS reports whether the browser uses TLS, either to this server or to the proxy in front of it.
func (s *Server) isHTTPS(r *http.Request) bool {
	return r.TLS != nil || strings.HasPrefix(s.publicURL, "https://") ||
		(s.isFromTrustedProxy(r) && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https"))
}

// clientAddress returns the caller's network address: the peer's, or, if the peer is a trusted
// proxy, the last forwarded address that is not a trusted proxy.
func (s *Server) clientAddress(r *http.Request) string {
	peer := remoteHost(r)
	if !s.isFromTrustedProxy(r) {
		return peer
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		peer = hop.String()
		if !s.isTrustedProxy(hop) {
			break
		}
	}
	return peer
}

// isFromTrustedProxy reports whether the request was sent by a trusted proxy.
func (s *Server) isFromTrustedProxy(r *http.Request) bool {
	peer, err := netip.ParseAddr(remoteHost(r))
	return err == nil && s.isTrustedProxy(peer)
}

func (s *Server) isTrustedProxy(a netip.Addr) bool {
	for _, p := range s.proxies {
		if p.Contains(a.Unmap()) {
			return true
		}
	}
	return false
}

// remoteHost returns the host of the peer's address.
func remoteHost(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return strings.Trim(r.RemoteAddr, "[]")
	}
	return host
}
