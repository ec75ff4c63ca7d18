package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/contexts"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/client"
	"github.com/scf-service/service/internal/prose"
)

// syncResult is the result of syncing a clone with its remote.
type syncResult struct {
	AssessmentID string   `json:"assessment_id"`
	DryRun       bool     `json:"dry_run"`
	Sent         int      `json:"sent"`
	Applied      int      `json:"applied"`
	Conflicts    int      `json:"conflicts"`
	Notes        []string `json:"notes"`
	Read         int      `json:"read"`
	SentBytes    int      `json:"sent_bytes"`
	ReadBytes    int      `json:"read_bytes"`
	Files        int      `json:"files"`
}

func (a *app) syncCommand() *cobra.Command {
	var dryRun bool
	cmd := makeCommandGroup(&cobra.Command{
		Use: "sync", Short: "Work on a clone of an assessment offline and sync it",
		Long: `Pushes changes made in the local clone to its remote, and pulls changes from the remote.
Changes to different items, or to different fields of an item, are merged. If the same field
was changed on both sides, there is a conflict, and you choose one of the two values.
Submissions, approvals and transitions made offline are repeated on the remote, under its rules.`,
		Example: "  service sync clone https://grc.acme.example 'Acme 2026'\n  service sync\n  service sync --dry-run\n  service sync conflicts",
	}, a.syncClone(), a.syncPublish(), a.syncStatus(), a.syncConflicts(), a.syncResolveConflict(), a.syncDetach(),
		a.syncShowKey(), a.syncTrust(), a.syncPeers(), a.syncDistrust(), a.syncWriteBundle(), a.syncApplyBundle())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommandError(cmd, args[0])
		}
		ctx := cmd.Context()
		st, remote, disconnect, err := a.openCloneAndRemote(ctx)
		if err != nil {
			return err
		}
		got, err := a.syncUntilDone(ctx, remote, st, dryRun)
		if err := errors.Join(err, disconnect()); err != nil {
			return withRemoteHint(err, st)
		}
		return a.printSyncResult(got)
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would be sent and received, without changing anything")
	return cmd
}

func (a *app) printSyncResult(got *syncResult) error {
	if !a.out.IsHumanReadable() {
		return a.out.PrintRecord(got)
	}
	return a.out.PrintPage(func(p *print.Page) {
		if got.DryRun {
			p.Text(
				"Would push %s and %s. The remote would apply %d of the changes, with %s. Would pull %s.",
				prose.Count(got.Sent, "change", "changes"),
				prose.Count(got.Files, "file", "files"),
				got.Applied,
				prose.Count(got.Conflicts, "conflict", "conflicts"),
				prose.Count(got.Read, "record", "records"),
			)
		} else {
			p.Text(
				"Pushed %s, pulled %s and %s.",
				prose.Count(got.Sent, "change", "changes"),
				prose.Count(got.Read, "record", "records"),
				prose.Count(got.Files, "file", "files"),
			)
		}
		for _, n := range got.Notes {
			p.ListItem(0, "%s", n)
		}
		if got.Conflicts > 0 && !got.DryRun {
			p.Text("%s must be resolved; to list conflicts, run `service sync conflicts`.", prose.Count(got.Conflicts, "conflict", "conflicts"))
		}
	})
}

// switchToLocalDataFolder switches the command to the local data folder, where clones are kept, regardless of
// the current context.
func (a *app) switchToLocalDataFolder() {
	t := &a.flags.Target
	t.Server, t.Token, t.Session = "", "", ""
	if a.context != nil {
		t.Organization = ""
	}
	a.context, a.targetErr = nil, nil
}

