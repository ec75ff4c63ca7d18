package analysis

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

// severityLevels lists the severities, lowest first.
var severityLevels = []string{"low", "medium", "high", "critical"}

// attack is a sign of an incident in one line, with its severity if the attack was only attempted
// and if it succeeded.
type attack struct {
	vector                           string
	pattern                          *pattern
	attemptSeverity, successSeverity int      // indexes of severityLevels
	successPattern                   *pattern // shows in the same line that it succeeded; nil if the sign itself is proof
}

var successResponse = compileIgnoringCase(`HTTP/\d(?:\.\d)?"? 2\d\d\b|" 2\d\d \d|responseStatus=2\d\d|\b(?:succeeded|success)\b`)

var attacks = []attack{
	{
		"ransomware",
		compileIgnoringCase(`ransom\w*|files? (?:renamed|encrypted)|vssadmin(?:\.exe)? delete shadows|\.lockd\b|wbadmin delete`),
		3,
		3,
		nil,
	},
	{
		"credential_theft",
		compileIgnoringCase(`mimikatz|sekurlsa|lsass\.exe.{0,40}dump|procdump.{0,40}lsass|dcsync|kerberoast|ntds\.dit`),
		3,
		3,
		nil,
	},
	{
		"remote_code_execution",
		compileIgnoringCase(`\$\{jndi:|\bcmd\.jsp\b|/bin/(?:ba)?sh -i|;\s*(?:wget|curl)\s+http|shellshock|\(\)\s*\{\s*:;`),
		1,
		3,
		compileIgnoringCase(`HTTP/\d(?:\.\d)?"? 2\d\d\b|" 2\d\d \d|outbound connection|reverse shell`),
	},
	{
		"sql_injection",
		compileIgnoringCase(`union\s+(?:all\s+)?select|'\s*or\s+'?1'?\s*=\s*'?1|sleep\(\d+\)|information_schema|;\s*drop\s+table`),
		1,
		2,
		successResponse,
	},
	{"cross_site_scripting", compileIgnoringCase(`<script|document\.cookie|javascript:|onerror\s*=`), 1, 2, successResponse},
	{"path_traversal", compileIgnoringCase(`\.\./\.\./|/etc/passwd|/\.env\b|/\.git/config|\bwp-config\.php`), 1, 2, successResponse},
	{
		"malware",
		compileIgnoringCase(
			`powershell.{0,80}-e(?:nc|ncodedcommand)?\b\s+[a-z0-9+/=]{12,}|trojan|backdoor|malware|virus|worm\.|cobalt ?strike|\bloader\b`,
		),
		2,
		2,
		nil,
	},
	{"command_and_control", compileIgnoringCase(`\bc2\b|beacon|command.and.control|dns tunnel`), 2, 2, nil},
	{
		"denial_of_service",
		compileIgnoringCase(`flood detected|\bd?dos attack|syn flood|\d(?:\.\d)?\s*m pps|amplification`),
		1,
		2,
		compileIgnoringCase(`unavailable|packet loss|outage|timed? ?out|down`),
	},
	{
		"privilege_escalation",
		compileIgnoringCase(
			`eventid=1102|audit log was cleared|added to a security-enabled .{0,30}group|sudo: .{0,60}command=.{0,40}/etc/shadow|system:anonymous.{0,60}verb=(?:create|delete|patch)|pods/exec`,
		),
		2,
		3,
		compileIgnoringCase(`system:anonymous.{0,200}responseStatus=2`),
	},
	{"account_compromise", compileIgnoringCase(`impossible travel|"stoplogging"|"deletetrail"|mfa fatigue`), 2, 2, nil},
	{
		"data_exposure",
		compileIgnoringCase(`"principal"\s*:\s*"\*"|anonymous_principal|paste site|publicly readable|found on a (?:forum|leak)|leaked?\b`),
		2,
		3,
		compileIgnoringCase(`getobject|records|export|found on`),
	},
	{
		"data_exfiltration",
		compileIgnoringCase(`(?:uploaded?|sent|copied).{0,120}(?:records|export|customers?_)|exfiltrat\w+|personal (?:drive|mailbox)`),
		2,
		2,
		nil,
	},
	{
		"phishing",
		compileIgnoringCase(`phish\w*|credential harvest|spoofed (?:mail|sender)`),
		0,
		2,
		compileIgnoringCase(`entered credentials|clicked|opened the attachment|sign-in .{0,80}succeeded`),
	},
}

