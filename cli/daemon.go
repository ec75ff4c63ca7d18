package cli

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/viper"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/regularfile"
)

// ServeOptions holds the daemon's settings.
type ServeOptions struct {
	// Data is the folder of the store; empty for the default folder.
	Data string
	// Store is the URL of the database, postgres://…; empty for a file in the data folder.
	Store string
	// Blobs is the URL of a bucket for documents and reports, s3://…; empty for files in the data folder.
	Blobs string
	// Embedder and EmbedderURL are as in a Target.
	Embedder, EmbedderURL string
	// Listen holds addresses as host:port or unix:/path. If it is empty, the daemon uses the sockets
	// passed by systemd, or else DefaultListen.
	Listen []string
	// MetricsListen is an address that serves metrics without authentication; empty for none.
	MetricsListen   string
	TLSCert, TLSKey string
	PublicURL       string
	// AllowedHosts are additional hosts under which the service may be called.
	AllowedHosts   []string
	WebOrigins     []string
	TrustedProxies []netip.Prefix
	// RateLimits overrides the default limits by category; 0 means no limit.
	RateLimits map[api.RateCategory]int
	// OrgRateLimits overrides the default limits of an organization by category; 0 means no limit.
	OrgRateLimits map[api.RateCategory]int
	// TraceEndpoint is an OTLP/HTTP trace collector; if it is empty, OpenTelemetry's own variables apply.
	TraceEndpoint   string
	LogJSON         bool
	LogLevel        slog.Level
	ShutdownTimeout time.Duration
	// AllowSharedData permits serving a data folder that other users of the machine can change.
	AllowSharedData bool
	// Backups are the backups to make regularly; nil for none.
	Backups *BackupSchedule
	// Admin is the first platform admin, created if there is none; nil to create nobody.
	Admin *FirstAdmin
}

// FirstAdmin is a platform admin to create at startup, together with an organization.
type FirstAdmin struct{ Organization, Email, Password string }

// Process is a process that has a data folder open.
type Process struct {
	PID     int    `json:"pid"`
	Version string `json:"version"`
	// Daemon is false for a command that serves other commands only while it runs.
	Daemon    bool      `json:"daemon"`
	Data      string    `json:"data"`
	Listen    []string  `json:"listen"`
	StartedAt time.Time `json:"started_at"`
	// LogLevel is the daemon's log level; empty for other commands.
	LogLevel string `json:"log_level"`
}

// DaemonInfo describes a daemon that is ready to serve.
type DaemonInfo struct {
	Process
	// SignIn is the address for `service login`.
	SignIn string `json:"sign_in"`
	// HasAccounts is set if at least one user can sign in.
	HasAccounts bool `json:"has_accounts"`
	// FirstRun is the URL of the page for creating the first organization, including a secret; "" if there are
	// accounts.
	FirstRun string `json:"-"`
}

const (
	// DefaultListen is the default listen address. It is reachable only from this machine.
	DefaultListen          = "127.0.0.1:8080"
	defaultShutdownTimeout = 30 * time.Second
	defaultBackupKeep      = "14"
)

// daemonSettings lists the daemon's settings. Each can be set by a flag, an environment variable
// (SERVICE_TLS_CERT for tls-cert) or the configuration file.
var daemonSettings = []struct{ key, usage, byDefault string }{
	{"listen", "address to listen on: host:port or unix:/path; can be repeated", DefaultListen},
	{"store", "PostgreSQL database for all records: postgres://USER@HOST/DATABASE", ""},
	{"blobs", "S3 bucket for documents and reports: s3://BUCKET/PREFIX?endpoint=https://HOST", ""},
	{"tls-cert", "certificate chain as a PEM file, which is reloaded on SIGHUP or when it changes", ""},
	{"tls-key", "private key of the certificate as a PEM file", ""},
	{"public-url", "public URL of the service, if it differs from the listen address", ""},
	{"allowed-host", "additional host name to serve, such as grc.internal; can be repeated", ""},
	{"web-origin", "web page origin allowed to call the service, e.g. https://app.example; can be repeated", ""},
	{"trusted-proxy", "proxy network whose X-Forwarded-* headers are trusted, e.g. 10.0.0.0/8; can be repeated", ""},
	{"rate-limit", "requests per minute per credential, as CATEGORY=N; 0 for no limit; can be repeated", ""},
	{"rate-limit-org", "requests per minute per organization (default: 10 times --rate-limit); can be repeated", ""},
	{"metrics-listen", "address that serves /metrics without authentication", ""},
	{"allow-shared-data", "allow a data folder that other users can change, such as a container volume", ""},
	{"trace-endpoint", "OTLP/HTTP trace collector, such as http://127.0.0.1:4318", ""},
	{"backup-every", "time between two backups, e.g. 24h; each is test-restored into an empty folder", ""},
	{"backup-to", "folder for scheduled backups", ""},
	{"backup-keep", "number of scheduled backups to keep; 0 for all", defaultBackupKeep},
	{"backup-recipient", "age public key (age1…) that can decrypt scheduled backups; can be repeated", ""},
	{"log-format", "format of log messages: text or json", "text"},
	{"log-level", "level of log messages: debug, info, warn or error", "info"},
	{"shutdown-timeout", "how long to wait for running requests on shutdown", defaultShutdownTimeout.String()},
}