// connectRemote connects to a server, either as the user who is signed in there or with the API key in token.
// The caller must call the returned function to disconnect.
func (a *app) connectRemote(
	ctx context.Context,
	server, organization, token string,
) (remote *client.Client, disconnect func() error, _ error) {
	server = strings.TrimRight(server, "/")
	if !strings.Contains(server, "://") {
		return nil, nil, usageError("%q is not the address of a server; use an address such as https://service.example.com", server)
	}
	t := Target{Server: server, Organization: organization, Token: token, CA: a.flags.CA, InsecureHTTP: a.flags.InsecureHTTP}
	if token == "" {
		b, err := a.readContexts()
		if err != nil {
			return nil, nil, err
		}
		var found *contexts.Context
		for i := range b.Contexts {
			c := &b.Contexts[i]
			if c.Server == server && (organization == "" || c.OrganizationID == "" || c.OrganizationID == organization) &&
				(found == nil || strings.EqualFold(c.Name, b.Current)) {
				found = c
			}
		}
		if found == nil {
			return nil, nil, withHint(api.Unauthorized("not signed in to %s", server), "sign in with `service login %s`", server)
		}
		if t, err = a.withCredential(targetFromContext(found), found); err != nil {
			return nil, nil, err
		}
	}
	t.OnThrottled = nil
	return a.Connect(ctx, t)
}

