package daemon

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

// hostFilter decides for which host names the service accepts requests. Without it, an attacker's page could make its
// own host name resolve to this server (DNS rebinding) and would then have the same origin.
type hostFilter struct {
	names map[string]bool
	// isCertified reports whether the server's certificate is valid for a host; nil without TLS.
	isCertified func(host string) bool
}

// newHostFilter returns a filter for the hosts of the options, that of the public URL, and localhost.
func newHostFilter(o Options) hostFilter {
	f := hostFilter{names: map[string]bool{"localhost": true}, isCertified: o.IsCertified}
	for _, h := range o.Hosts {
		f.names[normalizeHost(h)] = true
	}
	if u, err := url.Parse(o.PublicURL); err == nil && u.Host != "" {
		f.names[normalizeHost(u.Host)] = true
	}
	return f
}

// normalizeHost returns a host without port, brackets and trailing dot, in lower case; an IP address is
// returned in its canonical form.
func normalizeHost(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if a, err := netip.ParseAddr(host); err == nil {
		return normalizeAddr(a).String()
	}
	return host
}

// normalizeAddr returns an address without a zone, and an IPv4 address mapped to IPv6 as IPv4.
func normalizeAddr(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// serves reports whether the service may be called under the host that a request names: an allowed name, a
// name in the certificate, a loopback address, or the address that the caller connected to. Addresses are
// safe, because in a DNS rebinding attack the browser sends a host name. Requests over the local socket
// are always served.
func (f hostFilter) serves(r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local != nil && local.Network() == "unix" {
		return true // browsers can't connect to it
	}
	host := normalizeHost(r.Host)
	if f.names[host] || (f.isCertified != nil && f.isCertified(host)) {
		return true
	}
	named, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	tcp, ok := local.(*net.TCPAddr)
	return named.IsLoopback() || (ok && normalizeAddr(tcp.AddrPort().Addr()) == named)
}

// anyHostPaths are the paths served for every host name, because load balancers and monitoring often call the service
// by IP address.
var anyHostPaths = []string{"/health", "/metrics", api.GetHealth.Path}

// rejectUnknownHost rejects requests for hosts that are not served. The local socket and the in-memory
// transport serve every host.
func (s *Server) rejectUnknownHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLocalRequest(r.Context()) && !slices.Contains(anyHostPaths, r.URL.Path) && !s.hosts.serves(r) {
			s.writeError(w, r, api.Misdirected(
				"this service doesn't accept requests for the host %q; its operator can allow the host with "+
					"--public-url (SERVICE_PUBLIC_URL) or --allowed-host (SERVICE_ALLOWED_HOST)", r.Host[:min(len(r.Host), 255)]))
			return
		}
		next.ServeHTTP(w, r)
	})
}
