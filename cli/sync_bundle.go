package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

func (a *app) syncKey() *cobra.Command {
	var replace, sure bool
	cmd := &cobra.Command{
		Use: "key", Short: "Show the key for bundles, to be given to the other side", Args: requireArgs(0, 0),
		Long: `Shows the organization's public key and its fingerprint; the first time it makes the key.
Give the key to the other side in any way, and compare the fingerprint by voice. The secret
half is kept as other secrets are (` + "`service secret show`" + `).`,
		Example: "  service sync key\n  service sync key --jq .key >acme.key",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if replace {
				if err := a.confirm(sure, "make another key; who trusts this one has to trust the new one"); err != nil {
					return err
				}
			}
			in := &api.MakeSyncKeyInput{}
			in.Body.Replace = replace
			k, err := call(cmd.Context(), a, api.GetOrCreateSyncKey, in)
			if err != nil {
				return err
			}
			return a.out.Print(k, func(p *print.Page) {
				p.Fields(
					print.Field{Name: "of", Value: k.Name},
					print.Field{Name: "fingerprint", Value: k.Fingerprint},
					print.Field{Name: "made", Value: formatTime(k.CreatedAt)},
				)
				p.Text("%s", k.Key)
			})
		},
	}
	cmd.Flags().BoolVar(&replace, "replace", false, "make another key in place of this one")
	cmd.Flags().BoolVarP(&sure, "yes", "y", false, "do not ask")
	return cmd
}

func (a *app) syncTrust() *cobra.Command {
	in := &api.TrustSyncPeerInput{}
	var sure bool
	var fingerprint string
	cmd := &cobra.Command{
		Use: "trust KEY|FILE", Short: "Trust the other side's key: take its bundles, write some for it", Args: requireArgs(1, 1),
		Long: `Trusts a key that the other side showed with ` + "`service sync key`" + `. Compare the fingerprint with
them first, by voice; --fingerprint does so for you. Where the assessment is at home here,
its changes are brought as you, or as the account that --as names.`,
		Example: "  service sync trust adas-laptop.key --as ada@acme.example --fingerprint 1f0c-…\n  service sync trust acme.key",
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := readPeerKey(args[0])
			if err != nil {
				return err
			}
			in.Body.Key = strings.Join(strings.Fields(key), "") // it may have been copied from several lines
			if fingerprint != "" && !strings.EqualFold(strings.TrimSpace(fingerprint), api.SyncFingerprint(key)) {
				return withHint(
					runtimeError("the key has the fingerprint %s, not the one that was given", api.SyncFingerprint(key)),
					"it is not the key that you were told of: ask for it again",
				)
			}
			if err := a.confirm(sure || fingerprint != "", "trust the key with the fingerprint "+api.SyncFingerprint(key)); err != nil {
				return err
			}
			p, err := call(cmd.Context(), a, api.TrustSyncPeer, in)
			if err != nil {
				return err
			}
			return a.out.Print(p, func(g *print.Page) { g.Text("%s is trusted, as %s: %s", p.Name, p.UserName, p.Fingerprint) })
		},
	}
	cmd.Flags().StringVar(&in.Body.Name, "name", "", "how it is called here (default: what the key says)")
	cmd.Flags().StringVar(&in.Body.Email, "as", "", "the account that brings its changes (default: yours)")
	cmd.Flags().StringVar(&fingerprint, "fingerprint", "", "trust it only if it has this fingerprint")
	cmd.Flags().BoolVarP(&sure, "yes", "y", false, "do not ask")
	return cmd
}

