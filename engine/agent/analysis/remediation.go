package analysis

import (
	"context"
	"fmt"
	"strings"

	"github.com/scf-service/service/api"
)

// recommendation describes how to close one kind of gap.
type recommendation struct {
	name        string
	pattern     *pattern
	weight      int // 1: paperwork, 2: process, 3: protection, 4: exposed to the internet
	days        int
	actions     []string
	commands    map[string]string // by platform; the first that the architecture names is used
	controlCode string
}

var recommendations = []recommendation{
	{
		"public access",
		compileIgnoringCase(`public access`),
		4,
		2,
		[]string{"Block public access to every storage bucket and list what was exposed"},
		map[string]string{
			"aws": "aws s3api put-public-access-block --bucket BUCKET --public-access-block-configuration " +
				"BlockPublicAcls=true,IgnorePublicAcls=true,BlockPublicPolicy=true,RestrictPublicBuckets=true # aws s3",
			"gcp": "gcloud storage buckets update gs://BUCKET --public-access-prevention",
		},
		"CLD-02",
	},
	{
		"multi-factor authentication",
		compileIgnoringCase(`multi-?factor|mfa\b|second factor`),
		3,
		5,
		[]string{"Enforce multi-factor authentication, starting with administrators, and block logins without it"},
		map[string]string{
			"aws":   "aws iam list-virtual-mfa-devices --assignment-status Unassigned",
			"azure": "az rest --method get --url https://graph.microsoft.com/v1.0/identity/conditionalAccess/policies",
			"gcp":   "gcloud organizations get-iam-policy ORGANIZATION",
		},
		"IAC-06",
	},
	{
		"disk encryption",
		compileIgnoringCase(`(?:disk|laptops?|device).{0,20}encrypt|encrypt\w*.{0,20}(?:laptops?|disks?|devices?)`),
		3,
		5,
		[]string{"Encrypt the disks of all devices by policy and keep the recovery keys centrally"},
		map[string]string{
			"windows": "Enable-BitLocker -MountPoint C: -EncryptionMethod XtsAes256 -UsedSpaceOnly -TpmProtector",
			"linux":   "cryptsetup luksDump /dev/DEVICE",
		},
		"MDM-03",
	},
	{
		"encryption",
		compileIgnoringCase(`encrypt\w*`),
		3,
		5,
		[]string{"Encrypt data at rest with keys from a key management service, and migrate existing data to encrypted storage"},
		map[string]string{
			"aws": "aws rds create-db-snapshot --db-instance-identifier DB --db-snapshot-identifier DB-plain && aws rds " +
				"copy-db-snapshot --kms-key-id KEY --source-db-snapshot-identifier DB-plain --target-db-snapshot-identifier DB-encrypted",
			"gcp":   "gcloud kms keys create KEY --keyring RING --location REGION --purpose encryption",
			"azure": "az disk-encryption-set create --name SET --resource-group GROUP --key-url URL",
			"linux": "cryptsetup luksFormat /dev/DEVICE",
		},
		"CRY-05",
	},
	{
		"restore test",
		compileIgnoringCase(`restore`),
		2,
		3,
		[]string{"Restore a backup to an isolated environment, measure how long it takes, and repeat quarterly"},
		map[string]string{
			"restic": "restic restore latest --target /srv/restore-test && restic check --read-data-subset=5%",
			"aws":    "aws backup start-restore-job --recovery-point-arn ARN --metadata file://restore.json --iam-role-arn ROLE",
		},
		"BCD-11.1",
	},
	{
		"backups",
		compileIgnoringCase(`backups?`),
		3,
		5,
		[]string{"Set up daily backups, encrypted and separate from the systems they cover"},
		map[string]string{
			"gcp":   "gcloud sql instances patch INSTANCE --backup-start-time=02:00 --enable-point-in-time-recovery",
			"aws":   "aws backup create-backup-plan --backup-plan file://plan.json",
			"linux": "restic -r REPOSITORY backup /srv",
		},
		"BCD-11",
	},
	{
		"logs",
		compileIgnoringCase(`\blogs?\b|logging|audit trail|12 months retention`),
		2,
		5,
		[]string{"Send audit and security logs to a central system, set their retention, and alert when they stop"},
		map[string]string{
			"kubernetes": "kubectl -n logging get daemonset",
			"gcp":        "gcloud logging sinks create central storage.googleapis.com/BUCKET --log-filter='logName:cloudaudit.googleapis.com'",
			"aws":        "aws cloudtrail create-trail --name org-trail --s3-bucket-name BUCKET --is-multi-region-trail",
			"azure": "az monitor diagnostic-settings create --name central --resource RESOURCE --workspace WORKSPACE --logs " +
				"'[{\"category\":\"Administrative\",\"enabled\":true}]'",
			"linux": "systemctl enable --now rsyslog",
		},
		"MON-02",
	},
	{
		"leavers",
		compileIgnoringCase(`leavers?|offboard`),
		3,
		4,
		[]string{"Disable accounts on the last working day, based on an HR feed, and remove the access of former employees now"},
		map[string]string{
			"windows": "Search-ADAccount -AccountInactive -TimeSpan 30.00:00:00 -UsersOnly | Disable-ADAccount",
			"azure":   "az ad user list --filter 'accountEnabled eq true'",
		},
		"HRS-09",
	},
	{
		"secrets",
		compileIgnoringCase(`secrets?|credentials? (?:kept|in)|hard-coded`),
		3,
		4,
		[]string{"Move each secret to a vault, rotate it, and scan the repository history"},
		map[string]string{"kubernetes": "kubectl get secrets --all-namespaces", "git": "git log -p -S 'password' --all"},
		"CRY-09",
	},
	{
		"access review",
		compileIgnoringCase(`access review|recertif|review of (?:access|rights)`),
		2,
		4,
		[]string{"Have system owners review all access rights immediately and then every quarter, and record which rights were removed"},
		map[string]string{
			"azure": "az role assignment list --all --output table",
			"aws":   "aws iam generate-credential-report",
			"gcp":   "gcloud projects get-iam-policy PROJECT",
		},
		"IAC-17",
	},
	{
		"training",
		compileIgnoringCase(`training|awareness`),
		1,
		4,
		[]string{"Assign the annual training to everyone and send reminders until everyone has completed it"},
		nil,
		"SAT-02",
	},
	{
		"patches",
		compileIgnoringCase(`patch\w*`),
		3,
		4,
		[]string{"Install overdue critical patches, then patch on a schedule and alert on missed deadlines"},
		map[string]string{
			"ansible": "ansible all -b -m ansible.builtin.apt -a 'upgrade=dist update_cache=yes'",
			"linux":   "apt-get update && apt-get -y upgrade",
			"windows": "Get-WindowsUpdate -Severity Critical",
		},
		"VPM-05",
	},
	{
		"incident plan",
		compileIgnoringCase(`incident`),
		2,
		6,
		[]string{"Write the incident response plan, including roles, severity levels, contacts and reporting deadlines"},
		nil,
		"IRO-04",
	},
	{
		"exercise",
		compileIgnoringCase(`exercise|tabletop|drill`),
		2,
		2,
		[]string{"Run an exercise based on a likely scenario and record the improvements needed"},
		nil,
		"IRO-06",
	},
	{
		"tls",
		compileIgnoringCase(`\btls\b|transport encryption`),
		3,
		2,
		[]string{"Allow only TLS 1.2 and 1.3 on all endpoints, and verify each endpoint from outside the network"},
		map[string]string{
			"nginx": "nginx -t && openssl s_client -connect HOST:443 -tls1_1 </dev/null",
			"linux": "openssl s_client -connect HOST:443 -tls1_1 </dev/null",
		},
		"CRY-03",
	},
	{
		"segmentation",
		compileIgnoringCase(`deny-by-default|denied by default|zones?\b|segment`),
		3,
		6,
		[]string{"Deny network traffic between zones by default and allow only what each service needs"},
		map[string]string{
			"kubernetes": "kubectl apply -f default-deny-networkpolicy.yaml",
			"aws":        "aws ec2 revoke-security-group-ingress --group-id GROUP --ip-permissions file://open.json",
		},
		"NET-04",
	},
	{
		"processor agreement",
		compileIgnoringCase(`processing agreement`),
		2,
		5,
		[]string{"Sign a data processing agreement with each supplier that handles personal data, starting with the riskiest suppliers"},
		nil,
		"TPM-05",
	},
	{
		"scans",
		compileIgnoringCase(`vulnerability scan|\bscans?\b`),
		2,
		4,
		[]string{"Run a vulnerability scan weekly and on every build, and set a remediation deadline for each severity"},
		map[string]string{"docker": "trivy image --severity HIGH,CRITICAL IMAGE", "linux": "trivy rootfs --severity HIGH,CRITICAL /"},
		"VPM-06",
	},
	{
		"retention",
		compileIgnoringCase(`retention`),
		1,
		4,
		[]string{"Write the retention schedule, with an owner for each type of record, and enforce deletion"},
		map[string]string{
			"aws": "aws s3api put-bucket-lifecycle-configuration --bucket BUCKET --lifecycle-configuration file://lifecycle.json # aws s3",
		},
		"DCH-18",
	},
	{
		"screen lock",
		compileIgnoringCase(`screen lock|lock after|idle`),
		1,
		1,
		[]string{"Enforce the screen lock by policy on all devices"},
		map[string]string{
			"windows": "reg add 'HKLM\\SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\Policies\\System' /v InactivityTimeoutSecs " +
				"/t REG_DWORD /d 600 /f",
		},
		"IAC-24",
	},
	{
		"change approval",
		compileIgnoringCase(`approv\w+`),
		2,
		2,
		[]string{"Require approval by a second person before production changes are made"},
		map[string]string{
			"git":   "gh api -X PUT repos/OWNER/REPO/branches/main/protection --input protection.json",
			"azure": "terraform plan -out plan.tfplan",
		},
		"CHG-02",
	},
	{
		"passwords",
		compileIgnoringCase(`password`),
		2,
		1,
		[]string{"Increase the minimum password length and check new passwords against lists of breached passwords"},
		map[string]string{"windows": "Set-ADDefaultDomainPasswordPolicy -Identity DOMAIN -MinPasswordLength 14"},
		"IAC-10",
	},
	{"notice", compileIgnoringCase(`notice`), 1, 3, []string{"Write and publish a privacy notice for each processing activity"}, nil, "PRI-02"},
	{
		"penetration test",
		compileIgnoringCase(`penetration`),
		2,
		8,
		[]string{"Commission an independent penetration test and fix its findings"},
		nil,
		"VPM-07",
	},
	{
		"malware",
		compileIgnoringCase(`malware|antivirus|edr\b`),
		2,
		3,
		[]string{"Install malware protection on all systems and monitor its alerts centrally"},
		map[string]string{
			"linux":   "systemctl enable --now clamav-freshclam clamav-daemon",
			"windows": "Set-MpPreference -DisableRealtimeMonitoring $false",
		},
		"END-04",
	},
	{
		"firewall rules",
		compileIgnoringCase(`firewall|rule review`),
		2,
		3,
		[]string{"Review firewall rules with their owners and remove unused ones"},
		map[string]string{"aws": "aws ec2 describe-security-groups --filters Name=ip-permission.cidr,Values=0.0.0.0/0"},
		"NET-04",
	},
	{
		"continuity",
		compileIgnoringCase(`continuity|disaster`),
		2,
		8,
		[]string{"Write the business continuity plan based on the impact analysis, and test it"},
		nil,
		"BCD-01",
	},
	{
		"inventory",
		compileIgnoringCase(`inventory`),
		2,
		4,
		[]string{"Build the asset inventory from the platforms' resource lists, and assign an owner to each asset"},
		map[string]string{
			"azure": "az resource list --output table",
			"aws":   "aws resourcegroupstaggingapi get-resources",
			"gcp":   "gcloud asset search-all-resources",
		},
		"AST-02",
	},
	{
		"root login",
		compileIgnoringCase(`root login|ssh`),
		3,
		1,
		[]string{"Disable root login over SSH and use named accounts with keys"},
		map[string]string{
			"linux": "printf 'PermitRootLogin no\\n' > /etc/ssh/sshd_config.d/10-root.conf && sshd -t && systemctl reload ssh",
		},
		"CFG-02",
	},
	{
		"supplier risk",
		compileIgnoringCase(`supplier|vendor|third.part`),
		2,
		5,
		[]string{"Assess each supplier by the access it has, and set requirements for the riskiest suppliers"},
		nil,
		"TPM-04.1",
	},
	{
		"key rotation",
		compileIgnoringCase(`key rotation|rotat\w+`),
		2,
		2,
		[]string{"Enable key rotation and record who may use the keys"},
		map[string]string{"aws": "aws kms enable-key-rotation --key-id KEY", "gcp": "gcloud kms keys update KEY --rotation-period=365d"},
		"CRY-09",
	},
	{
		"signed images",
		compileIgnoringCase(`sign(?:ed|ing|ature)`),
		2,
		4,
		[]string{"Sign container images in the build and allow only signed images to run"},
		map[string]string{
			"docker":     "cosign sign --key KEY IMAGE",
			"kubernetes": "kubectl get pods --all-namespaces -o jsonpath='{..image}'",
		},
		"TPM-03",
	},
	{
		"clocks",
		compileIgnoringCase(`time sync|clock|ntp`),
		1,
		1,
		[]string{"Synchronize the clocks of all systems with the same time sources"},
		map[string]string{"linux": "chronyc sources -v"},
		"SEA-20",
	},
	{"visitors", compileIgnoringCase(`visitor`), 1, 1, []string{"Keep a visitor log at reception that records " +
		"hosts and times"}, nil, "PES-06"},
}

