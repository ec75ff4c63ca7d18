package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

func (a *app) auditCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "audit", Short: "Show, export and verify the audit trail, which records who did what",
		Long: "The audit trail is a hash chain of events per organization. Each record contains the hash\n" +
			"of the previous one, so that changed or removed records are detected.",
		Example: "  service audit list\n  service audit list --outcome denied\n  service audit verify\n  service audit head > head.json",
	}, a.auditList(), a.auditVerify(), a.auditSignedHead(), a.auditExport())
}

func (a *app) auditVerify() *cobra.Command {
	var file, head string
	cmd := &cobra.Command{
		Use: "verify", Short: "Verify the audit trail and, on the server's machine, all records and files",
		Long: `Follows the chain from its first record and reports the first one that was changed,
removed, inserted or moved.

On the machine with the data folder, the command verifies the chains of all organizations
and reads every record, document, report and catalog, comparing files with their hashes.
This takes longer for a large folder. With --org, it verifies only that organization's
chain and files. On a server, it verifies only your organization's chain.

With --file, the command verifies an exported file without a server. With --head, it also
checks that the chain still contains a previously saved head.

The exit code is 1 if anything is missing, altered or unreadable.`,
		Example: "  service audit verify\n  service audit verify --file audit.jsonl --head head.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file != "" {
				v, err := a.VerifyAuditChain(cmd.Context(), file, head)
				if err != nil {
					return runtimeError("%w", err)
				}
				return a.printVerification(v, "")
			}
			if head != "" {
				return usageError(
					"--head requires --file; export the chain first with `%s`",
					a.suggestedCommandLine("audit export --out audit.jsonl"),
				)
			}
			if a.flags.Server == "" && a.targetErr == nil {
				return a.verifyDataFolder(cmd.Context())
			}
			return a.verifyOwnChain(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "verify this exported audit trail instead")
	cmd.Flags().StringVar(&head, "head", "", "file that contains a saved head, as printed by 'service audit head'")
	return cmd
}

// verifyOwnChain verifies the audit chain of the current organization on a server.
func (a *app) verifyOwnChain(ctx context.Context) error {
	v, err := call(ctx, a, api.VerifyAudit, &api.None{})
	if err != nil {
		return err
	}
	err = a.out.Print(v, func(p *print.Page) {
		switch {
		case v.OK && v.Records == 0:
			p.Text("The audit trail is empty: nothing was verified.")
		case v.OK:
			p.Text("The chain is intact: %s; the last hash is %s.", prose.Count(int(v.Records), "record", "records"), v.Head)
		default:
			p.Text("The chain is broken: record %d was %s.", v.Problem.Sequence, v.Problem.Kind)
			p.Fields(
				field("reason", v.Problem.Message),
				field("record", v.Problem.RecordID),
				field("intact records", fmt.Sprint(v.Records)),
			)
		}
		p.Text("Only your organization's audit trail was verified. The same command on the server's machine verifies all " +
			"organizations, records and files.")
	})
	if err == nil && !v.OK {
		err = &exitError{code: exitVerdict, err: fmt.Errorf("the audit chain is broken at record %d", v.Problem.Sequence)}
	}
	return err
}

// maxPrintedProblems is the maximum number of problems listed as text.
const maxPrintedProblems = 50

// verifyDataFolder verifies all organizations, records and files of the data folder, or one organization.
func (a *app) verifyDataFolder(ctx context.Context) error {
	if a.ResolvePaths != nil {
		if paths := a.ResolvePaths(a.flags.Data); paths.Unused {
			return withHint(
				&exitError{code: exitVerdict, err: fmt.Errorf("the data folder %s is empty: nothing was verified", paths.Data)},
				"specify another folder with --data or SERVICE_DATA",
			)
		}
	}
	a.progress.Start("reading all records and files")
	v, err := call(ctx, a, api.VerifyData, &api.VerifyDataInput{Organization: a.flags.Organization})
	a.progress.Done("")
	if err != nil {
		return err
	}
	if err := a.out.Print(v, func(p *print.Page) { renderDataVerification(p, v) }); err != nil || v.OK {
		return err
	}
	return &exitError{
		code: exitVerdict,
		err:  fmt.Errorf("verification failed: %s", prose.Count(len(v.Problems), "problem", "problems")),
	}
}

func renderDataVerification(p *print.Page, v *api.DataVerification) {
	var rows [][]string
	for _, o := range v.Organizations {
		result := "intact"
		switch {
		case o.Problem == nil && o.Records == 0:
			result = "empty"
		case o.Problem != nil:
			result = fmt.Sprintf("broken: record %d was %s", o.Problem.Sequence, o.Problem.Kind)
		}
		rows = append(rows, []string{o.Name, o.Slug, fmt.Sprint(o.Records), result, o.Head})
	}
	p.Table([]print.Column{
		column("organization"), fixed("slug"), fixedNumber("audit records"), fixed("audit trail"), optional(column("last hash")),
	}, rows)
	p.Blank()
	files := prose.Count(v.FilesChecked, "file", "files")
	if len(v.NotCovered) > 0 {
		p.Text("%s checked. Not verified because --org limits the check: %s.", files, strings.Join(v.NotCovered, "; "))
	} else {
		p.Text("%s and %s checked.", prose.Count(v.RecordsChecked, "database entry", "database entries"), files)
	}
	for i, one := range v.Problems {
		if i == maxPrintedProblems {
			p.Text("✗ %d more; -o json lists all", len(v.Problems)-i)
			break
		}
		subject := joinNonEmpty(one.Organization, one.Record)
		if one.SHA256 != "" {
			subject += " (file " + one.SHA256 + ")"
		}
		p.Text("✗ %s: %s", subject, one.Message)
	}
}

