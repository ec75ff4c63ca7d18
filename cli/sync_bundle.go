package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

func (a *app) syncShowKey() *cobra.Command {
	var replace, sure bool
	cmd := &cobra.Command{
		Use: "key", Short: "Show the public key for exchanging bundles",
		Long: `Shows the organization's public key and its fingerprint. The key is created on first use.
Send the key to the other party and compare the fingerprint by phone. The private key is
stored in the same way as other secrets (see ` + "`service secret show`" + `).`,
		Example: "  service sync key\n  service sync key --jq .key >acme.key",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if replace {
				if err := a.confirm(sure, "replace the key; everyone who trusts the current key will have to trust the new one"); err != nil {
					return err
				}
			}
			in := &api.CreateSyncKeyInput{}
			in.Body.Replace = replace
			return callAndPrint(cmd.Context(), a, api.GetOrCreateSyncKey, in, func(p *print.Page, k *api.SyncKey) {
				p.Fields(
					field("organization", k.Name),
					field("fingerprint", k.Fingerprint),
					field("created", print.FormatTime(k.CreatedAt)),
				)
				p.Text("%s", k.Key)
			})
		},
	}
	cmd.Flags().BoolVar(&replace, "replace", false, "replace the organization's key with a new one")
	addYesFlag(cmd, &sure)
	return cmd
}

func (a *app) syncTrust() *cobra.Command {
	in := &api.TrustSyncPeerInput{}
	var sure bool
	var fingerprint string
	cmd := &cobra.Command{
		Use: "trust KEY|FILE|PEER", Short: "Trust another party's key to exchange bundles with it",
		Long: `Trusts a key that the other party printed with ` + "`service sync key`" + `, for 90 days. First compare the
fingerprint with the other party by phone, or pass it with --fingerprint. If this machine has the
remote of the assessment, the other party's changes are applied as your account, or as the account
given with --as. Approvals and rejections are applied only with --may approve; whoever has the key
then decides as that account. To renew a key, pass its name as listed by ` + "`service sync peers`" + `. The
key keeps its name and account, but not --may approve.`,
		Example: "  service sync trust adas-laptop.key --as ada@acme.example --fingerprint 1f0c-…\n" +
			"  service sync trust acme.key --may approve\n  service sync trust adas-laptop",
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := a.readPeerKey(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			in.Body.Key = strings.Join(strings.Fields(key), "") // the key may have been copied with line breaks
			if fingerprint != "" && !strings.EqualFold(strings.TrimSpace(fingerprint), api.SyncKeyFingerprint(key)) {
				return withHint(
					runtimeError("the fingerprint of the key is %s, which is not the expected fingerprint", api.SyncKeyFingerprint(key)),
					"this is not the expected key; ask the other party to send the key again",
				)
			}
			if err := a.confirm(sure || fingerprint != "", "trust the key with the fingerprint "+api.SyncKeyFingerprint(key)); err != nil {
				return err
			}
			return callAndPrint(cmd.Context(), a, api.TrustSyncPeer, in, func(g *print.Page, p *api.SyncPeer) {
				g.Text(
					"%s is now trusted until %s. Its %s are applied as the account %s. Fingerprint: %s",
					p.Name, print.FormatDay(p.ExpiresAt), peerMay[p.May], p.UserName, p.Fingerprint,
				)
			})
		},
	}
	cmd.Flags().StringVar(&in.Body.Name, "name", "", "local name of the key (default: its current name, or the name stored in the key)")
	cmd.Flags().StringVar(&in.Body.Email, "as", "",
		"account to apply the other party's changes as (default: the key's current account, or yours)")
	addChoiceFlag(cmd.Flags(), &in.Body.May, "may", []string{api.PeerMayChanges, api.PeerMayApprove},
		"what the other party's bundles may contain: changes (default), or approve to also allow decisions")
	cmd.Flags().StringVar(&fingerprint, "fingerprint", "", "trust the key only if it has this fingerprint")
	addYesFlag(cmd, &sure)
	return cmd
}

// peerMay maps the permission of a trusted key to a description of what its bundles may contain.
var peerMay = map[string]string{api.PeerMayChanges: "changes (no decisions)", api.PeerMayApprove: "changes and decisions"}