// openCloneAndRemote returns the sync status of the local clone, a connection to its remote, and a function
// that closes the connection.
func (a *app) openCloneAndRemote(ctx context.Context) (*api.SyncStatus, *client.Client, func() error, error) {
	token := a.flags.Token
	a.switchToLocalDataFolder()
	st, err := a.currentSyncStatus(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	if st.Role != "clone" {
		return nil, nil, nil, withHint(
			usageError("the assessment is not a clone"),
			"clone an assessment with `service sync clone URL ASSESSMENT`, or publish this assessment with `service sync publish URL`",
		)
	}
	if st.Server == "" {
		return nil, nil, nil, withHint(
			runtimeError("this clone was created from a bundle from %s and has no server", st.PeerName),
			"write a bundle with `service sync bundle FILE`, and import bundles from the other party with `service sync import FILE`",
		)
	}
	remote, disconnect, err := a.connectRemote(ctx, st.Server, st.OrganizationID, token)
	return st, remote, disconnect, withRemoteHint(err, st)
}

// withRerunHint adds a hint to run the command again if err is a lost connection.
func withRerunHint(err error) error {
	if !errors.Is(err, client.ErrConnectionLost) {
		return err
	}
	return withHint(err, "run the same command again; the sync continues where it stopped, and no change is applied twice")
}

// withRemoteHint adds a hint to an error from the remote of a clone, for example if the remote is
// unreachable, doesn't know the clone, or rejects the user.
func withRemoteHint(err error, st *api.SyncStatus) error {
	if api.IsCode(err, api.CodeNotFound) {
		return withHint(
			err,
			"%s no longer recognizes this clone; your local data is kept. If the assessment was deleted on the server, detach "+
				"the clone with `service sync detach` and publish it again with `service sync publish %s`. "+
				"If syncing was turned off on the server, create a new clone in a separate folder with `service --data FOLDER sync clone %s %s`",
			st.Server,
			st.Server,
			st.Server,
			st.AssessmentID,
		)
	}
	if errors.Is(err, client.ErrConnectionLost) {
		return withRerunHint(err)
	}
	if api.IsCode(err, api.CodeUnauthorized) {
		return withHint(err, "sign in to the remote with `service login %s`; your local changes are kept", st.Server)
	}
	if api.IsCode(err, api.CodeForbidden) {
		return withHint(
			err,
			"your local changes are kept. If %s is no longer a member of the organization, an owner or admin can sign in on "+
				"this machine (`service login %s`) and run `service sync`; the changes then await a decision on the server",
			st.Account,
			st.Server,
		)
	}
	if !errors.Is(err, client.ErrUnreachable) {
		return err
	}
	return withHint(
		err,
		"nothing is lost; check that the server is running and reachable. If its address has changed, run `service sync clone ADDRESS %s`",
		st.AssessmentID,
	)
}

func (a *app) currentSyncStatus(ctx context.Context) (*api.SyncStatus, error) {
	one, err := a.currentAssessment(ctx)
	if err != nil {
		return nil, err
	}
	return call(ctx, a, api.GetSyncStatus, &api.SyncInput{AssessmentID: one.ID})
}

// syncUntilDone pushes and pulls until both sides are up to date.
func (a *app) syncUntilDone(ctx context.Context, remote *client.Client, st *api.SyncStatus, dryRun bool) (*syncResult, error) {
	result := &syncResult{AssessmentID: st.AssessmentID, DryRun: dryRun, Notes: []string{}}
	clone, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	a.progress.Start("syncing")
	for {
		p, err := call(ctx, a, api.PrepareSync, &api.PrepareSyncInput{AssessmentID: st.AssessmentID, DryRun: encodeDryRun(dryRun)})
		if err != nil {
			return nil, err
		}
		if p.ChangeCount == 0 {
			break
		}
		n, err := transferMissingFiles(ctx, clone, remote, p, dryRun)
		if err != nil {
			return nil, err
		}
		in := &api.PushSyncInput{AssessmentID: st.AssessmentID, File: toUploadFile(p.Data), DryRun: encodeDryRun(dryRun)}
		out, err := client.Do(ctx, remote, api.PushSync, in)
		if err != nil {
			return nil, err
		}
		result.Sent += p.ChangeCount
		result.Applied += out.Applied
		result.Conflicts += out.Conflicts
		result.Notes = append(result.Notes, out.Notes...)
		result.SentBytes, result.Files = result.SentBytes+len(p.Data), result.Files+n
		if dryRun {
			break
		}
		ack := &api.AcknowledgeSyncInput{AssessmentID: st.AssessmentID}
		ack.Body.Counter = p.Counter
		if _, err := call(ctx, a, api.AcknowledgeSync, ack); err != nil {
			return nil, err
		}
	}
	err = a.pullChanges(ctx, clone, remote, st, result)
	if api.IsCode(err, api.CodeForbidden) && result.Sent > 0 { // a third party delivered changes that the caller may not read back
		result.Notes, err = append(result.Notes, "nothing was pulled: "+err.Error()), nil
	}
	if err == nil {
		a.progress.Done("pushed %d, pulled %d", result.Sent, result.Read)
	}
	return result, err
}

// syncAndSummarize syncs a clone with its remote and returns a summary.
func (a *app) syncAndSummarize(ctx context.Context, assessment string) (string, error) {
	st, err := call(ctx, a, api.GetSyncStatus, &api.SyncInput{AssessmentID: assessment})
	if err != nil {
		return "", err
	}
	remote, disconnect, err := a.connectRemote(ctx, st.Server, st.OrganizationID, a.flags.Token)
	if err != nil {
		return "", err
	}
	got, err := a.syncUntilDone(ctx, remote, st, false)
	if err := errors.Join(err, disconnect()); err != nil {
		return "", err
	}
	summary := fmt.Sprintf(
		"pushed %s, pulled %s and %s",
		prose.Count(got.Sent, "change", "changes"),
		prose.Count(got.Read, "record", "records"),
		prose.Count(got.Files, "file", "files"),
	)
	if got.Conflicts > 0 {
		summary += ", " + prose.Count(got.Conflicts, "new conflict", "new conflicts")
	}
	return summary, nil
}

// pullChanges applies the remote's changes to the clone. In a dry run it only counts the first
// batch.
func (a *app) pullChanges(ctx context.Context, clone, remote *client.Client, st *api.SyncStatus, result *syncResult) error {
	for {
		now, err := call(ctx, a, api.GetSyncStatus, &api.SyncInput{AssessmentID: st.AssessmentID})
		if err != nil {
			return err
		}
		p, err := client.Do(ctx, remote, api.GetSyncChanges, &api.ChangesSyncInput{
			AssessmentID: st.AssessmentID, ReplicaID: st.ReplicaID, Since: int(now.Since),
			AnchorSequence: int(now.AnchorSequence), AnchorHash: now.AnchorHash, DryRun: encodeDryRun(result.DryRun),
		})
		if err != nil {
			return err
		}
		result.Read, result.ReadBytes = result.Read+p.ChangeCount, result.ReadBytes+len(p.Data)
		if result.DryRun {
			return nil
		}
		n, err := transferMissingFiles(ctx, remote, clone, p, false)
		if err != nil {
			return err
		}
		result.Files += n
		a.progress.Update("pulled %s", prose.Count(result.Read, "record", "records"))
		out, err := client.Do(ctx, clone, api.ApplySync, &api.UploadSyncInput{AssessmentID: st.AssessmentID, File: toUploadFile(p.Data)})
		if err != nil {
			return err
		}
		if !out.More && p.ChangeCount == 0 { // another request tells the remote which changes were received
			return nil
		}
	}
}

// findRemoteAssessment returns an assessment on a server by id or name.
func findRemoteAssessment(ctx context.Context, remote *client.Client, ref string) (*api.Assessment, error) {
	if uuidPattern.MatchString(ref) {
		return client.Do(ctx, remote, api.GetAssessment, &api.AssessmentInput{AssessmentID: ref})
	}
	l, err := client.Do(ctx, remote, api.ListAssessments, &api.AssessmentsInput{Q: ref, Paging: api.Paging{Limit: api.MaxListLimit}})
	if err != nil {
		return nil, err
	}
	var found []api.Assessment
	for _, one := range l.Data {
		if strings.EqualFold(one.Name, ref) {
			found = append(found, one)
		}
	}
	switch len(found) {
	case 1:
		return &found[0], nil
	case 0:
		return nil, runtimeError("there is no assessment %q on the server", ref)
	}
	return nil, usageError("%d assessments on the server are named %q; specify the assessment by its id, e.g. %s",
		len(found), ref, found[0].ID)
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}

func (a *app) syncClone() *cobra.Command {
	var withCatalog bool
	cmd := &cobra.Command{
		Use: "clone URL ASSESSMENT", Short: "Clone an assessment from a server to work offline",
		Long: `Copies an assessment from a server to the local data folder, with its documents, passages, scope,
deliverables, decisions, comments and events. You must be signed in to the server. Work on the copy
as on any other assessment; ` + "`service sync`" + ` syncs it with the server. If cloning is interrupted, run
the same command again.`,
		Example: "  service login https://grc.acme.example\n  service sync clone https://grc.acme.example 'Acme 2026'\n" +
			"  service sync clone https://grc.acme.example ID --include-catalog",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			token, usesServer := a.flags.Token, a.context != nil
			a.switchToLocalDataFolder()
			remote, disconnect, err := a.connectRemote(ctx, args[0], "", token)
			if err != nil {
				return err
			}
			got, err := a.cloneAssessment(ctx, remote, strings.TrimRight(args[0], "/"), args[1], withCatalog)
			if err = errors.Join(err, disconnect()); err != nil {
				return withRerunHint(err)
			}
			a.rememberAssessment(got.AssessmentID)
			if usesServer {
				a.printNotice("Commands still use the server. To work on the clone, run `service use local`.")
			}
			return a.printSyncResult(got)
		},
	}
	cmd.Flags().BoolVar(&withCatalog, "include-catalog", false, "also copy the catalog version if the local data folder doesn't have it")
	return cmd
}

