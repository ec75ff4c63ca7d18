package cli

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/viper"

	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/regularfile"
)

// flags holds the global settings, merged from flags, environment variables and the configuration file.
type flags struct {
	Target
	assessment string
	quiet      bool
	// targetArgs holds the target's flags as typed, to be repeated in suggested commands.
	targetArgs []string
}

// setting is a key that can be set by a flag, an environment variable or the configuration file.
type setting struct {
	key, short, usage string
	value             any
}

// settings lists the settings that all commands share. The environment variable of "server" is
// SERVICE_SERVER, and so on.
var settings = []setting{
	{"context", "", "name of the context to use, or local for the data folder", ""},
	{"server", "", "server URL, https://… (overrides the selected context)", ""},
	{"data", "", "local data folder (overrides the context)", ""},
	{"org", "", "ID, slug or name of the organization to use", ""},
	{"token", "", "API key for the server (SERVICE_TOKEN is safer, because other users can see flags)", ""},
	{"ca", "", "CA certificate file, if the server uses a private CA", ""},
	{"insecure-http", "", "allow unencrypted http:// to another machine", false},
	{"assessment", "a", "ID or name of the assessment (default: the most recently used, or the only one)", ""},
	{"output", "o", "output format: table, json, yaml or csv", "table"},
	{"jq", "", "filter the JSON output with this jq expression", ""},
	{"quiet", "q", "don't show progress", false},
}

// flaglessSettings lists the settings that have no flag, because they belong to the machine rather than to a
// command. An environment variable or the configuration file can set them.
var flaglessSettings = []struct{ key, usage string }{
	{"embedder", "additional embedding model, as ollama/NAME or openai/NAME"},
	{"embedder-url", "URL of the embedding model's server"},
	{"reader", "reader that judges evidence for drafts: rules, or the name of an imported reader"},
	{"releases-url", "URL at which `service upgrade check` looks for the latest release"},
}

// addSettingFlags adds the flags of the settings that all commands share.
func addSettingFlags(cmd *cobra.Command) {
	f := cmd.PersistentFlags()
	for _, s := range settings {
		switch v := s.value.(type) {
		case bool:
			f.BoolP(s.key, s.short, v, s.usage)
		case string:
			f.StringP(s.key, s.short, v, s.usage)
		}
	}
	f.String("config", "", "configuration file (default: service/config.yaml in the XDG configuration folder)")
}

// origin is the source of a setting's value. Later constants take precedence over earlier ones.
type origin int

const (
	originDefault origin = iota
	originFile
	originContext // the context chosen with `service use`
	originEnvironment
	originFlag
)

// toleratesSettingsErrors is the annotation of commands that run even if the settings can't be read, because
// users need them to find the cause.
const toleratesSettingsErrors = "mends-settings"

// envName returns the name of a setting's environment variable.
func envName(key string) string {
	if key == "org" { // SERVICE_ORG is the organization that the daemon creates
		return "SERVICE_DEFAULT_ORG"
	}
	return "SERVICE_" + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
}

// loadSettings merges the settings from flags, SERVICE_* variables, the context and the configuration file.
// Earlier sources take precedence.
func (a *app) loadSettings(cmd *cobra.Command) error {
	v := viper.New()
	pf := cmd.Root().PersistentFlags()
	if err := a.readConfigFile(v, pf.Lookup("config").Value.String()); err != nil {
		if cmd.Annotations[toleratesSettingsErrors] == "" {
			return err
		}
		a.settingsErr = err
	}
	from := map[string]origin{}
	a.origins = from
	for _, s := range settings {
		if v.InConfig(s.key) {
			from[s.key] = originFile
		}
		v.SetDefault(s.key, s.value)
		if env := a.Env(envName(s.key)); env != "" {
			v.Set(s.key, env)
			from[s.key] = originEnvironment
		}
		if fl := pf.Lookup(s.key); fl.Changed {
			if s.key == "data" && fl.Value.String() == "" {
				return usageError("--data is empty; specify a folder, or omit the flag") // probably an unset shell variable
			}
			v.Set(s.key, fl.Value.String())
			from[s.key] = originFlag
			if slices.Contains([]string{"context", "server", "data", "org", "ca", "assessment"}, s.key) {
				a.flags.targetArgs = append(a.flags.targetArgs, "--"+s.key, fl.Value.String())
			}
			if s.key == "insecure-http" {
				a.flags.targetArgs = append(a.flags.targetArgs, "--"+s.key)
			}
		}
	}
	a.flags.Target = Target{
		Server: v.GetString("server"), Data: v.GetString("data"), Organization: v.GetString("org"), Token: v.GetString("token"),
		CA: v.GetString("ca"), InsecureHTTP: v.GetBool("insecure-http"),
	}
	for _, s := range flaglessSettings {
		if v.InConfig(s.key) {
			from[s.key] = originFile
		}
		if env := a.Env(envName(s.key)); env != "" {
			v.Set(s.key, env)
			from[s.key] = originEnvironment
		}
	}
	a.flags.Embedder, a.flags.EmbedderURL = v.GetString("embedder"), v.GetString("embedder-url")
	a.config = v
	a.flags.Store, a.flags.Blobs = a.configuredSetting("store"), a.configuredSetting("blobs")
	shared, err := parseSharedData(a.configuredSettingValues(allowSharedData))
	if err != nil {
		return err
	}
	a.flags.AllowSharedData = shared
	a.flags.assessment, a.flags.quiet = v.GetString("assessment"), v.GetBool("quiet")
	a.progress.Quiet = a.flags.quiet
	a.out.Format = v.GetString("output")
	if err := print.CheckFormat(a.out.Format); err != nil {
		if cmd.Annotations[toleratesSettingsErrors] == "" || from["output"] == originFlag {
			return usageError("%w", err)
		}
		a.settingsErr, a.out.Format = errors.Join(a.settingsErr, usageError("%w", err)), ""
	}
	if expr := v.GetString("jq"); expr != "" {
		code, err := print.CompileQuery(expr)
		if err != nil {
			return usageError("%w", err)
		}
		a.out.Query = code
	}
	if isDaemonCommand(cmd) && from["context"] < originEnvironment {
		return nil
	}
	if err := a.chooseTarget(v.GetString("context"), from); err != nil {
		return err
	}
	if a.flags.Server != "" && from["org"] < originEnvironment && a.Env(envAdminOrganization) != "" {
		a.printNotice("service: %s applies only to the organization that a daemon creates; to select an organization for commands, use %s or --org",
			envAdminOrganization, envName("org"))
	}
	return nil
}

