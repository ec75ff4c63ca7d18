package integration

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net/mail"
	"net/url"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/editdistance"
	"github.com/scf-service/service/internal/lazyregexp"
	"github.com/scf-service/service/internal/netguard"
)

// invalidFieldError returns a validation error whose message names the field.
func invalidFieldError(at, format string, args ...any) error {
	return api.Invalid(at, "%s: %s", at, fmt.Sprintf(format, args...))
}

// withFieldName adds the field's name to the message of a validation error.
func withFieldName(at string, err error) error {
	var refused *api.Error
	if errors.As(err, &refused) {
		return invalidFieldError(at, "%s", refused.Message)
	}
	return err
}

// settings holds an integration's validated config and its secrets.
type settings struct {
	api.IntegrationType
	values  map[string]any
	secrets map[string]string
}

const (
	maxText   = 2000
	maxList   = 100
	maxPairs  = 50
	maxSecret = 16 << 10
)

// findField returns a field by name.
func findField(all []api.IntegrationField, name string) (api.IntegrationField, bool) {
	i := slices.IndexFunc(all, func(f api.IntegrationField) bool { return f.Name == name })
	if i < 0 {
		return api.IntegrationField{}, false
	}
	return all[i], true
}

func (s *settings) valueOrDefault(name string) any {
	if v, given := s.values[name]; given {
		return v
	}
	f, _ := findField(s.Config, name)
	return f.Default
}

func (s *settings) text(name string) string {
	v, _ := s.valueOrDefault(name).(string)
	return v
}

func (s *settings) flag(name string) bool {
	v, _ := s.valueOrDefault(name).(bool)
	return v
}

func (s *settings) number(name string) int {
	switch v := s.valueOrDefault(name).(type) {
	case float64:
		return int(v)
	case int:
		return v
	}
	return 0
}

func (s *settings) list(name string) (out []string) {
	all, _ := s.valueOrDefault(name).([]any)
	for _, v := range all {
		if text, is := v.(string); is {
			out = append(out, text)
		}
	}
	return out
}

func (s *settings) pairs(name string) map[string]string {
	out := map[string]string{}
	all, _ := s.valueOrDefault(name).(map[string]any)
	for k, v := range all {
		if text, is := v.(string); is {
			out[k] = text
		}
	}
	return out
}

// findIntegrationType returns the integration type with the given name. If there is none, the error
// lists the valid names.
func findIntegrationType(name string) (api.IntegrationType, error) {
	t, ok := api.FindIntegrationType(name)
	if !ok {
		var names []string
		for _, t := range api.IntegrationTypes {
			names = append(names, t.Type)
		}
		return t, invalidFieldError(
			"type",
			"unknown type %q%s; choose from %s",
			netguard.SanitizeLine(name),
			didYouMean(name, names),
			strings.Join(names, ", "),
		)
	}
	return t, nil
}

// normalizeConfig validates the fields of a config and returns it in the form in which it is stored.
func normalizeConfig(g netguard.Guard, t api.IntegrationType, config map[string]any) (map[string]any, error) {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(config)) {
		f, known := findField(t.Config, name)
		if !known {
			return nil, unknownFieldError("config", name, t.Type, t.Config)
		}
		if config[name] == nil {
			continue
		}
		v, err := normalizeValue(g, "config."+name, f, config[name])
		if err != nil {
			return nil, err
		}
		out[name] = v
	}
	for _, f := range t.Config {
		if _, given := out[f.Name]; f.Required && !given {
			return nil, invalidFieldError("config."+f.Name, "required for %s: %s", t.Type, f.Doc)
		}
	}
	return out, nil
}

func unknownFieldError(where, name, kind string, all []api.IntegrationField) error {
	var names []string
	for _, f := range all {
		names = append(names, f.Name)
	}
	takes := "none are supported"
	if len(names) > 0 {
		takes = "supported: " + strings.Join(names, ", ")
	}
	return invalidFieldError(where+"."+netguard.SanitizeLine(name), "not a field of %s%s; %s", kind, didYouMean(name, names), takes)
}