// cloneAssessment creates a local clone of an assessment on a server, and fetches its content.
func (a *app) cloneAssessment(ctx context.Context, remote *client.Client, server, ref string, withCatalog bool) (*syncResult, error) {
	one, err := findRemoteAssessment(ctx, remote, ref)
	if err != nil {
		return nil, err
	}
	clone, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	in := &api.JoinSyncInput{}
	in.Body.AssessmentID, in.Body.Name = one.ID, hostname()
	if st, err := call(ctx, a, api.GetSyncStatus, &api.SyncInput{AssessmentID: one.ID}); err == nil {
		switch st.Role {
		case "none":
			return nil, withHint(
				runtimeError("%s already exists in this data folder and is not a clone", one.Name),
				"clone the assessment into a separate data folder with `service --data FOLDER sync clone %s %s`",
				server,
				one.ID,
			)
		case "clone":
			in.Body.ReplicaID = st.ReplicaID
		}
	} else if !api.IsCode(err, api.CodeNotFound) {
		return nil, err
	}
	joined, err := client.Do(ctx, remote, api.JoinSync, in)
	if err != nil {
		return nil, err
	}
	if in.Body.ReplicaID != "" && joined.ReplicaID != in.Body.ReplicaID {
		return nil, withRemoteHint(api.NotFound("clone", in.Body.ReplicaID), &api.SyncStatus{AssessmentID: one.ID, Server: server})
	}
	st, err := a.attachClone(ctx, server, joined, joined.CatalogSHA256, joined.CustomSHA256)
	if api.IsCode(err, api.CodeInvalidState) && withCatalog {
		if err = transferCatalog(ctx, remote, clone, one.ID, joined.CustomSHA256 != ""); err == nil {
			st, err = a.attachClone(ctx, server, joined, joined.CatalogSHA256, joined.CustomSHA256)
		}
	}
	if err != nil {
		return nil, withHint(err, "if the catalog is missing, import release %s of the catalog or add --include-catalog", joined.CatalogLabel)
	}
	return a.syncUntilDone(ctx, remote, st, false)
}

