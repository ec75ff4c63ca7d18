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

// Places are where things are on this machine.
type Places struct {
	// Data is the data folder, Database the file in it that is there once it was used.
	Data, Database string
	Socket         string
	State, Cache   string
}

func (a *app) configCommand() *cobra.Command {
	return group(&cobra.Command{Use: "config", Short: "See the settings, where each is from, and where files are",
		Long: `Settings come from flags, SERVICE_* variables, the context in use and the configuration
file, in that order; ` + "`service help configuration`" + ` lists them. The file is yours to write.`,
		Example: "  service config show --origin\n  service config path"}, a.configShow(), a.configPath())
}

// effective is a setting as commands take it.
type effective struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	// Set: somebody said it. Where it is false, Value is the default.
	Set bool `json:"set"`
	// Origin is flag, environment, context, file or default; Source names it more closely.
	Origin string `json:"origin"`
	Source string `json:"source"`
}

const hiddenValue = "(set, not shown)"

// secretSettings are shown as being set, and no more.
var secretSettings = map[string]bool{"token": true}

func (a *app) configShow() *cobra.Command {
	var origin, all bool
	cmd := &cobra.Command{
		Use: "show", Short: "Show every setting, with --origin where it is from", Args: takes(0, 0),
		Long: `Shows every setting as commands take it. With --origin also where each is from: a flag,
a variable, the context in use, the configuration file, or the default. Secrets are told
to be set and never shown. Variables that are no setting are listed where they are set,
with --all also where they are not.`,
		Example: "  service config show --origin\n  service config show -o json --jq '.data[] | select(.origin != \"default\")'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.lost != nil {
				a.say("service: %s", a.lost.Error())
			}
			var out struct {
				Data []effective `json:"data"`
			}
			out.Data = a.settings(cmd, all)
			return a.out.Print(out, func(p *print.Page) {
				columns := []print.Column{{Title: "setting", Keep: true}, {Title: "value", Wrap: true}}
				if origin {
					columns = append(columns, print.Column{Title: "origin", Keep: true}, print.Column{Title: "source"})
				}
				var rows [][]string
				for _, s := range out.Data {
					rows = append(rows, []string{s.Key, s.Value, s.Origin, s.Source})
				}
				p.Table(columns, rows)
			})
		},
	}
	cmd.Flags().BoolVar(&origin, "origin", false, "tell where each value is from")
	cmd.Flags().BoolVar(&all, "all", false, "list variables that are not set, too")
	return cmd
}

// settings are all there are, in the order of help.
func (a *app) settings(cmd *cobra.Command, all bool) (out []effective) {
	pf := cmd.Root().PersistentFlags()
	file, _ := a.configFile(pf.Lookup("config").Value.String())
	add := func(key, value string, from origin, source string) {
		if secretSettings[key] && value != "" {
			value = hiddenValue
		}
		e := effective{Key: key, Value: withoutPassword(value), Set: from != saidNowhere, Origin: originNames[from], Source: source}
		switch from {
		case saidInFile:
			e.Source = file
		case saidInVariable:
			e.Source = variable(key)
		case saidInFlag:
			e.Source = "--" + key
		}
		out = append(out, e)
	}
	for _, s := range settings {
		value, from, source := a.config.GetString(s.key), a.from[s.key], ""
		if v, chosen := a.byContext(s.key); chosen {
			value, from, source = v, saidByChoice, a.context.Name
		}
		if s.key == "data" && value == "" && a.Places != nil {
			value = a.Places("").Data
		}
		add(s.key, value, from, source)
	}
	for _, s := range unflagged {
		value := a.config.GetString(s.key)
		if s.key == "releases-url" && value == "" {
			value = a.Releases.URL
		}
		add(s.key, value, a.from[s.key], "")
	}
	for _, s := range daemonSettings {
		value, from := s.byDefault, saidNowhere
		if given := a.daemonSetting(cmd, s.key); len(given) > 0 {
			value, from = strings.Join(given, ", "), saidInFile
			if a.Env(variable(s.key)) != "" {
				from = saidInVariable
			}
		}
		add(s.key, value, from, "")
	}
	for _, v := range variables {
		value := a.Env(v.name)
		switch {
		case value == "" && !all:
			continue
		case value == "":
			out = append(out, effective{Key: v.name, Origin: originNames[saidNowhere]})
			continue
		case v.secret:
			value = hiddenValue
		}
		out = append(out, effective{Key: v.name, Value: withoutPassword(value), Set: true, Origin: originNames[saidInVariable], Source: v.name})
	}
	return out
}