var (
	failedLogin = compileIgnoringCase(
		`failed password|authentication fail|eventid=4625|login failed|failed login|invalid credentials|access denied for user|logon failure`,
	)
	successfulLogin = compileIgnoringCase(
		`accepted (?:password|publickey)|eventid=4624|login succeeded|successful (?:vpn )?login|login success`,
	)
	loginUser        = compileIgnoringCase(`(?:invalid user |for user '?|for |targetusername=|user=)([a-z0-9_.\\-]+)`)
	ipAddressPattern = compilePattern(`\b(?:\d{1,3}\.){3}\d{1,3}\b`)
	containedPattern = compileIgnoringCase(
		`action=(?:quarantined|blocked|cleaned)|verdict=(?:quarantined|blocked|clean)|\bblocked\b|none delivered`,
	)
	testFilePattern = compileIgnoringCase(`eicar`)
	authorizedTest  = compileIgnoringCase(`authori[sz]ed.{0,40}(?:scan|test|pentest).{0,80}\bchg-?\d+`)
	cloudRoot       = compileIgnoringCase(`"type"\s*:\s*"root"`)
	personalData    = compileIgnoringCase(
		`customers?\b|patients?|personal data|e-?mail addresses|date of birth|health data|records \(|staff records|users--|from\s+users|customer-|credentials|passport|ssn\b|\d[\d,]{2,} (?:records|names|files)`,
	)
	hostPattern = compileIgnoringCase(
		`(?:\bhost=|\bcomputer=|\bpod=|"bucketname"\s*:\s*"|\bhostname=)"?([a-z0-9_.-]+)|^\w{3} [ \d]\d \d\d:\d\d:\d\d ([a-z0-9_.-]+) `,
	)
	userPattern = compileIgnoringCase(`\b(?:user|targetusername|subjectusername)=([a-z0-9_.\\@-]+)`)
)

// minFailedLogins is the number of failed logins from one source that can't be explained by typing
// errors.
const minFailedLogins = 4

// triage is the intermediate result of a triage.
type triage struct {
	severity  int
	vector    string
	hasAttack bool
	signs     Indicators
}

// recordAttack records an attack. The most severe one determines the vector.
func (t *triage) recordAttack(severity int, vector string) {
	if !t.hasAttack || severity > t.severity {
		t.severity, t.vector = severity, vector
	}
	t.hasAttack = true
}

// TriageIncident determines whether log lines show a real incident: what was attempted and, above
// all, whether it succeeded.
func TriageIncident(_ context.Context, module, logs string) (result *api.IncidentTriage, indicators Indicators) {
	logs = truncateToValidUTF8(logs)
	lines := strings.Split(logs, "\n")
	t := &triage{}
	authorized := authorizedTest.MatchString(logs)
	for _, line := range lines {
		t.scanLineForAttacks(line, authorized)
	}
	intruder := t.scanLoginsForIntruder(lines)
	t.scanCloudRootActivity(logs)

	out := &api.IncidentTriage{
		AnalysisMetadata:         newAnalysisMetadata(),
		IsFalsePositive:          !t.hasAttack,
		SeverityLevel:            severityLevels[t.severity],
		AttackVectorGuessed:      t.vector,
		AffectedAssetsIdentified: affectedAssets(module, lines),
	}
	if !t.hasAttack {
		out.AttackVectorGuessed = "none"
		t.signs.add("nothing", fmt.Sprintf("%d lines", len(lines)), "no sign of an attack")
	}
	switch t.vector {
	case "ransomware", "data_exposure", "data_exfiltration":
		out.RequiresDPOBreachNotification = personalData.MatchString(logs) && t.severity >= 2
	case "sql_injection", "phishing", "path_traversal":
		out.RequiresDPOBreachNotification = t.severity >= 2 && personalData.MatchString(logs)
	}
	if out.RequiresDPOBreachNotification {
		t.signs.add(
			"personal_data",
			personalData.FindString(logs),
			"personal data may be affected: the data protection officer must decide whether to give notice within "+
				"72 hours",
		)
	}
	out.ImmediateContainmentActions = containmentActions(t, intruder, out)
	return out, t.signs
}

func truncateToValidUTF8(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	return strings.ToValidUTF8(s, " ")
}

// scanLineForAttacks looks for signs of attacks in one line, including URL-encoded ones.
func (t *triage) scanLineForAttacks(raw string, authorized bool) {
	line := raw
	if un, err := url.QueryUnescape(raw); err == nil {
		line = raw + " " + un
	}
	if testFilePattern.MatchString(line) {
		t.signs.add("test_file", raw, "this is the standard antivirus test file, not an attack")
		return
	}
	for _, a := range attacks {
		m := a.pattern.FindString(line)
		if m == "" {
			continue
		}
		severity, how := a.attemptSeverity, "attempted"
		if a.successPattern == nil || a.successPattern.MatchString(line) {
			severity, how = a.successSeverity, "succeeded"
		}
		switch {
		case authorized && severity == a.attemptSeverity && a.successPattern != nil:
			t.signs.add("authorised_test", m, "an unsuccessful attempt that was part of an announced test")
			continue
		case containedPattern.MatchString(line) && severity > 0 && a.vector != "data_exfiltration" && a.vector != "ransomware":
			severity--
			how = "blocked"
		case containedPattern.MatchString(line) && a.vector == "phishing":
			how = "blocked"
		}
		t.signs.add(a.vector, m, how+": "+severityLevels[severity])
		t.recordAttack(severity, a.vector)
	}
}