func (a *app) auditSignedHead() *cobra.Command {
	return &cobra.Command{
		Use: "head", Short: "Print the signed head of the audit trail",
		Long: "Prints the number and hash of the last record, signed with the installation's key. Store it\n" +
			"outside this system to prove later that earlier records have not been changed.",
		Example: "  service audit head -o json > head-2026-11.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return callAndPrint(cmd.Context(), a, api.GetAuditHead, &api.None{}, func(p *print.Page, h *api.AuditHead) {
				p.Fields(
					field("record", fmt.Sprint(h.Sequence)),
					field("hash", h.Hash),
					field("written", print.FormatTime(h.At)),
					field("key", h.KeyID),
					field("public key", h.PublicKey),
					field("signature", h.Signature),
				)
			})
		},
	}
}

func (a *app) auditExport() *cobra.Command {
	var in api.AuditExportInput
	var out string
	var force bool
	cmd := &cobra.Command{
		Use: "export", Short: "Save the audit trail as JSON lines",
		Long: "Saves audit events as JSON lines, oldest first. Without filters it exports the whole\n" +
			"chain, which `service audit verify --file` can check. --out - writes to stdout.",
		Example: "  service audit export --out audit.jsonl\n  service audit export --outcome denied --out -",
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := call(cmd.Context(), a, api.ExportAudit, &in)
			if err != nil {
				return err
			}
			return a.saveDownload(f, out, force)
		},
	}
	f := cmd.Flags()
	f.StringVar(&out, "out", "audit.jsonl", "file to write; - for stdout")
	addForceFlag(cmd, &force)
	addAuditFilters(f, &in.AuditFilter)
	return cmd
}

func addAuditFilters(f *pflag.FlagSet, in *api.AuditFilter) {
	f.StringVar(&in.Action, "action", "", "show only events with this action")
	f.StringVar(&in.ResourceType, "resource-type", "", "show only events about this type of record")
	f.StringVar(&in.ResourceID, "resource", "", "show only events about the record with this ID")
	f.StringVar(&in.ActorID, "actor", "", "show only events by the actor with this ID")
	addChoiceFlag(f, &in.Outcome, "outcome", []string{"success", "denied", "failure"},
		"show only events with this outcome: success, denied or failure")
}

// describeAuditedRecord says what record an event is about and what became of it, as far as the event contains that, or
// else returns the record's ID.
func describeAuditedRecord(e *api.AuditEvent) string {
	var words []string
	for _, name := range []string{
		"poam_code", "control_code", "name", "title", "filename", "email", "label", "template", "format", "gate", "decision", "version_number",
		"to_state", "fields",
	} {
		switch value := e.Changes[name].(type) {
		case string:
			if name != "filename" && name != "name" {
				value = prose.Humanize(value)
			}
			if value != "" {
				words = append(words, value)
			}
		case float64:
			words = append(words, fmt.Sprintf("version %.0f", value))
		case []any:
			for _, one := range value {
				words = append(words, prose.Humanize(fmt.Sprint(one)))
			}
		}
	}
	if len(words) == 0 {
		return joinNonEmpty(prose.Humanize(e.ResourceType), e.ResourceID)
	}
	return prose.Truncate(prose.Humanize(e.ResourceType)+": "+strings.Join(words, ", "), maxCell)
}

func (a *app) auditList() *cobra.Command {
	var in api.AuditInput
	var l listFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List audit events, newest first",
		Long:    "Lists the organization's audit events, newest first. Multiple filters must all match.",
		Example: "  service audit list --limit 20\n  service audit list --resource-type approval -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := fetchList(cmd.Context(), a, api.ListAuditEvents, &in, l)
			if err != nil {
				return err
			}
			columns := []print.Column{
				fixedNumber("no"),
				fixed("at"),
				column("who"),
				column("action"),
				column("what"),
				fixed("outcome"),
			}
			row := func(e api.AuditEvent) []string {
				return []string{
					fmt.Sprint(e.Sequence),
					print.FormatTime(e.At),
					e.Actor.Name,
					e.Action,
					describeAuditedRecord(&e),
					e.Outcome,
				}
			}
			if hasGivenFilterFlags(cmd) {
				return printList(a, all, columns, row, "No events match; `%s` lists all events.", a.suggestedCommandLine("audit list"))
			}
			return printList(a, all, columns, row, "No events yet.")
		},
	}
	addAuditFilters(cmd.Flags(), &in.AuditFilter)
	l.addFlags(cmd, defaultEventLimit)
	return cmd
}
