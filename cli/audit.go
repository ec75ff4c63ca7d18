package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

func (a *app) auditCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "audit", Short: "The audit trail: who did what",
		Long: "The audit trail is a hash chain of events per organization. Each record contains the hash\n" +
			"of the previous one, so that changed or removed records are detected.",
		Example: "  service audit list\n  service audit list --outcome denied\n  service audit verify\n  service audit head > head.json",
	}, a.auditList(), a.auditVerify(), a.auditSignedHead(), a.auditExport())
}

func (a *app) auditVerify() *cobra.Command {
	var file, head string
	cmd := &cobra.Command{
		Use: "verify", Short: "Verify the integrity of the audit trail",
		Long: `Follows the chain from its first record and reports the first one that was changed,
removed, inserted or moved. With --file it checks an export, without a server; with --head
it also checks that the chain still contains a previously saved head.
The exit code is 1 if verification fails.`,
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
			v, err := call(cmd.Context(), a, api.VerifyAudit, &api.None{})
			if err != nil {
				return err
			}
			err = a.out.Print(v, func(p *print.Page) {
				if v.OK && v.Records == 0 {
					p.Text("The audit trail is empty: nothing was verified.")
					return
				}
				if v.OK {
					p.Text("The chain is intact: %s; the last hash is %s.", prose.Count(int(v.Records), "record", "records"), v.Head)
					return
				}
				p.Text("The chain is broken: record %d was %s.", v.Problem.Sequence, v.Problem.Kind)
				p.Fields(
					field("reason", v.Problem.Message),
					field("record", v.Problem.RecordID),
					field("intact records", fmt.Sprint(v.Records)),
				)
			})
			if err == nil && !v.OK {
				err = &exitError{code: exitVerdict, err: fmt.Errorf("the audit chain is broken at record %d", v.Problem.Sequence)}
			}
			return err
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "verify this export instead")
	cmd.Flags().StringVar(&head, "head", "", "file with a saved head, as printed by `audit head`")
	return cmd
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
	f.StringVar(&in.Action, "action", "", "only events with this action")
	f.StringVar(&in.ResourceType, "resource-type", "", "only events about this type of record")
	f.StringVar(&in.ResourceID, "resource", "", "only events about the record with this id")
	f.StringVar(&in.ActorID, "actor", "", "only events by the actor with this id")
	addChoiceFlag(f, &in.Outcome, "outcome", []string{"success", "denied", "failure"}, "only events with this outcome: success, denied or failure")
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
					joinNonEmpty(e.ResourceType, e.ResourceID),
					e.Outcome,
				}
			}
			if hasGivenFilterFlags(cmd) {
				return printList(a, all, columns, row, "No events match; `%s` lists all.", a.suggestedCommandLine("audit list"))
			}
			return printList(a, all, columns, row, "No events yet.")
		},
	}
	addAuditFilters(cmd.Flags(), &in.AuditFilter)
	l.addFlags(cmd, defaultEventLimit)
	return cmd
}