// allowSharedData is the key of the only daemon setting that is a boolean.
const allowSharedData = "allow-shared-data"

// parseSharedData parses the values of the setting allow-shared-data, which is false by default.
func parseSharedData(values []string) (isAllowed bool, _ error) {
	if len(values) == 0 {
		return false, nil
	}
	allowed, err := strconv.ParseBool(values[0])
	if err != nil {
		return false, usageError("%s must be true or false, not %q", allowSharedData, values[0])
	}
	return allowed, nil
}

// formatUsage returns a setting's usage text with its default, if it has one.
func formatUsage(usage, defaultValue string) string {
	if defaultValue == "" {
		return usage
	}
	return usage + " (default " + defaultValue + ")"
}

// multiValueSettings lists the settings that can have several values. In an environment variable, commas
// separate them.
var multiValueSettings = map[string]bool{
	"listen": true, "allowed-host": true, "web-origin": true, "trusted-proxy": true, "rate-limit": true,
	"rate-limit-org": true, "backup-recipient": true,
}

func (a *app) daemonCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "daemon", Aliases: []string{"serve"}, Short: "Serve the data folder over the network",
		Long: `Serves the data folder over HTTP to signed-in users and to programs with an API key,
until it is stopped. Commands on the same folder keep working: they connect to the daemon.

Each flag is also an environment variable (--tls-cert is SERVICE_TLS_CERT; separate
several values with commas) and a key of the configuration file. For containers,
SERVICE_ADMIN_EMAIL, SERVICE_ADMIN_PASSWORD (or SERVICE_ADMIN_PASSWORD_FILE) and
SERVICE_ORG create the first admin and organization at startup, if there are none.

With --store, records are kept in PostgreSQL; with --blobs, files are kept in a bucket.
Several daemons, each with its own data folder, can share them. Don't put the database
password in the flag, where other users of the machine can see it. Put the password in a
file (passfile=FILE in the URL, in the format of .pgpass), in PGPASSWORD, or in
SERVICE_STORE. Put the bucket's credentials in AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY, or use an AWS profile. Commands that run without a daemon also use
SERVICE_STORE and SERVICE_BLOBS.

The rate limit categories are ` + formatRateCategories() + `.`,
		Example: `  service daemon
  service daemon --listen 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem
  service daemon --listen unix:/run/service/web.sock --public-url https://grc.acme.example
  service daemon --store 'postgres://grc@db.internal/grc?sslmode=verify-full' --blobs s3://acme-grc
  service daemon --backup-every 24h --backup-to /backup --backup-keep 14
  service daemon --rate-limit default=600 --rate-limit search=0 --log-format json`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runDaemon(cmd) },
	}
	f := cmd.Flags()
	for _, s := range daemonSettings {
		if multiValueSettings[s.key] {
			f.StringArray(s.key, nil, formatUsage(s.usage, s.byDefault))
		} else {
			f.String(s.key, "", formatUsage(s.usage, s.byDefault))
		}
	}
	f.Lookup(allowSharedData).NoOptDefVal = "true"
	cmd.AddCommand(a.daemonInit(), a.daemonStatus(), a.daemonTop(), a.daemonLogLevel())
	return cmd
}