// readPeerKey returns the public key that arg refers to. arg is the key itself, a file that contains it, or the name
// of a trusted key.
func (a *app) readPeerKey(ctx context.Context, arg string) (string, error) {
	if api.SyncKeyFingerprint(arg) != "" {
		return arg, nil
	}
	if info, err := os.Stat(arg); err != nil || info.IsDir() {
		found, err := a.matchingPeers(ctx, arg)
		if err == nil && len(found) == 0 {
			err = withHint(usageError("%s is not a key, a file that contains a key, or the name of a trusted key", arg),
				"to show the key, the other party can run `service sync key`")
		}
		if err != nil {
			return "", err
		}
		p, err := requireSinglePeer(found, arg)
		if err != nil {
			return "", err
		}
		return p.Key, nil
	}
	b, err := a.readFile(arg, 64<<10)
	if err != nil {
		return "", err
	}
	key := strings.TrimSpace(string(b))
	if api.SyncKeyFingerprint(key) == "" {
		return "", withHint(usageError("no key found in %s", arg),
			"to create a key file, the other party can run `service sync key --jq .key >%s`", arg)
	}
	return key, nil
}

func (a *app) syncPeers() *cobra.Command {
	var l listFlags
	cmd := &cobra.Command{
		Use: "peers", Short: "List trusted keys",
		Long:    "Lists the trusted keys, the account that each key's changes are applied as, what its bundles may\ncontain, and when it expires.",
		Example: "  service sync peers",
		RunE: func(cmd *cobra.Command, _ []string) error {
			got, err := fetchList(cmd.Context(), a, api.ListSyncPeers, &api.Paging{}, l)
			if err != nil {
				return err
			}
			return printList(a, got, []print.Column{
				column("name"), column("as"), fixed("may"), fixed("until"), column("fingerprint"), optional(column("trusted")), idColumn(),
			}, func(one api.SyncPeer) []string {
				until := print.FormatDay(one.ExpiresAt)
				if !one.ExpiresAt.After(a.Clock()) {
					until = "expired"
				}
				return []string{one.Name, one.UserName, one.May, until, one.Fingerprint, print.FormatTime(one.CreatedAt), one.ID}
			}, "No trusted keys.")
		},
	}
	l.addFlags(cmd, 0)
	return cmd
}

// findPeer returns the trusted key with the given name, id or fingerprint.
func (a *app) findPeer(ctx context.Context, ref string) (*api.SyncPeer, error) {
	found, err := a.matchingPeers(ctx, ref)
	if err != nil {
		return nil, err
	}
	return requireSinglePeer(found, ref)
}

// matchingPeers returns the trusted keys with the given name, id or fingerprint.
func (a *app) matchingPeers(ctx context.Context, ref string) (found []api.SyncPeer, err error) {
	all, err := fetchAll(ctx, a, api.ListSyncPeers, &api.Paging{})
	if err != nil {
		return nil, err
	}
	for _, p := range all.Data {
		if p.ID == ref || strings.EqualFold(p.Name, ref) || strings.EqualFold(p.Fingerprint, ref) {
			found = append(found, p)
		}
	}
	return found, nil
}

// requireSinglePeer returns the only element of found. If there is none or more than one, it returns an error that
// names ref.
func requireSinglePeer(found []api.SyncPeer, ref string) (*api.SyncPeer, error) {
	switch len(found) {
	case 1:
		return &found[0], nil
	case 0:
		return nil, withHint(runtimeError("no trusted key %q", ref), "list the trusted keys with `service sync peers`")
	}
	return nil, usageError("%d trusted keys are named %q; specify the key by its id, e.g. %s", len(found), ref, found[0].ID)
}

func (a *app) syncDistrust() *cobra.Command {
	var sure bool
	cmd := &cobra.Command{
		Use:   "distrust PEER",
		Short: "Stop trusting a key",

		Long:    "Stops accepting bundles signed with this key and creating bundles for it. Data that was already\nimported is kept.",
		Example: "  service sync distrust adas-laptop --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.findPeer(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if err := a.confirm(sure, "stop trusting the key of "+p.Name); err != nil {
				return err
			}
			_, err = call(cmd.Context(), a, api.DistrustSyncPeer, &api.SyncPeerInput{PeerID: p.ID})
			return err
		},
	}
	addYesFlag(cmd, &sure)
	return cmd
}