func normalizeValue(g netguard.Guard, at string, f api.IntegrationField, v any) (any, error) {
	switch f.Kind {
	case "number":
		n, is := v.(float64)
		if whole, isInt := v.(int); isInt {
			n, is = float64(whole), true
		}
		if !is || n != math.Trunc(n) || math.Abs(n) > 1e9 {
			return nil, invalidFieldError(at, "must be an integer")
		}
		return n, nil
	case "bool":
		if b, is := v.(bool); is {
			return b, nil
		}
		return nil, invalidFieldError(at, "must be true or false")
	case "list":
		all, is := v.([]any)
		if !is || len(all) > maxList {
			return nil, invalidFieldError(at, "must be a list of at most %d strings", maxList)
		}
		out := []any{}
		for i, one := range all {
			text, err := checkedText(fmt.Sprintf("%s[%d]", at, i), one)
			if err != nil {
				return nil, err
			}
			out = append(out, text)
		}
		return out, nil
	case "map":
		all, is := v.(map[string]any)
		if !is || len(all) > maxPairs {
			return nil, invalidFieldError(at, "must be an object with at most %d entries, each value a string", maxPairs)
		}
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if _, err := checkedText(at+" (a name)", name); err != nil || name == "" {
				return nil, invalidFieldError(at, "%q is not a valid name", netguard.SanitizeLine(name))
			}
			text, err := checkedText(at+"."+netguard.SanitizeLine(name), all[name])
			if err != nil {
				return nil, err
			}
			out[name] = text
		}
		return out, nil
	}
	text, err := checkedText(at, v)
	if err != nil {
		return nil, err
	}
	return normalizeTextOfKind(g, at, f, strings.TrimSpace(text))
}

// normalizeTextOfKind validates a string according to the field's kind.
func normalizeTextOfKind(g netguard.Guard, at string, f api.IntegrationField, text string) (any, error) {
	switch f.Kind {
	case "url":
		checked, err := g.CheckURL(at, text)
		return checked, withFieldName(at, err)
	case "host":
		return text, withFieldName(at, g.CheckHost(at, text))
	case "mail":
		if a, err := mail.ParseAddress(text); err != nil || a.Address != text {
			return nil, invalidFieldError(at, "%q is not a plain email address", netguard.SanitizeLine(text))
		}
	case "choice":
		if !slices.Contains(f.Choices, text) {
			return nil, invalidFieldError(
				at,
				"unknown value %q; choose from %s%s",
				netguard.SanitizeLine(text),
				strings.Join(f.Choices, ", "),
				didYouMean(text, f.Choices),
			)
		}
	}
	if text == "" {
		return nil, invalidFieldError(at, "must not be empty; set a value or omit the field")
	}
	return text, nil
}

// checkedText returns v as a string, or an error if it isn't a short single-line text.
func checkedText(at string, v any) (string, error) {
	text, is := v.(string)
	switch {
	case !is:
		return "", invalidFieldError(at, "must be a string")
	case len(text) > maxText:
		return "", invalidFieldError(at, "exceeds %d bytes", maxText)
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "", invalidFieldError(at, "must not contain line breaks or control characters")
	}
	return text, nil
}

// normalizeSecrets validates new secrets. An empty value means that the stored secret is to be removed.
func normalizeSecrets(g netguard.Guard, t api.IntegrationType, secrets map[string]string) (map[string]string, error) {
	out := map[string]string{}
	if len(secrets) > maxPairs {
		return nil, invalidFieldError("secrets", "at most %d secrets are allowed", maxPairs)
	}
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		text := strings.TrimRight(secrets[name], "\r\n")
		at := "secrets." + netguard.SanitizeLine(name)
		f, known := findField(t.Secrets, name)
		switch {
		case t.FreeSecrets:
			if err := checkHeaderName(at, name); err != nil {
				return nil, err
			}
		case !known:
			return nil, unknownFieldError("secrets", name, t.Type, t.Secrets)
		}
		switch {
		case len(text) > maxSecret:
			return nil, invalidFieldError(at, "exceeds %d bytes", maxSecret)
		case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
			return nil, invalidFieldError(at, "must not contain line breaks or control characters")
		}
		if f.Kind == "url" && text != "" {
			checked, err := g.CheckURL(at, text)
			if err != nil {
				return nil, withFieldName(at, err)
			}
			text = checked
		}
		out[name] = text
	}
	return out, nil
}