// attachClone makes the local assessment a clone of the joined remote, and returns its sync status.
func (a *app) attachClone(
	ctx context.Context,
	server string,
	j *api.JoinedSync,
	catalogSHA256, customSHA256 string,
) (*api.SyncStatus, error) {
	in := &api.AttachSyncInput{}
	in.Body.AssessmentID = j.AssessmentID
	in.Body.Server = server
	in.Body.RemoteOrganization = j.OrganizationID
	in.Body.ReplicaID = j.ReplicaID
	in.Body.Account = j.Account
	in.Body.CatalogSHA256 = catalogSHA256
	in.Body.CustomSHA256 = customSHA256
	return call(ctx, a, api.AttachSync, in)
}

func (a *app) syncPublish() *cobra.Command {
	var withCatalog bool
	cmd := &cobra.Command{
		Use: "publish URL", Short: "Publish a local assessment to a server",
		Long: `Publishes an assessment that was created in this data folder to a server. The assessment on the
server becomes the remote, and the local copy becomes a clone. Transitions and decisions are
repeated on the server in your name, as far as the server's rules allow.`,
		Example: "  service sync publish https://grc.acme.example -a 'Acme 2026'",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			token := a.flags.Token
			a.switchToLocalDataFolder()
			remote, disconnect, err := a.connectRemote(ctx, args[0], "", token)
			if err != nil {
				return err
			}
			got, err := a.publishAssessment(ctx, remote, strings.TrimRight(args[0], "/"), withCatalog)
			if err = errors.Join(err, disconnect()); err != nil {
				return withRerunHint(err)
			}
			return a.printSyncResult(got)
		},
	}
	cmd.Flags().BoolVar(&withCatalog, "include-catalog", false, "also copy the catalog version if the server doesn't have it")
	return cmd
}

// publishAssessment creates an assessment on a server that becomes the remote of the local one, and pushes its
// content.
func (a *app) publishAssessment(ctx context.Context, remote *client.Client, server string, withCatalog bool) (*syncResult, error) {
	st, err := a.currentSyncStatus(ctx)
	if err != nil {
		return nil, err
	}
	local, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	in := &api.JoinSyncInput{}
	in.Body.AssessmentID, in.Body.Name, in.Body.Publish, in.Body.ReplicaID = st.AssessmentID, hostname(), true, st.ReplicaID
	joined, err := client.Do(ctx, remote, api.JoinSync, in)
	if err != nil {
		return nil, err
	}
	if st, err = a.attachClone(ctx, server, joined, st.CatalogSHA256, st.CustomSHA256); err != nil {
		return nil, err
	}
	if withCatalog {
		if err := transferCatalog(ctx, local, remote, st.AssessmentID, st.CustomSHA256 != ""); err != nil {
			return nil, err
		}
	}
	return a.syncUntilDone(ctx, remote, st, false)
}