// scanLoginsForIntruder counts failed logins by source and looks for a successful login after them. It
// returns the source of such a login, or "" if there is none.
func (t *triage) scanLoginsForIntruder(lines []string) (intruder string) {
	failed, users := map[string]int{}, map[string]map[string]bool{}
	for _, line := range lines {
		who := ipAddressPattern.FindString(line)
		if m := loginUser.FindStringSubmatch(line); m != nil && who == "" {
			who = m[1]
		}
		switch {
		case failedLogin.MatchString(line):
			failed[who]++
			if m := loginUser.FindStringSubmatch(line); m != nil {
				if users[who] == nil {
					users[who] = map[string]bool{}
				}
				users[who][m[1]] = true
			}
		case successfulLogin.MatchString(line) && failed[who] >= minFailedLogins:
			t.signs.add("login_after_failures", line, fmt.Sprintf("%s logged in after %d failed attempts", who, failed[who]))
			t.recordAttack(3, "brute_force")
			intruder = who
		}
	}
	for _, who := range sortedKeys(failed) {
		if failed[who] >= minFailedLogins {
			t.signs.add(
				"failed_logins",
				fmt.Sprintf("%d from %s on %d accounts", failed[who], who, len(users[who])),
				"password guessing: medium",
			)
			t.recordAttack(1, "brute_force")
		}
	}
	return intruder
}

// scanCloudRootActivity checks the activity of a cloud root account.
func (t *triage) scanCloudRootActivity(logs string) {
	if !cloudRoot.MatchString(logs) {
		return
	}
	severity := 1
	if compileIgnoringCase(`"mfaused"\s*:\s*"no"`).MatchString(logs) {
		severity = 2
	}
	if compileIgnoringCase(`"stoplogging"|"deletetrail"|"createaccesskey"`).MatchString(logs) {
		severity = 3
	}
	t.signs.add("root_account", "root", "the root account was used: "+severityLevels[severity])
	t.recordAttack(severity, "account_compromise")
}

// affectedAssets returns the assets named in the log: the module, hosts, accounts and internal
// addresses.
func affectedAssets(module string, lines []string) []string {
	out := []string{strings.TrimSpace(module)}
	for _, line := range lines {
		for _, m := range hostPattern.FindAllStringSubmatch(line, -1) {
			out = append(out, m[1]+m[2])
		}
		for _, m := range userPattern.FindAllStringSubmatch(line, -1) {
			out = append(out, "account "+m[1])
		}
		for _, a := range ipAddressPattern.FindAllString(line, -1) {
			if ip, err := netip.ParseAddr(a); err == nil && ip.IsPrivate() {
				out = append(out, a)
			}
		}
	}
	return firstUnique(out, 25)
}

func containmentActions(t *triage, intruder string, result *api.IncidentTriage) []string {
	if !t.hasAttack {
		return []string{}
	}
	var do []string
	add := func(format string, a ...any) { do = append(do, fmt.Sprintf(format, a...)) }
	where := strings.Join(result.AffectedAssetsIdentified[:min(3, len(result.AffectedAssetsIdentified))], ", ")
	if where == "" {
		where = "the system"
	}
	sources := firstUnique(externalAddressesInSigns(t), 5)
	switch t.vector {
	case "brute_force", "account_compromise", "credential_theft", "phishing":
		if t.severity >= 2 {
			add("End all sessions of the affected accounts on %s and reset their credentials.", where)
			add("Enable multi-factor authentication for the affected accounts before they are used again.")
		} else {
			add("Limit login attempts on %s and watch for a successful login.", where)
		}
	case "ransomware", "malware", "command_and_control", "remote_code_execution":
		add("Disconnect %s from the network but leave it powered on to preserve memory for forensics.", where)
		add("Search all other hosts for the same indicators.")
		if t.vector == "ransomware" {
			add("Disconnect the backups and verify their integrity before restoring anything.")
		}
	case "sql_injection", "cross_site_scripting", "path_traversal":
		add("Block the requests at the web application firewall in front of %s.", where)
		if t.severity >= 2 {
			add("Determine from response sizes and database logs what was read, and fix the vulnerable parameter.")
		}
	case "data_exposure", "data_exfiltration":
		add("Block access to the data on %s, and ask recipients to delete any data that was exfiltrated.", where)
		add("List which records were accessible, since when, and who accessed them.")
	case "denial_of_service":
		add("Ask your provider to filter the traffic to %s.", where)
	case "privilege_escalation":
		add("Revoke the privileges gained on %s and review what was done with them.", where)
	}
	if intruder != "" {
		add("Treat everything %s has done since the login as hostile.", intruder)
	} else if len(sources) > 0 && t.severity <= 2 {
		add("Block %s.", strings.Join(sources, ", "))
	}
	add("Preserve copies of the logs and record the time of each step.")
	if result.RequiresDPOBreachNotification {
		add("Inform the data protection officer now: a notification may be due within 72 hours of becoming aware.")
	}
	return do
}

// externalAddressesInSigns returns the addresses outside private networks that occur in the
// indicators found so far.
func externalAddressesInSigns(t *triage) []string {
	var out []string
	for _, s := range t.signs {
		for _, a := range ipAddressPattern.FindAllString(s.Found, -1) {
			if ip, err := netip.ParseAddr(a); err == nil && !ip.IsPrivate() {
				out = append(out, a)
			}
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
