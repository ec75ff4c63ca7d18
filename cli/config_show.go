package cli

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/cli/print"
)

// Paths holds the locations of the program's files on this machine.
type Paths struct {
	Data, Socket, State, Cache string
	// Unused is true if the data folder holds no data yet.
	Unused bool
}

func (a *app) configCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "config", Short: "Show the settings, their origin, and file locations",
		Long: `Settings come from flags, SERVICE_* variables, the selected context and the configuration
file, in that order; ` + "`service help configuration`" + ` lists all settings. To change the
configuration file, edit it in a text editor.`,
		Example: "  service config show --origin\n  service config path",
	}, a.configShow(), a.configPath())
}

// effectiveSetting is a setting with its effective value.
type effectiveSetting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	// Set is false if Value is the default.
	Set bool `json:"set"`
	// Origin is flag, environment, context, file or default; Source names the flag, variable,
	// context or file.
	Origin string `json:"origin"`
	Source string `json:"source"`
}

const hiddenValue = "(set, not shown)"

// secretSettings lists the settings whose values are never shown.
var secretSettings = map[string]bool{"token": true}

func (a *app) configShow() *cobra.Command {
	var origin, all bool
	cmd := &cobra.Command{
		Use: "show", Short: "Show all settings and, with --origin, their source",
		Long: `Shows the effective value of every setting. With --origin it also shows the source: a
flag, a variable, the selected context, the configuration file, or the default. Secrets
are never shown, only whether they are set. Other environment variables are listed if
they are set; with --all, unset variables are listed too.`,
		Example: "  service config show --origin\n  service config show -o json --jq '.data[] | select(.origin != \"default\")'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.targetErr != nil {
				a.printNotice("service: %s", a.targetErr.Error())
			}
			var out struct {
				Data []effectiveSetting `json:"data"`
			}
			out.Data = a.effectiveSettings(cmd, all)
			return a.out.Print(out, func(p *print.Page) {
				columns := []print.Column{fixed("setting"), wrapped("value")}
				if origin {
					columns = append(columns, fixed("origin"), column("source"))
				}
				renderTable(p, out.Data, columns, func(s effectiveSetting) []string {
					return []string{s.Key, s.Value, s.Origin, s.Source}
				})
			})
		},
	}
	cmd.Flags().BoolVar(&origin, "origin", false, "show the source of each value")
	cmd.Flags().BoolVar(&all, "all", false, "also list variables that are not set")
	return cmd
}

// effectiveSettings returns all settings, in the order of the help text. If includeUnset is set, it also returns the
// environment variables that are not set.
func (a *app) effectiveSettings(cmd *cobra.Command, includeUnset bool) (out []effectiveSetting) {
	pf := cmd.Root().PersistentFlags()
	file, _ := a.configFilePath(pf.Lookup("config").Value.String())
	add := func(key, value string, from origin, source string) {
		if secretSettings[key] && value != "" {
			value = hiddenValue
		}
		e := effectiveSetting{Key: key, Value: redactPassword(value), Set: from != originDefault, Origin: originNames[from], Source: source}
		switch from {
		case originFile:
			e.Source = file
		case originEnvironment:
			e.Source = envName(key)
		case originFlag:
			e.Source = "--" + key
		}
		out = append(out, e)
	}
	for _, s := range settings {
		value, from, source := a.config.GetString(s.key), a.origins[s.key], ""
		if v, chosen := a.settingFromContext(s.key); chosen {
			value, from, source = v, originContext, a.context.Name
		}
		if s.key == "data" && value == "" && a.ResolvePaths != nil {
			value = a.ResolvePaths("").Data
		}
		add(s.key, value, from, source)
	}
	for _, s := range flaglessSettings {
		value := a.config.GetString(s.key)
		if s.key == "releases-url" && value == "" {
			value = a.Releases.URL
		}
		add(s.key, value, a.origins[s.key], "")
	}
	for _, s := range daemonSettings {
		value, from := s.byDefault, originDefault
		if given := a.daemonSettingValues(cmd, s.key); len(given) > 0 {
			value, from = strings.Join(given, ", "), originFile
			if a.Env(envName(s.key)) != "" {
				from = originEnvironment
			}
		}
		add(s.key, value, from, "")
	}
	for _, v := range environmentVariables {
		value := a.Env(v.name)
		switch {
		case value == "" && !includeUnset:
			continue
		case value == "":
			out = append(out, effectiveSetting{Key: v.name, Origin: originNames[originDefault]})
			continue
		case v.secret:
			value = hiddenValue
		}
		out = append(
			out,
			effectiveSetting{Key: v.name, Value: redactPassword(value), Set: true, Origin: originNames[originEnvironment], Source: v.name},
		)
	}
	return out
}