func (a *app) syncStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show unsent changes, conflicts and clones",
		Long: "For a clone, shows the changes that have not been sent yet. For a remote, shows its clones and\n" +
			"how many changes each one has not received yet. For both, shows the number of open conflicts.",
		Example: "  service sync status\n  service sync status -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, err := a.currentSyncStatus(cmd.Context())
			if err != nil {
				return err
			}
			return a.out.Print(st, func(p *print.Page) {
				switch st.Role {
				case "none":
					p.Text("The assessment is not synced.")
					return
				case "remote":
					p.Text("This is the remote copy. It has %s.", prose.Count(len(st.Replicas), "clone", "clones"))
					for _, r := range st.Replicas {
						p.ListItem(
							0,
							"clone of %s on %s, last seen on %s, %s behind",
							r.UserName,
							r.Name,
							print.FormatTime(r.SeenAt),
							prose.Count(int(r.Behind), "change", "changes"),
						)
					}
				default:
					p.Text(
						"Clone of %s, with the account %s.",
						cmp.Or(st.Server, st.PeerName+" (by bundles)"),
						cmp.Or(st.Account, "that the key is trusted for"),
					)
					if st.SyncedAt != nil {
						p.Text("Last synced %s.", print.FormatTime(*st.SyncedAt))
					}
					p.Text("%s not sent yet.", prose.Count(st.Ahead, "record is", "records are"))
					for _, u := range st.Unpushed {
						p.ListItem(0, "%s %s, %s", prose.Humanize(u.Table), u.Label, print.FormatTime(u.At))
					}
				}
				p.Text("%s open.", prose.Count(st.OpenConflicts, "conflict is", "conflicts are"))
			})
		},
	}
}