func (a *app) runDaemon(cmd *cobra.Command) error {
	o, err := a.readServeOptions(cmd)
	if err != nil {
		return err
	}
	if a.Serve == nil {
		return runtimeError("this build of the program doesn't include the daemon")
	}
	var printErr error
	err = a.Serve(cmd.Context(), o, func(s DaemonInfo) { printErr = a.printDaemonReady(o, s) })
	if errors.Is(printErr, context.Canceled) {
		printErr = nil // it was told to stop while printing its addresses, which is not a failure
	}
	return errors.Join(err, printErr)
}

// printDaemonReady prints the daemon's addresses once it is ready. With JSON logs or --quiet, it prints nothing,
// because the log contains the addresses, too.
func (a *app) printDaemonReady(o ServeOptions, s DaemonInfo) error {
	if a.out.IsHumanReadable() && (o.LogJSON || a.flags.quiet) {
		return nil
	}
	return a.out.Print(s, func(p *print.Page) {
		p.Text("service %s is listening on %s", s.Version, strings.Join(s.Listen, ", "))
		p.Text("data: %s", s.Data)
		if s.HasAccounts {
			p.Text("to sign in, run: service login %s", s.SignIn)
			p.Text("or open this address in a browser")
		} else {
			p.Text("there are no accounts yet; to create the first account, run:")
			p.Command(a.suggestedCommandLine(`daemon init --org "Acme" --email you@acme.example`))
			if s.FirstRun != "" && a.Interactive { // the output could be a log unless it is a terminal
				p.Text("or create it in a browser, with this single-use link: %s", s.FirstRun)
			}
		}
		p.Text("stop with Ctrl-C")
	})
}

// readServeOptions reads the daemon's settings.
func (a *app) readServeOptions(cmd *cobra.Command) (o ServeOptions, err error) {
	firstValue := func(key string) string {
		if v := a.daemonSettingValues(cmd, key); len(v) > 0 {
			return v[0]
		}
		return ""
	}
	o = ServeOptions{
		Data:            a.flags.Data,
		Store:           firstValue("store"),
		Blobs:           firstValue("blobs"),
		Embedder:        a.flags.Embedder,
		EmbedderURL:     a.flags.EmbedderURL,
		Listen:          a.daemonSettingValues(cmd, "listen"),
		MetricsListen:   firstValue("metrics-listen"),
		TraceEndpoint:   firstValue("trace-endpoint"),
		TLSCert:         firstValue("tls-cert"),
		TLSKey:          firstValue("tls-key"),
		PublicURL:       strings.TrimSuffix(firstValue("public-url"), "/"),
		WebOrigins:      a.daemonSettingValues(cmd, "web-origin"),
		AllowedHosts:    a.daemonSettingValues(cmd, "allowed-host"),
		ShutdownTimeout: defaultShutdownTimeout,
	}
	if err := validateStore(o.Store, cmd.Flags().Changed("store")); err != nil {
		return o, err
	}
	if o.Blobs != "" && o.Store == "" {
		return o, usageError("--blobs requires --store: if the database is in the data folder, files must be there too")
	}
	for _, l := range o.Listen {
		if err := validateListenAddress("listen", l); err != nil {
			return o, err
		}
	}
	if o.MetricsListen != "" {
		if err := validateListenAddress("metrics-listen", o.MetricsListen); err != nil {
			return o, err
		}
	}
	if (o.TLSCert == "") != (o.TLSKey == "") {
		return o, usageError("--tls-cert and --tls-key must be used together")
	}
	for _, host := range o.AllowedHosts {
		if strings.ContainsAny(host, "/*@ ") {
			return o, usageError("--allowed-host %q is not a host name; use a value such as grc.internal or 192.0.2.7", host)
		}
	}
	for _, address := range append(o.WebOrigins, o.PublicURL) {
		if u, err := url.Parse(address); address != "" && (err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https")) {
			return o, usageError("%q is not a web address; use an address such as https://grc.acme.example", address)
		}
	}
	if u, err := url.Parse(o.TraceEndpoint); o.TraceEndpoint != "" &&
		(err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https") {
		return o, usageError(
			"--trace-endpoint is not a collector URL; use a URL such as http://127.0.0.1:4318, " +
				"and put credentials in OTEL_EXPORTER_OTLP_HEADERS",
		)
	}
	for _, network := range a.daemonSettingValues(cmd, "trusted-proxy") {
		p, err := parseNetwork(network)
		if err != nil {
			return o, usageError("--trusted-proxy %q is not a network; use a value such as 10.0.0.0/8 or 192.0.2.7", network)
		}
		o.TrustedProxies = append(o.TrustedProxies, p)
	}
	if o.AllowSharedData, err = parseSharedData(a.daemonSettingValues(cmd, allowSharedData)); err != nil {
		return o, err
	}
	if o.RateLimits, err = parseRateLimits("rate-limit", a.daemonSettingValues(cmd, "rate-limit")); err != nil {
		return o, err
	}
	if o.OrgRateLimits, err = parseRateLimits("rate-limit-org", a.daemonSettingValues(cmd, "rate-limit-org")); err != nil {
		return o, err
	}
	if format := firstValue("log-format"); format != "" {
		if err := checkOneOfOrEmpty("log format", format, []string{"text", "json"}); err != nil {
			return o, err
		}
		o.LogJSON = format == "json"
	}
	if level := firstValue("log-level"); level != "" {
		if err := o.LogLevel.UnmarshalText([]byte(level)); err != nil {
			return o, checkOneOfOrEmpty("log level", level, []string{"debug", "info", "warn", "error"})
		}
	}
	if wait := firstValue("shutdown-timeout"); wait != "" {
		if o.ShutdownTimeout, err = time.ParseDuration(wait); err != nil || o.ShutdownTimeout <= 0 {
			return o, usageError("--shutdown-timeout %q is not a duration; use a value such as 30s or 2m", wait)
		}
	}
	if o.Backups, err = readBackupSchedule(firstValue, a.daemonSettingValues(cmd, "backup-recipient")); err != nil {
		return o, err
	}
	o.Admin, err = a.firstAdminFromEnv()
	return o, err
}