// isDaemonCommand reports whether cmd belongs to `daemon`, whose commands ignore the selected context.
func isDaemonCommand(cmd *cobra.Command) bool {
	for c := cmd; c != nil; c = c.Parent() {
		if c.Name() == "daemon" {
			return true
		}
	}
	return false
}

// maxConfigBytes is the maximum size of the configuration file.
const maxConfigBytes = 1 << 20

// readConfigFile reads the configuration file into v. Only an explicitly named file must exist.
func (a *app) readConfigFile(v *viper.Viper, flagPath string) error {
	path, named := a.configFilePath(flagPath)
	if path == "" {
		return nil
	}
	data, err := regularfile.Read(path, maxConfigBytes)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil
	}
	if err != nil {
		return runtimeError("the configuration file %s can't be read: %w", path, errorWithoutPath(err))
	}
	v.SetConfigType("yaml")
	if err := v.ReadConfig(bytes.NewReader(data)); err != nil {
		return usageError("the configuration file %s is not valid YAML: %w", path, err)
	}
	for _, key := range v.AllKeys() {
		var names []string
		for _, s := range settings {
			names = append(names, s.key)
		}
		for _, s := range flaglessSettings {
			names = append(names, s.key)
		}
		for _, s := range daemonSettings {
			names = append(names, s.key)
		}
		if slices.Contains(names, key) {
			continue
		}
		return usageError("the configuration file %s has an unknown key %q%s", path, key, didYouMean(key, names))
	}
	return nil
}

// configFilePath returns the path of the configuration file, or "" if there is no configuration folder, and whether
// the path was set by the flag or SERVICE_CONFIG.
func (a *app) configFilePath(flagPath string) (path string, explicitlyNamed bool) {
	if path = cmp.Or(flagPath, a.Env("SERVICE_CONFIG")); path != "" {
		return path, true
	}
	if dir := a.configDir(); dir != "" {
		path = filepath.Join(dir, "config.yaml")
	}
	return path, false
}

// configDir returns the folder that contains the configuration file and the contexts, or "" if the user has
// no home folder.
func (a *app) configDir() string {
	dir := a.Env("XDG_CONFIG_HOME")
	if home := a.Env("HOME"); !filepath.IsAbs(dir) && home != "" {
		dir = filepath.Join(home, ".config")
	}
	if !filepath.IsAbs(dir) {
		return "" // a relative path would read the configuration of whatever folder the user is in
	}
	return filepath.Join(dir, "service")
}

// suggestedCommandLine returns a command line to suggest to the user. It repeats the flags of this run that
// select the target.
func (a *app) suggestedCommandLine(words string) string {
	out := "service " + words
	for i, g := range a.flags.targetArgs {
		if words == "assess list" && slices.Contains(a.flags.targetArgs[max(0, i-1):i+1], "--assessment") {
			continue // it lists all of them
		}
		out += " " + shellQuote(g)
	}
	return out
}

// shellQuote returns s quoted for a POSIX shell if necessary.
func shellQuote(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@,=+%", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !safe(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