var originNames = map[origin]string{saidNowhere: "default", saidInFile: "file", saidByChoice: "context", saidInVariable: "environment", saidInFlag: "flag"}

// byContext is what the context in use says of a setting, where that counts.
func (a *app) byContext(key string) (string, bool) {
	c := a.context
	if c == nil {
		return "", false
	}
	switch key {
	case "context":
		return c.Name, a.from[key] < saidByChoice
	case "server":
		return c.Server, true
	case "org":
		return a.flags.Organization, a.flags.Organization != "" && a.from[key] < saidInVariable
	case "token":
		return hiddenValue, c.SignedIn() && a.from[key] < saidInVariable
	case "ca":
		return c.CA, c.CA != "" && a.from[key] < saidInVariable
	case "insecure-http":
		return "true", c.InsecureHTTP && a.from[key] < saidInVariable
	}
	return "", false
}

// withoutPassword takes the password out of an address that has one.
func withoutPassword(value string) string {
	if !strings.Contains(value, "@") {
		return value
	}
	u, err := url.Parse(value)
	if err != nil && strings.Contains(value, "://") {
		return hiddenValue // it can't be told what of it is a secret
	}
	if err != nil || u.User == nil {
		return value
	}
	return u.Redacted()
}

// location is a file or folder with what it is for.
type location struct {
	What   string `json:"what"`
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
}

func (a *app) configPath() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "path", Short: "Print where the configuration file is, with --all all else", Args: takes(0, 0),
		Long: `Prints the path of the configuration file, whether it is there or not. With --all, or as
a record, also where the contexts, their secrets, the data, the socket, what is remembered
and what is cached are.`,
		Example:     "  service config path\n  service config path --all\n  $EDITOR \"$(service config path)\"",
		Annotations: map[string]string{mends: "yes"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			file, _ := a.configFile(cmd.Root().PersistentFlags().Lookup("config").Value.String())
			if file == "" {
				return advise(stopped("there is no folder for the configuration"), "set HOME or XDG_CONFIG_HOME, or name a file with --config")
			}
			var out struct {
				Data []location `json:"data"`
			}
			for _, l := range a.locations(file) {
				if l.Path == "" {
					continue
				}
				_, err := os.Lstat(l.Path)
				l.Exists = !errors.Is(err, fs.ErrNotExist)
				out.Data = append(out.Data, l)
			}
			return a.out.Print(out, func(p *print.Page) {
				if !all {
					p.Raw(file)
					return
				}
				var rows [][]string
				for _, l := range out.Data {
					rows = append(rows, []string{l.What, l.Path, yes(l.Exists)})
				}
				p.Table([]print.Column{{Title: "what", Keep: true}, {Title: "path", Keep: true}, {Title: "there", Keep: true}}, rows)
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "tell where everything else is, too")
	return cmd
}

func (a *app) locations(file string) []location {
	out := []location{{What: "configuration", Path: file}}
	if dir := a.configDir(); dir != "" {
		out = append(out, location{What: "contexts", Path: a.book().Path()}, location{What: "secrets of contexts", Path: filepath.Join(dir, "secrets")})
	}
	if a.Places == nil {
		return out
	}
	at := a.Places(a.flags.Data)
	return append(out, location{What: "data", Path: at.Data}, location{What: "socket", Path: at.Socket},
		location{What: "state", Path: at.State}, location{What: "cache", Path: at.Cache})
}