// daemonSettingValues returns the values of a setting. It uses the first source that sets any: the flag, the
// environment variable or the configuration file.
func (a *app) daemonSettingValues(cmd *cobra.Command, key string) []string {
	if f := cmd.Flags().Lookup(key); f != nil && f.Changed {
		if !multiValueSettings[key] {
			return []string{f.Value.String()}
		}
		all, err := cmd.Flags().GetStringArray(key)
		if err != nil {
			return nil
		}
		return splitCommas(all)
	}
	return a.configuredSettingValues(key)
}

// configuredSetting returns the value of a setting with one value, or "".
func (a *app) configuredSetting(key string) string {
	if v := a.configuredSettingValues(key); len(v) > 0 {
		return v[0]
	}
	return ""
}

// validateStore checks the URL of a database. A URL in a flag must not contain a password. Errors don't contain the
// URL, because it may contain a password.
func validateStore(address string, isFlag bool) error {
	if address == "" {
		return nil
	}
	u := parseDatabaseURL(address)
	switch {
	case u == nil:
		return usageError("--store is not the URL of a database; use the form postgres://USER@HOST/DATABASE?sslmode=verify-full")
	case isFlag && containsPassword(u):
		return passwordInFlagError("store", "; or put the password in PGPASSWORD, or the whole URL in SERVICE_STORE")
	}
	return nil
}

// parseDatabaseURL parses the URL of a PostgreSQL database. It returns nil if address is not such a URL.
func parseDatabaseURL(address string) *url.URL {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil
	}
	return u
}

func containsPassword(u *url.URL) bool {
	_, has := u.User.Password()
	return has || slices.ContainsFunc(passwordParameters, u.Query().Has)
}

// passwordInFlagError returns the error for a flag whose database URL contains a password. alternatives lists the
// places for the password other than a file.
func passwordInFlagError(flag, alternatives string) error {
	return usageError("--%s contains a password, which other users of this machine could see in the list of processes; "+
		"put the password in a file with the format HOST:PORT:DATABASE:USER:PASSWORD and specify the file in the URL (passfile=FILE)%s", flag, alternatives)
}

// configuredSettingValues returns the values of a setting from its environment variable or, if that isn't
// set, from the configuration file.
func (a *app) configuredSettingValues(key string) []string {
	if v := a.Env(envName(key)); v != "" {
		if !multiValueSettings[key] {
			return []string{v}
		}
		return splitCommas([]string{v})
	}
	return settingValuesFromFile(a.config, key)
}