// readPeerKey is a key that was given as it is, or in a file.
func readPeerKey(arg string) (string, error) {
	if api.SyncFingerprint(arg) != "" {
		return arg, nil
	}
	f, err := os.Open(arg)
	if err != nil {
		return "", withHint(usageError("%s is neither a key nor a file with one", arg), "`service sync key` at the other side shows it")
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil {
		return "", err
	}
	key := strings.TrimSpace(string(b))
	if api.SyncFingerprint(key) == "" {
		return "", withHint(usageError("there is no key in %s", arg), "`service sync key --jq .key >%s` at the other side writes one", arg)
	}
	return key, nil
}

func (a *app) syncPeers() *cobra.Command {
	var l listFlags
	cmd := &cobra.Command{
		Use: "peers", Short: "List whose bundles are taken", Args: requireArgs(0, 0),
		Long: "Lists the keys that are trusted, and as whom their changes are brought.", Example: "  service sync peers",
		RunE: func(cmd *cobra.Command, _ []string) error {
			got, err := collectPages(cmd.Context(), l.limit, l.cursor, func(p api.Paging) (*api.List[api.SyncPeer], error) {
				return call(cmd.Context(), a, api.ListSyncPeers, &p)
			})
			if err != nil {
				return err
			}
			defer a.noteMoreResults(len(got.Data), got.Pagination)
			return a.out.Print(got, func(p *print.Page) {
				var rows [][]string
				for _, one := range got.Data {
					rows = append(rows, []string{one.Name, one.UserName, one.Fingerprint, formatTime(one.CreatedAt), one.ID})
				}
				p.Table(
					[]print.Column{
						{Title: "name"},
						{Title: "as"},
						{Title: "fingerprint"},
						{Title: "trusted", Optional: true},
						{Title: "id", NoShrink: true},
					},
					rows,
				)
				a.textIfEmpty(p, len(rows), "Nobody's key is trusted.")
			})
		},
	}
	l.register(cmd, 0)
	return cmd
}

// findPeer is a trusted key by its name, id or fingerprint.
func (a *app) findPeer(ctx context.Context, ref string) (*api.SyncPeer, error) {
	all, err := collectPages(ctx, 0, "", func(p api.Paging) (*api.List[api.SyncPeer], error) { return call(ctx, a, api.ListSyncPeers, &p) })
	if err != nil {
		return nil, err
	}
	var found []api.SyncPeer
	for _, p := range all.Data {
		if p.ID == ref || strings.EqualFold(p.Name, ref) || strings.EqualFold(p.Fingerprint, ref) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 1:
		return &found[0], nil
	case 0:
		return nil, withHint(runtimeError("no key is trusted that is called %q", ref), "`service sync peers` lists them")
	}
	return nil, usageError("%d trusted keys are called %q: give the id of one, as %s", len(found), ref, found[0].ID)
}

func (a *app) syncDistrust() *cobra.Command {
	var sure bool
	cmd := &cobra.Command{
		Use: "distrust PEER", Short: "Take no bundle of a key any more", Args: requireArgs(1, 1),
		Long: "Takes no bundle of that key any more, and writes none for it. What was taken stays.", Example: "  service sync distrust adas-laptop --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.findPeer(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if err := a.confirm(sure, "trust the key of "+p.Name+" no more"); err != nil {
				return err
			}
			_, err = call(cmd.Context(), a, api.DistrustSyncPeer, &api.SyncPeerInput{PeerID: p.ID})
			return err
		},
	}
	cmd.Flags().BoolVarP(&sure, "yes", "y", false, "do not ask")
	return cmd
}

