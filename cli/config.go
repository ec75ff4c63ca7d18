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
)

// flags are the global settings, once flags, environment and file are joined.
type flags struct {
	Target
	assessment string
	quiet      bool
	// targetArgs are the target's flags as they were typed, to be repeated in commands that are proposed.
	targetArgs []string
}

// setting is a key that can come from a flag, a variable or the file.
type setting struct {
	key, short, usage string
	value             any
}

// settings are all there are. The variable of "server" is SERVICE_SERVER.
var settings = []setting{
	{"context", "", "name of the context to use, or local for the data folder", ""},
	{"server", "", "address of the service to use, https://…, instead of a context", ""},
	{"data", "", "folder of the local data, instead of a context", ""},
	{"org", "", "id, slug or name of the organization to act in", ""},
	{"token", "", "API key for the server (better in SERVICE_TOKEN: other users can see flags)", ""},
	{"ca", "", "file of the certificate authority of the server, where it is a private one", ""},
	{"insecure-http", "", "allow http:// to another machine, for everyone on the way to read", false},
	{"assessment", "a", "id or name of the assessment (default: the one used last, or the only one)", ""},
	{"output", "o", "how to print: table, json, yaml or csv", "table"},
	{"jq", "", "print what this jq expression makes of the JSON", ""},
	{"quiet", "q", "leave out progress", false},
}

// flaglessSettings are the settings that come from a variable or the file: they are of the machine,
// not of a command.
var flaglessSettings = []struct{ key, usage string }{
	{"embedder", "ollama/NAME or openai/NAME, beside the built-in one"},
	{"embedder-url", "where that model listens"},
	{"releases-url", "where `service upgrade check` asks for the newest release"},
}

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

// origin is where a setting's value is from; what comes later stands before what comes earlier.
type origin int

const (
	originDefault origin = iota
	originFile
	originContext // the context chosen with `service use`
	originEnvironment
	originFlag
)

// toleratesSettingsErrors is the annotation of commands that find out what is wrong with the settings: they go on
// where these can't be read.
const toleratesSettingsErrors = "mends-settings"

// envName is the name of a setting's variable.
func envName(key string) string {
	return "SERVICE_" + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
}

// configure joins flags, SERVICE_* variables, the context and the configuration file, in that order.
func (a *app) configure(cmd *cobra.Command) error {
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
			v.Set(s.key, fl.Value.String())
			from[s.key] = originFlag
			if slices.Contains([]string{"context", "server", "data", "org", "ca"}, s.key) {
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
	return a.chooseTarget(v.GetString("context"), from)
}

// isDaemonCommand tells whether a command is about the data folder, whatever context was chosen for others.
func isDaemonCommand(cmd *cobra.Command) bool {
	for c := cmd; c != nil; c = c.Parent() {
		if c.Name() == "daemon" {
			return true
		}
	}
	return false
}

// maxConfigBytes bounds the configuration file.
const maxConfigBytes = 1 << 20

// readConfigFile reads the configuration file; one that was not named may be missing.
func (a *app) readConfigFile(v *viper.Viper, flag string) error {
	path, named := a.configFilePath(flag)
	if path == "" {
		return nil
	}
	data, err := readFileLimited(path, maxConfigBytes)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil
	}
	if err != nil {
		return runtimeError("the configuration file %s can't be read: %w", path, errorWithoutPath(err))
	}
	v.SetConfigType("yaml")
	if err := v.ReadConfig(bytes.NewReader(data)); err != nil {
		return usageError("the configuration file %s is no YAML that can be read: %w", path, err)
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
		return usageError("the configuration file %s has a key %q that means nothing%s", path, key, didYouMean(key, names))
	}
	return nil
}

// configFilePath is the configuration file, empty where there can be none; and whether the flag or
// SERVICE_CONFIG named it.
func (a *app) configFilePath(flag string) (path string, named bool) {
	if path = cmp.Or(flag, a.Env("SERVICE_CONFIG")); path != "" {
		return path, true
	}
	if dir := a.configDir(); dir != "" {
		path = filepath.Join(dir, "config.yaml")
	}
	return path, false
}

// configDir is where the configuration and the contexts are; empty where there is no home.
func (a *app) configDir() string {
	dir := a.Env("XDG_CONFIG_HOME")
	if home := a.Env("HOME"); dir == "" && home != "" {
		dir = filepath.Join(home, ".config")
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "service")
}

// commandLine is a command line to propose: with the flags that this one needed to reach its data.
func (a *app) commandLine(words string) string {
	out := "service " + words
	for _, g := range a.flags.targetArgs {
		out += " " + shellQuote(g)
	}
	return out
}

// shellQuote makes a word safe to paste into a shell.
func shellQuote(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@,=+%", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !safe(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