// settingValuesFromFile returns a setting's values in the configuration file, or nil if the file doesn't set it.
func settingValuesFromFile(v *viper.Viper, key string) []string {
	if v == nil || !v.InConfig(key) {
		return nil
	}
	if _, list := v.Get(key).([]any); list || !multiValueSettings[key] {
		if list {
			return v.GetStringSlice(key)
		}
		return []string{v.GetString(key)}
	}
	return splitCommas([]string{v.GetString(key)})
}

func splitCommas(values []string) (out []string) {
	for _, v := range values {
		for _, part := range strings.Split(v, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}

func validateListenAddress(flag, address string) error {
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		if path == "" {
			return usageError("--%s %q has no path; use an address such as unix:/run/service/web.sock", flag, address)
		}
		return nil
	}
	_, port, err := net.SplitHostPort(address)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || n > 65535 {
		return usageError("--%s %q is not an address; use an address such as 127.0.0.1:8080, :8443 or unix:/run/service/web.sock", flag, address)
	}
	return nil
}

// parseNetwork parses a network in CIDR notation, or a single address.
func parseNetwork(s string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(s); err == nil {
		return addr.Prefix(addr.BitLen())
	}
	p, err := netip.ParsePrefix(s)
	return p.Masked(), err
}

func parseRateLimits(flag string, given []string) (map[api.RateCategory]int, error) {
	out := map[api.RateCategory]int{}
	for _, g := range given {
		name, number, ok := strings.Cut(g, "=")
		n, err := strconv.Atoi(number)
		if !ok || err != nil || n < 0 {
			return nil, usageError("--%s %q must have the form CATEGORY=N, such as search=120", flag, g)
		}
		if err := checkOneOfOrEmpty("rate limit category", name, sortedKeys(api.RateLimits)); err != nil || name == "" {
			return nil, err
		}
		out[api.RateCategory(name)] = n
	}
	return out, nil
}

func formatRateCategories() string {
	var names []string
	for _, c := range sortedKeys(api.RateLimits) {
		names = append(names, string(c))
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// Environment variables for creating the first admin at startup.
const (
	envAdminEmail        = "SERVICE_ADMIN_EMAIL"
	envAdminPassword     = "SERVICE_ADMIN_PASSWORD"
	envAdminPasswordFile = "SERVICE_ADMIN_PASSWORD_FILE"
	envAdminOrganization = "SERVICE_ORG"
	// maxPasswordFile is the maximum size of a password file. No password is that long, so a larger file must
	// be the wrong one.
	maxPasswordFile = 4 << 10
)

// firstAdminFromEnv returns the first admin configured in the environment, or nil if there is none.
func (a *app) firstAdminFromEnv() (*FirstAdmin, error) {
	f := &FirstAdmin{Organization: a.Env(envAdminOrganization), Email: a.Env(envAdminEmail), Password: a.Env(envAdminPassword)}
	file := a.Env(envAdminPasswordFile)
	switch {
	case f.Email == "" && f.Password == "" && file == "":
		return nil, nil
	case f.Email == "":
		return nil, usageError("%s is set, but %s is not; set both, because an admin needs an email address", envAdminPassword, envAdminEmail)
	case f.Password != "" && file != "":
		return nil, usageError("%s and %s are both set; set only one", envAdminPassword, envAdminPasswordFile)
	case f.Password == "" && file == "":
		return nil, usageError("%s is set, but neither %s nor %s is set; an admin needs a password",
			envAdminEmail, envAdminPassword, envAdminPasswordFile)
	case f.Organization == "":
		return nil, usageError("%s is set, but %s is not; set both, because an admin needs an organization", envAdminEmail, envAdminOrganization)
	}
	if _, err := mail.ParseAddress(f.Email); err != nil {
		return nil, usageError("%s=%q is not an email address", envAdminEmail, f.Email)
	}
	if file == "" {
		return f, nil
	}
	b, err := regularfile.Read(file, maxPasswordFile)
	if err != nil {
		return nil, runtimeError("%s: %s can't be read: %w", envAdminPasswordFile, file, errorWithoutPath(err))
	}
	f.Password = strings.TrimRight(string(b), "\r\n")
	return f, nil
}

// findDataFolderProcess returns the process that has the data folder open, or nil if there is none.
func (a *app) findDataFolderProcess(ctx context.Context) (*Process, error) {
	if a.FindProcess == nil {
		return nil, nil
	}
	return a.FindProcess(ctx, a.flags.Data)
}
