package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
)

// helpTopics are pages of help that are no commands.
func helpTopics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "exit-codes", Short: "What the exit codes mean", Long: `0    fine
1    a verdict failed: what was checked is not as it should be
2    usage: no such command or flag, or a value that can't be right
3    something went wrong while running: a file, a server, a record that is not there
4    an approval is missing or void: a person has to decide first
5    not authorised: no credential, or one that may not do this
130  interrupted; what was finished is kept

Results go to stdout, everything else to stderr.`},
		{Use: "configuration", Short: "Flags, variables and the configuration file", Long: configurationText()},
		{Use: "environment", Short: "The variables that are read", Long: environmentText()},
		{Use: "lifecycle", Short: "The states of an assessment and its four gates", Long: lifecycleText()},
	}
}

func configurationText() string {
	var b strings.Builder
	b.WriteString(`A setting is looked for in the flags, then in the SERVICE_* variables, then in the
context that ` + "`service use`" + ` chose (server, org and credential), then in the file
$XDG_CONFIG_HOME/service/config.yaml (~/.config/service/config.yaml), or the one
that --config or SERVICE_CONFIG names. The keys:

`)
	for _, s := range settings {
		fmt.Fprintf(&b, "%-16s %s\n", s.key, s.usage)
	}
	for _, s := range flaglessSettings {
		fmt.Fprintf(&b, "%-16s %s\n", s.key, s.usage)
	}
	b.WriteString("\nThose of `service daemon`:\n\n")
	for _, s := range daemonSettings {
		fmt.Fprintf(&b, "%-16s %s\n", s.key, formatUsage(s.usage, s.byDefault))
	}
	b.WriteString("\nAn example:\n\n  server: https://grc.acme.example\n  output: json\n")
	return b.String()
}

// environmentVariables are what is read besides the settings. A secret is never shown.
var environmentVariables = []struct {
	name, usage string
	secret      bool
}{
	{"SERVICE_CONFIG", "the configuration file", false},
	{"SERVICE_KEYRING", "off: keep secrets in a file of your own, not in the system's keyring", false},
	{"SERVICE_EMBEDDER_KEY", "the key of the embedding model, where it wants one", true},
	{"SERVICE_MODEL", "the model for analyses, in place of the one of `model use`", false},
	{"SERVICE_MODEL_SERVER", "where that model listens", false},
	{"SERVICE_MODEL_TOKEN", "its token, where it wants one", true},
	{"SERVICE_MODEL_TIMEOUT", "how long it may take for an answer (default 2m)", false},
	{"SERVICE_OCR", "languages of pictures and scans, as eng+deu; off: don't read them", false},
	{"SERVICE_REPORT_FONT", "a TrueType font for PDF reports, for characters that their fonts lack", false},
	{"SERVICE_SECRET_KEY", "32 bytes in base64 that seal secrets, or NEW,OLD (default: in the data folder)", true},
	{"SERVICE_WEBHOOK_ALLOW", "private networks that may be reached, as 10.0.0.0/8,127.0.0.1", false},
	{"SERVICE_ADMIN_EMAIL", "the daemon makes this person the first admin, where there is none", false},
	{"SERVICE_ADMIN_PASSWORD", "their password", true},
	{"SERVICE_ADMIN_PASSWORD_FILE", "a file that holds it", false},
	{"SERVICE_SMTP_URL", "the mail server: smtp://USER@HOST:587 (STARTTLS) or smtps://USER@HOST:465", true},
	{"SERVICE_SMTP_FROM", "whom mails are from, as \"Acme GRC <grc@acme.example>\"", false},
	{"SERVICE_SMTP_PASSWORD", "the user's password", true},
	{"SERVICE_SMTP_PASSWORD_FILE", "a file that holds it", false},
	{"SERVICE_LOG", "what is logged on stderr: debug, info, warn or error", false},
	{"NO_COLOR", "any value: no colours", false},
	{"XDG_CONFIG_HOME", "where the configuration file and the contexts are", false},
	{"XDG_DATA_HOME", "where the data folder is", false},
	{"XDG_STATE_HOME", "where the assessment used last is remembered", false},
	{"XDG_CACHE_HOME", "where the PDF reader is kept once compiled, and what was learned and checked", false},
}

func environmentText() string {
	var b strings.Builder
	for _, s := range settings {
		fmt.Fprintf(&b, "%-27s as --%s\n", envName(s.key), s.key)
	}
	for _, s := range flaglessSettings {
		fmt.Fprintf(&b, "%-27s %s\n", envName(s.key), s.usage)
	}
	for _, s := range daemonSettings {
		fmt.Fprintf(&b, "%-27s as --%s of the daemon\n", envName(s.key), s.key)
	}
	for _, v := range environmentVariables {
		fmt.Fprintf(&b, "%-27s %s\n", v.name, v.usage)
	}
	b.WriteString("SERVICE_ORG                 for the daemon: the name of the first admin's organization\n")
	return b.String()
}

func lifecycleText() string {
	var b strings.Builder
	b.WriteString(
		"An assessment moves forward through 22 states, one at a time. At a gate, a person\nhas to approve; a rejection moves it back to the draft.\n\n",
	)
	for i, s := range api.States() {
		m, _ := s.Next()
		fmt.Fprintf(&b, "%2d  %s\n", i+1, s)
		switch {
		case m.Gate != "":
			fmt.Fprintf(&b, "      GATE: %s\n", m.Work)
		case m.Work != "":
			fmt.Fprintf(&b, "      %s\n", m.Work)
		}
	}
	return b.String()
}