var originNames = map[origin]string{
	originDefault:     "default",
	originFile:        "file",
	originContext:     "context",
	originEnvironment: "environment",
	originFlag:        "flag",
}

// settingFromContext returns the value that the selected context has for a setting, and whether that value
// takes effect.
func (a *app) settingFromContext(key string) (value string, isEffective bool) {
	c := a.context
	if c == nil {
		return "", false
	}
	switch key {
	case "context":
		return c.Name, a.origins[key] < originContext
	case "server":
		return c.Server, true
	case "org":
		return a.flags.Organization, a.flags.Organization != "" && a.origins[key] < originEnvironment
	case "token":
		return hiddenValue, c.HasSecret() && a.origins[key] < originEnvironment
	case "ca":
		return c.CA, c.CA != "" && a.origins[key] < originEnvironment
	case "insecure-http":
		return "true", c.InsecureHTTP && a.origins[key] < originEnvironment
	}
	return "", false
}

// passwordParameters are the parameters of a PostgreSQL URL that contain a password.
var passwordParameters = []string{"password", "sslpassword"}

// redactPassword returns a URL with its passwords masked. Other values are returned unchanged.
func redactPassword(value string) string {
	if !strings.ContainsAny(value, "@?") {
		return value
	}
	u, err := url.Parse(value)
	switch {
	case err != nil && strings.Contains(value, "://"):
		return hiddenValue // it can't be parsed, so hide all of it
	case err != nil:
		return value
	}
	q := u.Query()
	isChanged := u.User != nil
	for _, name := range passwordParameters {
		if q.Has(name) {
			q.Set(name, "xxxxx")
			u.RawQuery, isChanged = q.Encode(), true
		}
	}
	if !isChanged {
		return value
	}
	return u.Redacted()
}

// location is a file or folder with its purpose.
type location struct {
	What   string `json:"name"`
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
}

func (a *app) configPath() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "path", Short: "Print the path of the configuration file",
		Long: `Prints the path of the configuration file, whether it exists or not. With --all,
-o json or -o yaml, it also prints the paths of the contexts, their secrets, the data
folder, the socket, the saved state and the cache.`,
		Example:     "  service config path\n  service config path --all\n  $EDITOR \"$(service config path)\"",
		Annotations: map[string]string{toleratesSettingsErrors: "yes"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			file, _ := a.configFilePath(cmd.Root().PersistentFlags().Lookup("config").Value.String())
			if file == "" {
				return withHint(
					runtimeError("there is no configuration folder"),
					"set HOME or XDG_CONFIG_HOME, or specify a file with --config",
				)
			}
			var out struct {
				Data []location `json:"data"`
			}
			for _, l := range a.listStorageLocations(file) {
				if l.Path == "" {
					continue
				}
				_, err := os.Lstat(l.Path)
				l.Exists = !errors.Is(err, fs.ErrNotExist)
				out.Data = append(out.Data, l)
			}
			return a.out.Print(out, func(p *print.Page) {
				if !all {
					p.UnwrappedLine(file)
					return
				}
				renderTable(
					p,
					out.Data,
					[]print.Column{fixed("what"), fixed("exists"), {Title: "path", NoShrink: true, NoBreak: true}},
					func(l location) []string {
						return []string{l.What, yesNo(l.Exists), l.Path}
					},
				)
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "also print all other paths")
	return cmd
}

// listStorageLocations returns the files and folders that the program uses, including the configuration file.
func (a *app) listStorageLocations(file string) []location {
	out := []location{{What: "configuration", Path: file}}
	if dir := a.configDir(); dir != "" {
		out = append(
			out,
			location{What: "contexts", Path: a.contextStore().ConfigFilePath()},
			location{What: "secrets of contexts", Path: filepath.Join(dir, "secrets")},
		)
	}
	if a.ResolvePaths == nil {
		return out
	}
	at := a.ResolvePaths(a.flags.Data)
	return append(out, location{What: "data", Path: at.Data}, location{What: "socket", Path: at.Socket},
		location{What: "state", Path: at.State}, location{What: "cache", Path: at.Cache})
}