func (a *app) syncConflicts() *cobra.Command {
	in := &api.SyncConflictsInput{}
	var all bool
	var l listFlags
	cmd := &cobra.Command{
		Use: "conflicts", Short: "List conflicts with the values of both sides",
		Long: "Lists the assessment's open conflicts, newest first. For each conflict, shows the last common value,\n" +
			"the remote's value and the clone's value, with author and time.",
		Example: "  service sync conflicts\n  service sync conflicts --all -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			in.AssessmentID = one.ID
			if !all {
				in.Status = "open"
			}
			got, err := fetchList(cmd.Context(), a, api.ListSyncConflicts, in, l)
			if err != nil {
				return err
			}
			defer a.printMoreResultsNotice(len(got.Data), got.Pagination)
			return a.out.Print(got, func(p *print.Page) {
				for i := range got.Data {
					renderConflict(p, &got.Data[i])
				}
				renderTextIfEmpty(p, len(got.Data), "No conflicts.")
				if at := slices.IndexFunc(got.Data, func(c api.SyncConflict) bool { return c.Status == "open" }); at >= 0 {
					p.Blank()
					p.Text("Until you resolve a conflict, the remote's value is used. Choose the side whose value to keep; for a message, either will do:")
					p.Command(a.suggestedCommandLine("sync resolve " + got.Data[at].ID + " --keep remote"))
					p.Command(a.suggestedCommandLine("sync resolve " + got.Data[at].ID + " --keep clone"))
				}
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "include resolved conflicts")
	l.addFlags(cmd, 0)
	return cmd
}

func renderConflict(p *print.Page, c *api.SyncConflict) {
	p.ListItem(0, "%s (%s, %s)", c.Message, c.Status, c.ID)
	if c.Kind == api.ConflictReplica {
		p.ListItem(2, "`--keep clone` applies them as you, as far as permitted; `--keep remote` discards them")
		return
	}
	for _, s := range []struct {
		what string
		side api.SyncSide
	}{{"base", c.Base}, {"remote", c.Remote}, {"clone", c.Clone}} {
		if string(s.side.Value) == "null" && s.side.By == "" {
			continue
		}
		who := ""
		if s.side.By != "" {
			who = " by " + s.side.By
		}
		if s.side.At != nil {
			who += " " + print.FormatTime(*s.side.At)
		}
		p.ListItem(2, "%s: %.300s%s", s.what, s.side.Value, who)
	}
}

func (a *app) syncResolveConflict() *cobra.Command {
	var side, value string
	cmd := &cobra.Command{
		Use: "resolve CONFLICT", Short: "Resolve a conflict",
		Long: "Resolves a conflict. --keep remote keeps the remote's value, --keep clone keeps the clone's value,\n" +
			"and --value sets another value. The conflict is resolved on the remote; a clone receives the result\n" +
			"with the next `service sync`.",
		Example: "  service sync resolve ID --keep clone\n  service sync resolve ID --value 'Head of IT'",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			in := &api.ResolveSyncInput{SyncConflictInput: api.SyncConflictInput{ConflictID: args[0]}}
			switch {
			case cmd.Flags().Changed("value") == (side != ""):
				return withHint(usageError("no resolution given"), "use --keep remote, --keep clone or --value VALUE")
			case side != "":
				in.Body.Choice = side
			default:
				in.Body.Choice, in.Body.Value = "value", json.RawMessage(value)
				if !json.Valid(in.Body.Value) {
					b, err := json.Marshal(value)
					if err != nil {
						return err
					}
					in.Body.Value = b
				}
			}
			made, err := a.resolveSyncConflict(ctx, in)
			if err != nil {
				return err
			}
			return a.out.Print(made, func(p *print.Page) {
				p.Text("Resolved: %s. To get the result on a clone, run `service sync`.", made.Choice)
			})
		},
	}
	addChoiceFlag(cmd.Flags(), &side, "keep", []string{"remote", "clone"}, "side whose value is kept: remote or clone")
	cmd.Flags().StringVar(&value, "value", "", "new value to set (text or JSON)")
	return cmd
}

// resolveSyncConflict resolves a conflict in the current data folder or server or, if the assessment is a
// clone, on the clone's remote.
func (a *app) resolveSyncConflict(ctx context.Context, in *api.ResolveSyncInput) (*api.SyncConflict, error) {
	if a.flags.Server != "" || a.targetErr != nil {
		return call(ctx, a, api.ResolveSyncConflict, in)
	}
	c, err := call(ctx, a, api.GetSyncConflict, &in.SyncConflictInput)
	if err != nil {
		return nil, err
	}
	st, err := call(ctx, a, api.GetSyncStatus, &api.SyncInput{AssessmentID: c.AssessmentID})
	if err != nil {
		return nil, err
	}
	if st.Role != "clone" {
		return call(ctx, a, api.ResolveSyncConflict, in)
	}
	if st.Server == "" {
		return nil, runtimeError("%s resolves conflicts on the remote; import the next bundle from the remote to receive the result", st.PeerName)
	}
	remote, disconnect, err := a.connectRemote(ctx, st.Server, st.OrganizationID, a.flags.Token)
	if err != nil {
		return nil, err
	}
	out, err := client.Do(ctx, remote, api.ResolveSyncConflict, in)
	return out, errors.Join(err, disconnect())
}

func (a *app) syncDetach() *cobra.Command {
	var skipPrompt bool
	cmd := &cobra.Command{
		Use: "detach", Short: "Stop syncing an assessment; its data is kept",
		Long:    "Stops syncing the assessment. On a clone, unsent changes are kept locally. If the assessment is a\nremote, its clones can no longer push changes.",
		Example: "  service sync detach --yes",
		RunE: func(cmd *cobra.Command, _ []string) error {
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			if err := a.confirm(skipPrompt, "stop syncing "+one.Name); err != nil {
				return err
			}
			_, err = call(cmd.Context(), a, api.DetachSync, &api.SyncInput{AssessmentID: one.ID})
			return err
		},
	}
	addYesFlag(cmd, &skipPrompt)
	return cmd
}
