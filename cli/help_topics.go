package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
)

// helpTopics returns the help pages that are not commands.
func helpTopics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "exit-codes", Short: "What the exit codes mean", Long: `0    success
1    check failed: the result does not meet the criteria
2    usage error: unknown command or flag, or an invalid value
3    runtime error, such as an unreadable file, an unreachable server, or a missing record
4    an approval is missing or no longer valid; a person has to decide first
5    not authorized: no credential, or insufficient permissions
130  interrupted; completed work is kept

Results go to stdout, everything else to stderr.`},
		{Use: "configuration", Short: "Flags, variables and the configuration file", Long: configurationHelp()},
		{Use: "environment", Short: "Environment variables", Long: environmentHelp()},
		{Use: "lifecycle", Short: "The states of an assessment and its four gates", Long: lifecycleHelp()},
	}
}

func configurationHelp() string {
	var b strings.Builder
	b.WriteString(`Settings are read from flags, then SERVICE_* variables, then the context selected with
` + "`service use`" + ` (server, org and credential), then the configuration file
$XDG_CONFIG_HOME/service/config.yaml (~/.config/service/config.yaml), or the file
named by --config or SERVICE_CONFIG. The keys:

`)
	for _, s := range settings {
		fmt.Fprintf(&b, "%-16s %s\n", s.key, s.usage)
	}
	for _, s := range flaglessSettings {
		fmt.Fprintf(&b, "%-16s %s\n", s.key, s.usage)
	}
	b.WriteString("\nKeys for `service daemon`:\n\n")
	for _, s := range daemonSettings {
		fmt.Fprintf(&b, "%-16s %s\n", s.key, formatUsage(s.usage, s.byDefault))
	}
	b.WriteString("\nAn example:\n\n  server: https://grc.acme.example\n  output: json\n")
	return b.String()
}

// environmentVariables lists the variables that the program reads in addition to the settings. The values of secret
// variables are never shown.
var environmentVariables = []struct {
	name, usage string
	secret      bool
}{
	{"SERVICE_CONFIG", "the configuration file", false},
	{"SERVICE_KEYRING", "\"off\" stores secrets in a file instead of the system keyring", false},
	{"SERVICE_EMBEDDER_KEY", "API key for the embedding model, if required", true},
	{"SERVICE_MODEL", "language model for analyses; overrides `service model use`", false},
	{"SERVICE_MODEL_SERVER", "URL of the server that provides the model in SERVICE_MODEL", false},
	{"SERVICE_MODEL_TOKEN", "token for the model's server, if required", true},
	{"SERVICE_MODEL_TIMEOUT", "time limit for an answer from the model (default 2m)", false},
	{"SERVICE_OCR", "OCR languages, such as eng+deu; \"off\" disables OCR", false},
	{"SERVICE_REPORT_FONT", "TrueType font for characters missing from the PDF report fonts", false},
	{"SERVICE_SECRET_KEY", "32-byte encryption key in base64, or NEW,OLD for a rotation", true},
	{"SERVICE_WEBHOOK_ALLOW", "private networks to which webhooks may be sent, such as 10.0.0.0/8,127.0.0.1", false},
	{envAdminOrganization, "name of the organization that the daemon creates for the first admin", false},
	{"SERVICE_ADMIN_EMAIL", "email address of the first admin, which the daemon creates if no admin exists", false},
	{"SERVICE_ADMIN_PASSWORD", "password of the first admin", true},
	{"SERVICE_ADMIN_PASSWORD_FILE", "file that contains the first admin's password", false},
	{"SERVICE_SMTP_URL", "mail server: smtp://USER@HOST:587 (STARTTLS) or smtps://USER@HOST:465", true},
	{"SERVICE_SMTP_FROM", "sender address of emails, such as \"Acme GRC <grc@acme.example>\"", false},
	{"SERVICE_SMTP_PASSWORD", "password for the mail server", true},
	{"SERVICE_SMTP_PASSWORD_FILE", "file that contains the mail server password", false},
	{"SERVICE_LOG", "log level on stderr: debug, info, warn or error", false},
	{"NO_COLOR", "any value turns off colors", false},
	{"COLUMNS", "width of tables written to files and pipes (default: 100)", false},
	{"XDG_CONFIG_HOME", "where the configuration file and the contexts are stored", false},
	{"XDG_DATA_HOME", "where the data folder is stored", false},
	{"XDG_STATE_HOME", "where the most recently used assessment is recorded", false},
	{"XDG_CACHE_HOME", "where caches are stored", false},
}

func environmentHelp() string {
	var b strings.Builder
	for _, s := range settings {
		fmt.Fprintf(&b, "%-27s same as --%s\n", envName(s.key), s.key)
	}
	for _, s := range flaglessSettings {
		fmt.Fprintf(&b, "%-27s %s\n", envName(s.key), s.usage)
	}
	for _, s := range daemonSettings {
		fmt.Fprintf(&b, "%-27s same as the daemon's --%s\n", envName(s.key), s.key)
	}
	for _, v := range environmentVariables {
		fmt.Fprintf(&b, "%-27s %s\n", v.name, v.usage)
	}
	return b.String()
}

func lifecycleHelp() string {
	var b strings.Builder
	b.WriteString(
		"An assessment moves forward through 22 states, one at a time. At a gate, a person\n" +
			"has to approve the draft; a rejection returns the assessment to the state before the review.\n\n",
	)
	for i, s := range api.States() {
		m, _ := s.NextMove()
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