// platforms are recognized by their names in the description of an architecture.
var platforms = []criterion{
	{"restic", compileIgnoringCase(`restic`)},
	{"ansible", compileIgnoringCase(`ansible`)},
	{"nginx", compileIgnoringCase(`nginx`)},
	{"docker", compileIgnoringCase(`docker|container`)},
	{"kubernetes", compileIgnoringCase(`kubernetes|k8s|gke|eks|aks`)},
	{"aws", compileIgnoringCase(`\baws\b|amazon|\bs3\b|\brds\b`)},
	{"azure", compileIgnoringCase(`azure|entra|microsoft 365`)},
	{"gcp", compileIgnoringCase(`\bgcp\b|google cloud|gke|cloud sql`)},
	{"windows", compileIgnoringCase(`windows|active directory|intune`)},
	{"git", compileIgnoringCase(`git(?:hub|lab)?\b`)},
	{"linux", compileIgnoringCase(`linux|ubuntu|debian|rhel|red hat`)},
}

// PlanRemediation turns a failed evaluation into sprint work, with commands for the platforms that
// the architecture names. It executes nothing.
func PlanRemediation(
	_ context.Context,
	evidence map[string]any,
	architecture string,
	controls Controls,
) (plan *api.RemediationPlan, indicators Indicators) {
	var signs Indicators
	out := &api.RemediationPlan{
		AnalysisMetadata:        newAnalysisMetadata(),
		SprintActionItems:       []string{},
		DevopsCommandsSuggested: []string{},
		PriorityLevel:           "low",
		EstimatedEffort:         "none",
	}
	missing := reportedGaps(evidence)
	arch := parseText(architecture)
	var have []string
	for _, p := range platforms {
		if m, ok := arch.findMention(p.pattern); ok {
			have = append(have, p.name)
			signs.add("platform", m, p.name)
		}
	}
	weight, days, grave := 0, 0, 0
	for _, gap := range missing {
		if len(parseText(gap).instructions) > 0 {
			signs.add("order", gap, "ignored: an instruction to the reader, not a gap")
			continue
		}
		r := recommendationFor(gap)
		if r == nil {
			out.SprintActionItems = append(
				out.SprintActionItems,
				fmt.Sprintf("Assign an owner for “%s”, agree on the evidence that would demonstrate it, and "+
					"implement it.", truncate(gap, 200)),
			)
			weight, days = max(weight, 2), days+3
			signs.add("gap", gap, "no built-in rule covers this gap; plan its remediation manually")
			continue
		}
		signs.add("gap", gap, r.name)
		weight, days = max(weight, r.weight), days+r.days
		if r.weight >= 3 {
			grave++
		}
		for _, a := range r.actions {
			line := a
			if controls != nil {
				if c, err := controls.Control(r.controlCode); err == nil {
					line += " [" + c.Code + " " + c.Title + "]"
				}
			}
			out.SprintActionItems = append(out.SprintActionItems, line+". Closes: "+truncate(gap, 160)+".")
		}
		for _, p := range have {
			if cmd := r.commands[p]; cmd != "" {
				out.DevopsCommandsSuggested = append(out.DevopsCommandsSuggested, cmd)
				break
			}
		}
	}
	if len(out.SprintActionItems) == 0 {
		out.SprintActionItems = append(
			out.SprintActionItems,
			"The evaluation found nothing missing: keep the evidence current and check again at the next review.",
		)
		return out, signs
	}
	out.SprintActionItems = append(
		firstUnique(out.SprintActionItems, 40),
		"Collect the new evidence and evaluate it against the requirement again.",
	)
	out.DevopsCommandsSuggested = firstUnique(out.DevopsCommandsSuggested, 40)
	switch {
	case grave >= 3:
		weight = 4
	case weight == 4 && grave < 2 && !compileIgnoringCase(`customer|personal|patient`).MatchString(arch.body):
		weight = 3
	}
	out.PriorityLevel = [...]string{"low", "low", "medium", "high", "critical"}[weight]
	out.EstimatedEffort = formatEffort(days)
	return out, signs
}