func (a *app) syncWriteBundle() *cobra.Command {
	in := &api.WriteSyncBundleInput{}
	var to string
	var force bool
	cmd := &cobra.Command{
		Use: "bundle FILE", Short: "Write changes for another party to a signed, encrypted file",
		Long: `Writes a file with all data of the assessment that, as far as this machine knows, the other party
doesn't have yet. The file is signed with this organization's key and encrypted for the recipient.
Transfer it by any means. The other party imports it with ` + "`service sync import`" + ` and replies with a
bundle. The changes of a clone are considered sent only after the reply was imported; until then,
each new bundle contains them again.`,
		Example: "  service sync bundle monday.bundle --to adas-laptop\n" +
			"  service sync bundle begin.bundle --to adas-laptop --include-catalog\n  service sync bundle new.bundle --to acme --publish",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if err := a.rejectUnusableOutputPath(args[0], force); err != nil {
				return err
			}
			one, err := a.currentAssessment(ctx)
			if err != nil {
				return err
			}
			if to != "" {
				p, err := a.findPeer(ctx, to)
				if err != nil {
					return err
				}
				in.Body.PeerID = p.ID
			}
			in.AssessmentID, in.Body.Machine = one.ID, hostname()
			a.progress.Start("writing the bundle")
			f, err := call(ctx, a, api.WriteSyncBundle, in)
			if err != nil {
				return err
			}
			return a.saveDownload(f, args[0], force)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "recipient, as listed by \"service sync peers\" (default: the last or only recipient)")
	cmd.Flags().BoolVar(&in.Body.IncludeCatalog, "include-catalog", false, "include the catalog version, for recipients that don't have it")
	cmd.Flags().BoolVar(&in.Body.Publish, "publish", false, "make the other party's copy the remote of an assessment created on this machine")
	addForceFlag(cmd, &force)
	return cmd
}

func (a *app) syncApplyBundle() *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Import a bundle signed by a trusted key",
		Long: `Imports a bundle. On the remote, changes from the clone are applied as the account that its key is
trusted for; decisions are applied only if the key is trusted with --may approve. On a clone, the
remote's changes are merged, and changes that were sent are marked as received. The first bundle
of an assessment creates a clone of it. A bundle is rejected if it is damaged, outdated, meant for
someone else, or signed with an untrusted or expired key. It is also rejected if it contains
decisions from a remote whose key is not trusted with --may approve.`,
		Example: "  service sync import monday.bundle --dry-run\n  service sync import monday.bundle",
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := openFile(cmd.Context(), args[0], api.MaxUploadBytes)
			if err != nil {
				return err
			}
			in := &api.ImportSyncBundleInput{File: api.UploadFile{Filename: "bundle", Content: f}, DryRun: encodeDryRun(dryRun)}
			a.progress.Start("importing the bundle")
			got, err := call(cmd.Context(), a, api.ImportSyncBundle, in)
			if err = errors.Join(err, f.Close()); err != nil {
				return err
			}
			a.progress.Done("bundle read")
			if !dryRun {
				a.rememberAssessment(got.AssessmentID)
			}
			return a.out.Print(got, func(p *print.Page) { renderAppliedBundle(p, got) })
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show the contents and their effect without changing anything")
	return cmd
}

func renderAppliedBundle(p *print.Page, t *api.ImportedSyncBundle) {
	p.Text("Bundle %d of %s, of %s: %s.", t.Serial, t.PeerName, print.FormatTime(t.CreatedAt), cmp.Or(t.Name, t.AssessmentID))
	applied, merged := "Applied", "Merged"
	if t.DryRun {
		applied, merged = "Would apply", "Would merge"
	}
	switch {
	case t.AlreadyImported:
		p.Text("This bundle was already imported; nothing was changed.")
		return
	case t.Role == "remote":
		p.Text(
			"%s %s, with %s, and %s.",
			applied,
			prose.Count(t.Applied, "change", "changes"),
			prose.Count(t.Conflicts, "conflict", "conflicts"),
			prose.Count(t.Files, "file", "files"),
		)
	default:
		p.Text(
			"%s %s and %s. The remote applied %s from this clone, with %s.",
			merged,
			prose.Count(t.Imported, "record", "records"),
			prose.Count(t.Files, "file", "files"),
			prose.Count(t.Applied, "change", "changes"),
			prose.Count(t.Conflicts, "conflict", "conflicts"),
		)
	}
	for _, n := range t.Notes {
		p.ListItem(0, "%s", n)
	}
	switch {
	case t.DryRun:
	case t.Conflicts > 0:
		p.Text(
			"%s must be resolved on the remote; to list conflicts, run `service sync conflicts`.",
			prose.Count(t.Conflicts, "conflict", "conflicts"),
		)
	case t.Role == "remote":
		p.Text("To write the reply, run `service sync bundle FILE`.")
	}
	if t.More {
		p.Text("This bundle could not hold all changes. Ask the other party for another bundle.")
	}
}