func (a *app) syncWriteBundle() *cobra.Command {
	in := &api.WriteSyncBundleInput{}
	var to string
	var force bool
	cmd := &cobra.Command{
		Use: "bundle FILE", Short: "Write what the other side lacks into a signed, encrypted file", Args: requireArgs(1, 1),
		Long: `Writes one file with all that the other side lacks of the assessment, as far as is known
here: signed with this organization's key, and encrypted for the one key that it is for. Carry
it in any way; the other side takes it with ` + "`service sync take`" + ` and answers with a bundle.
A clone's changes count as sent when the answer was taken; until then the same are written again.`,
		Example: "  service sync bundle monday.bundle --to adas-laptop\n  service sync bundle begin.bundle --to adas-laptop --carry-catalog\n  service sync bundle new.bundle --to acme --publish",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if err := a.checkOverwrite(args[0], force); err != nil {
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
			a.progress.Start("write the bundle")
			f, err := call(ctx, a, api.WriteSyncBundle, in)
			if err != nil {
				return err
			}
			return a.saveDownload(f, args[0], force)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "for whom, as sync peers lists them (default: who it was last exchanged with, or the only one)")
	cmd.Flags().BoolVar(&in.Body.CarryCatalog, "carry-catalog", false, "bring the catalog version along, for who lacks it")
	cmd.Flags().BoolVar(&in.Body.Publish, "publish", false, "give an assessment that was begun here a home at the other side")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite the file")
	return cmd
}

func (a *app) syncApplyBundle() *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use: "take FILE", Short: "Take a bundle that a trusted key signed for this organization", Args: requireArgs(1, 1),
		Long: `Takes a bundle: at the home the clone's changes are done again as the account that its key
is trusted for, at a clone what changed at the home is read, and what of its own was on the
way is known to have arrived. The first bundle of an assessment makes a clone of it. A bundle
that is damaged, older than the last, from a stranger or for another is refused whole.`,
		Example: "  service sync take monday.bundle --dry-run\n  service sync take monday.bundle",
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := os.Open(args[0])
			if err != nil {
				return usageError("%s can't be read: %v", args[0], errorWithoutPath(err))
			}
			if info, err := f.Stat(); err == nil && info.IsDir() {
				return errors.Join(usageError("%s is a folder; name the bundle in it", args[0]), f.Close())
			}
			in := &api.TakeSyncBundleInput{File: api.UploadFile{Filename: "bundle", Content: f}, Dry: formatDryRun(dryRun)}
			a.progress.Start("take the bundle")
			got, err := call(cmd.Context(), a, api.ImportSyncBundle, in)
			if err = errors.Join(err, f.Close()); err != nil {
				return err
			}
			a.progress.Done("read all of it")
			if !dryRun {
				a.rememberAssessment(got.AssessmentID)
			}
			return a.out.Print(got, func(p *print.Page) { renderAppliedBundle(p, got) })
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "tell what is in it and what would come of it, and change nothing")
	return cmd
}

func renderAppliedBundle(p *print.Page, t *api.TakenSyncBundle) {
	p.Text("Bundle %d of %s, of %s: %s.", t.Serial, t.PeerName, formatTime(t.MadeAt), cmp.Or(t.Name, t.AssessmentID))
	would := ""
	if t.DryRun {
		would = "Would: "
	}
	switch {
	case t.Again:
		p.Text("It was taken before; nothing more came of it.")
		return
	case t.Role == "home":
		p.Text(
			"%sTook %s, with %s, and %s.",
			would,
			pluralize(t.Applied, "change", "changes"),
			pluralize(t.Conflicts, "conflict", "conflicts"),
			pluralize(t.Files, "file", "files"),
		)
	default:
		p.Text(
			"%sRead %s and %s. The home took %s of this clone, with %s.",
			would,
			pluralize(t.Taken, "record", "records"),
			pluralize(t.Files, "file", "files"),
			pluralize(t.Applied, "change", "changes"),
			pluralize(t.Conflicts, "conflict", "conflicts"),
		)
	}
	for _, n := range t.Notes {
		p.Item(0, "%s", n)
	}
	switch {
	case t.DryRun:
	case t.Conflicts > 0:
		p.Text(
			"%s for a person to decide at the home: `service sync conflicts` lists them.",
			pluralize(t.Conflicts, "conflict", "conflicts"),
		)
	case t.Role == "home":
		p.Text("`service sync bundle FILE` writes the answer.")
	}
	if t.More {
		p.Text("Not all fitted: the other side writes another.")
	}
}