var (
	headerNamePattern = lazyregexp.New("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$")
	reservedHeaders   = []string{
		"host",
		"content-length",
		"content-type",
		"transfer-encoding",
		"connection",
		"upgrade",
		"te",
		"trailer",
		"expect",
		"proxy-authorization",
		"proxy-connection",
		"keep-alive",
		"accept-encoding",
	}
	fieldPatterns = map[string]map[string]*lazyregexp.Regexp{
		"jira":       {"project": lazyregexp.New(`^[A-Za-z][A-Za-z0-9_]{0,254}$`)},
		"github":     {"repository": lazyregexp.New(`^[A-Za-z0-9-]{1,100}/[A-Za-z0-9._-]{1,100}$`)},
		"servicenow": {"table": lazyregexp.New(`^[a-z][a-z0-9_]{0,79}$`)},
		"s3":         {"bucket": lazyregexp.New(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`), "region": lazyregexp.New(`^[a-z0-9-]{1,60}$`)},
	}
)

func checkHeaderName(at, name string) error {
	if !headerNamePattern.MatchString(name) {
		return invalidFieldError(at, "%q is not a valid header name", netguard.SanitizeLine(name))
	}
	if slices.Contains(reservedHeaders, strings.ToLower(name)) {
		return invalidFieldError(at, "the header %s is set automatically and cannot be configured", name)
	}
	return nil
}

// checkRequiredAndDependentFields checks that required secrets are set, and validates fields that must
// match a pattern or depend on other fields. secretsSet lists the names of the secrets that are set.
func checkRequiredAndDependentFields(t api.IntegrationType, values map[string]any, secretsSet []string) error {
	s := settings{IntegrationType: t, values: values}
	has := func(name string) bool { return slices.Contains(secretsSet, name) }
	for _, f := range t.Secrets {
		if f.Required && !has(f.Name) {
			return invalidFieldError("secrets."+f.Name, "required for %s: %s", t.Type, f.Doc)
		}
	}
	for name, p := range fieldPatterns[t.Type] {
		if text := s.text(name); text != "" && !p.MatchString(text) {
			f, _ := findField(t.Config, name)
			return invalidFieldError("config."+name, "%q is not valid; expected: %s", netguard.SanitizeLine(text), f.Doc)
		}
	}
	if n := s.number("sync_minutes"); t.Tracks && (n < 1 || n > 1440) {
		return invalidFieldError("config.sync_minutes", "must be between 1 and 1440")
	}
	switch t.Type {
	case "slack":
		switch {
		case has("webhook_url") == has("token"):
			return invalidFieldError("secrets", "slack needs either webhook_url or token")
		case has("token") && s.text("channel") == "":
			return invalidFieldError("config.channel", "with a token, slack also needs a channel")
		}
	case "generic":
		for _, name := range slices.Sorted(maps.Keys(s.pairs("headers"))) {
			if err := checkHeaderName("config.headers", name); err != nil {
				return err
			}
		}
	case "s3":
		if p := s.text("prefix"); strings.HasPrefix(p, "/") || slices.Contains(strings.Split(p, "/"), "..") {
			return invalidFieldError("config.prefix", "must not start with / or contain ..")
		}
	case "jira":
		if s.text("api") == "3" && s.text("email") == "" {
			return invalidFieldError("config.email", "Jira Cloud requires the email address of the token's owner; for Data Center, set api to 2")
		}
	case "servicenow":
		if (s.text("username") != "") != has("password") || has("token") == has("password") {
			return invalidFieldError("secrets", "servicenow needs either username and password, or token")
		}
	case "smtp":
		switch p := s.number("port"); {
		case p < 1 || p > 65535:
			return invalidFieldError("config.port", "must be between 1 and 65535")
		case (s.text("username") != "") != has("password"):
			return invalidFieldError("secrets.password", "username and password must be set together")
		case has("password") && s.text("tls") == "none":
			return invalidFieldError("config.tls", "without encryption the password would be sent in clear text; use starttls or tls")
		}
	}
	return nil
}

// checkEvents validates the events that an integration subscribes to. An empty list stands for all events that the
// integration's type supports.
func checkEvents(t api.IntegrationType, events []string) error {
	for _, e := range events {
		if t.Events != nil && !slices.Contains(t.Events, e) {
			if len(t.Events) == 0 {
				return invalidFieldError("events", "%s does not receive events; omit this field", t.Type)
			}
			return invalidFieldError("events", "%s supports %s, not %s", t.Type, strings.Join(t.Events, " and "), e)
		}
	}
	return nil
}

// secretDestinations returns the hosts in the config to which secrets are sent, so that changes to them can be
// detected.
func secretDestinations(t api.IntegrationType, values map[string]any) (out []string) {
	s := settings{IntegrationType: t, values: values}
	for _, f := range t.Config {
		switch f.Kind {
		case "url":
			if u, err := url.Parse(s.text(f.Name)); err == nil {
				out = append(out, f.Name+" "+u.Scheme+"://"+strings.ToLower(u.Host))
			}
		case "host":
			out = append(out, f.Name+" "+strings.ToLower(s.text(f.Name)))
		}
	}
	return out
}

// didYouMean returns a suggestion with the word closest to the wrong one.
func didYouMean(wrong string, words []string) string {
	if len(wrong) > 40 {
		return ""
	}
	best, at := "", 3
	for _, w := range words {
		if d := editdistance.Distance([]byte(strings.ToLower(wrong)), []byte(w)); d < at && d < len(w) {
			best, at = w, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}