func formatEffort(days int) string {
	switch {
	case days <= 1:
		return "small, about 1 person-day"
	case days <= 2:
		return "small, about 2 person-days"
	case days <= 6:
		return fmt.Sprintf("medium, about %d person-days", days)
	case days <= 15:
		return fmt.Sprintf("large, about %d person-days", days)
	}
	return fmt.Sprintf("more than one sprint, about %d person-days", days)
}

// reportedGaps returns the gaps named in evidence, which is either an evaluator's answer or a finding.
func reportedGaps(evidence map[string]any) []string {
	var out []string
	for _, key := range []string{"missing_elements", "missingElements", "gaps"} {
		switch v := evidence[key].(type) {
		case []any:
			for _, x := range v {
				if s, ok := x.(string); ok {
					out = append(out, truncate(s, 2000))
				}
			}
		case string:
			out = append(out, truncate(v, 2000))
		}
	}
	if len(out) == 0 {
		if compliant, stated := evidence["is_compliant"].(bool); !stated || !compliant {
			for _, key := range []string{"recommendation", "condition", "auditor_notes"} {
				if s, ok := evidence[key].(string); ok && strings.TrimSpace(s) != "" {
					out = append(out, truncate(s, 2000))
					break
				}
			}
		}
	}
	return firstUnique(out, 40)
}

// recommendationFor returns the first recommendation that matches a gap, or nil; recommendations
// are listed from specific to general.
func recommendationFor(gap string) *recommendation {
	// Text in parentheses states why the element is missing, not which one.
	what, _, _ := strings.Cut(gap, " (")
	for _, s := range []string{what, gap} {
		for i := range recommendations {
			if recommendations[i].pattern.MatchString(s) {
				return &recommendations[i]
			}
		}
	}
	return nil
}
