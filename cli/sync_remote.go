package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/contexts"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/client"
)

// syncResult is what came of bringing a clone and its home together.
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
	cmd := group(&cobra.Command{
		Use: "sync", Short: "Work on a clone of an assessment offline, and bring both together",
		Long: `Sends what was changed in the clone here to its home, and reads what changed there.
People who changed different lines, or different fields of one, never notice each other;
two who changed the same field have a conflict with both values, to choose from. What
was submitted, approved and moved offline is done again at the home, by its rules.`,
		Example: "  service sync clone https://grc.acme.example 'Acme 2026'\n  service sync\n  service sync --dry-run\n  service sync conflicts",
	}, a.syncClone(), a.syncPublish(), a.syncStatus(), a.syncConflicts(), a.syncResolve(), a.syncForget(),
		a.syncKey(), a.syncTrust(), a.syncPeers(), a.syncDistrust(), a.syncWriteBundle(), a.syncApplyBundle())
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
			return adviseRemoteError(err, st)
		}
		return a.printSyncResult(got)
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "tell what would be sent, what would come of it, and how much there is to read")
	return cmd
}

func (a *app) printSyncResult(got *syncResult) error {
	if !a.out.IsHumanReadable() {
		return a.out.Record(got)
	}
	return a.out.Page(func(p *print.Page) {
		if got.DryRun {
			p.Text(
				"Would send %s and %s; the home would take %d, with %s. It has %s to read.",
				pluralize(got.Sent, "change", "changes"),
				pluralize(got.Files, "file", "files"),
				got.Applied,
				pluralize(got.Conflicts, "conflict", "conflicts"),
				pluralize(got.Read, "record", "records"),
			)
		} else {
			p.Text("Sent %s, read %s and %s.", pluralize(got.Sent, "change", "changes"), pluralize(got.Read, "record", "records"), pluralize(got.Files, "file", "files"))
		}
		for _, n := range got.Notes {
			p.Item(0, "%s", n)
		}
		if got.Conflicts > 0 && !got.DryRun {
			p.Text("%s for a person to decide: `service sync conflicts` lists them.", pluralize(got.Conflicts, "conflict", "conflicts"))
		}
	})
}

// here makes the data folder what the command works on, whatever context is in use: a clone is there.
func (a *app) useDataFolder() {
	t := &a.flags.Target
	t.Server, t.Token, t.Session = "", "", ""
	if a.context != nil {
		t.Organization = ""
	}
	a.context, a.targetErr = nil, nil
}

// connectRemote reaches a server as the person who is signed in there, or with the key that was given.
func (a *app) connectRemote(ctx context.Context, server, organization, token string) (*client.Client, func() error, error) {
	server = strings.TrimRight(server, "/")
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
			return nil, nil, withHint(usageError("you are not signed in at %s", server), "sign in with `service login %s`", server)
		}
		if t, err = a.withCredential(targetFromContext(found), found); err != nil {
			return nil, nil, err
		}
	}
	t.OnThrottled = nil
	return a.Connect(ctx, t)
}

// openCloneAndRemote reaches the clone in the data folder and its home.
func (a *app) openCloneAndRemote(ctx context.Context) (*api.SyncStatus, *client.Client, func() error, error) {
	token := a.flags.Token
	a.useDataFolder()
	st, err := a.currentSyncStatus(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	if st.Role != "clone" {
		return nil, nil, nil, withHint(
			usageError("the assessment is no clone"),
			"`service sync clone URL ASSESSMENT` makes one, `service sync publish URL` gives this one a home",
		)
	}
	if st.Server == "" {
		return nil, nil, nil, withHint(
			runtimeError("this clone was made from a bundle of %s, and knows no server", st.PeerName),
			"`service sync bundle FILE` writes what they lack, `service sync take FILE` takes what they write",
		)
	}
	remote, disconnect, err := a.connectRemote(ctx, st.Server, st.OrganizationID, token)
	return st, remote, disconnect, adviseRemoteError(err, st)
}

// adviseRerun says what to do where the way broke off.
func adviseRerun(err error) error {
	if !errors.Is(err, client.ErrConnectionLost) {
		return err
	}
	return withHint(err, "run the same command again: it goes on from there, and nothing is taken twice")
}

// adviseRemoteError says what to do where a clone's home gives no answer, knows nothing of it, or takes
// nothing of this person any more.
func adviseRemoteError(err error, st *api.SyncStatus) error {
	if api.IsCode(err, api.CodeNotFound) {
		return withHint(
			err,
			"%s knows nothing of this clone any more; what is here stays here. Where the assessment was deleted there, `service sync forget` makes this one stand on its own, and `service sync publish %s` gives it a home again; "+
				"where the synchronisation was ended there, make another clone in a folder of its own: `service --data FOLDER sync clone %s %s`",
			st.Server,
			st.Server,
			st.Server,
			st.AssessmentID,
		)
	}
	if errors.Is(err, client.ErrConnectionLost) {
		return adviseRerun(err)
	}
	if api.IsCode(err, api.CodeUnauthorized) {
		return withHint(err, "sign in at the home with `service login %s`; what was changed here stays here meanwhile", st.Server)
	}
	if api.IsCode(err, api.CodeForbidden) {
		return withHint(
			err,
			"what was changed here stays here. Where %s is no member there any more, an owner or admin signs in on this machine (`service login %s`) and runs `service sync`: it is held back there until somebody decides",
			st.Account,
			st.Server,
		)
	}
	if !errors.Is(err, client.ErrUnreachable) {
		return err
	}
	return withHint(
		err,
		"see that the server runs and that there is a way to it; nothing is lost meanwhile. Where it has another address now, `service sync clone ADDRESS %s` goes on with it",
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

// syncUntilDone sends and reads until there is nothing more.
func (a *app) syncUntilDone(ctx context.Context, remote *client.Client, st *api.SyncStatus, dryRun bool) (*syncResult, error) {
	result := &syncResult{AssessmentID: st.AssessmentID, DryRun: dryRun, Notes: []string{}}
	clone, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	a.progress.Start("bring both together")
	for {
		p, err := call(ctx, a, api.PrepareSync, &api.PrepareSyncInput{AssessmentID: st.AssessmentID, Dry: formatDryRun(dryRun)})
		if err != nil {
			return nil, err
		}
		if p.Lines == 0 {
			break
		}
		n, err := transferMissingFiles(ctx, clone, remote, p, dryRun)
		if err != nil {
			return nil, err
		}
		in := &api.PushSyncInput{AssessmentID: st.AssessmentID, File: toUploadFile(p.Data), Dry: formatDryRun(dryRun)}
		out, err := client.Do(ctx, remote, api.PushSync, in)
		if err != nil {
			return nil, err
		}
		result.Sent, result.Applied, result.Conflicts, result.Notes = result.Sent+p.Lines, result.Applied+out.Applied, result.Conflicts+out.Conflicts, append(
			result.Notes,
			out.Notes...)
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
	if api.IsCode(err, api.CodeForbidden) && result.Sent > 0 { // somebody brought what is another's; it is not theirs to read
		result.Notes, err = append(result.Notes, "nothing was read: "+err.Error()), nil
	}
	if err == nil {
		a.progress.Done("sent %d, read %d", result.Sent, result.Read)
	}
	return result, err
}

// syncAndSummarize brings a clone and its home together, and says what came of it.
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
		"sent %s, read %s and %s",
		pluralize(got.Sent, "change", "changes"),
		pluralize(got.Read, "record", "records"),
		pluralize(got.Files, "file", "files"),
	)
	if got.Conflicts > 0 {
		summary += ", " + pluralize(got.Conflicts, "new conflict", "new conflicts")
	}
	return summary, nil
}

// pullChanges brings what changed at the home to the clone; where dry, it only counts the first part.
func (a *app) pullChanges(ctx context.Context, clone, remote *client.Client, st *api.SyncStatus, result *syncResult) error {
	for {
		now, err := call(ctx, a, api.GetSyncStatus, &api.SyncInput{AssessmentID: st.AssessmentID})
		if err != nil {
			return err
		}
		p, err := client.Do(ctx, remote, api.GetSyncChanges, &api.ChangesSyncInput{
			AssessmentID: st.AssessmentID, ReplicaID: st.ReplicaID, Since: int(now.Since),
			AnchorSequence: int(now.AnchorSequence), AnchorHash: now.AnchorHash, Dry: formatDryRun(result.DryRun),
		})
		if err != nil {
			return err
		}
		result.Read, result.ReadBytes = result.Read+p.Lines, result.ReadBytes+len(p.Data)
		if result.DryRun {
			return nil
		}
		n, err := transferMissingFiles(ctx, remote, clone, p, false)
		if err != nil {
			return err
		}
		result.Files += n
		a.progress.Update("read %d records", result.Read)
		out, err := client.Do(ctx, clone, api.ApplySync, &api.BringSyncInput{AssessmentID: st.AssessmentID, File: toUploadFile(p.Data)})
		if err != nil {
			return err
		}
		if !out.More && p.Lines == 0 { // asked once more, so the home knows what was read
			return nil
		}
	}
}

// findRemoteAssessment is an assessment at a server, by id or name.
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
		return nil, runtimeError("there is no assessment %q there", ref)
	}
	return nil, usageError("%d assessments there are named %q: give the id of one, as %s", len(found), ref, found[0].ID)
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
		Use: "clone URL ASSESSMENT", Short: "Copy an assessment of a server here, to work on it offline", Args: requireArgs(2, 2),
		Long: `Copies an assessment of a server you are signed in at into the data folder of this machine:
documents, passages, scope, deliverables, decisions, comments and events. Work on it as on
any other; ` + "`service sync`" + ` brings both together. Broken off, the same command goes on.`,
		Example: "  service login https://grc.acme.example\n  service sync clone https://grc.acme.example 'Acme 2026'\n  service sync clone https://grc.acme.example ID --carry-catalog",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			token := a.flags.Token
			a.useDataFolder()
			remote, disconnect, err := a.connectRemote(ctx, args[0], "", token)
			if err != nil {
				return err
			}
			got, err := a.cloneAssessment(ctx, remote, strings.TrimRight(args[0], "/"), args[1], withCatalog)
			if err = errors.Join(err, disconnect()); err != nil {
				return adviseRerun(err)
			}
			a.rememberAssessment(got.AssessmentID)
			return a.printSyncResult(got)
		},
	}
	cmd.Flags().BoolVar(&withCatalog, "carry-catalog", false, "bring the catalog version along where it is not here")
	return cmd
}

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
				runtimeError("%s is in this data folder already, and is no clone", one.Name),
				"clone it into a folder of its own: `service --data FOLDER sync clone %s %s`",
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
		return nil, adviseRemoteError(api.NotFound("clone", in.Body.ReplicaID), &api.SyncStatus{AssessmentID: one.ID, Server: server})
	}
	st, err := a.attachClone(ctx, server, joined, joined.CatalogSHA256, joined.OwnSHA256)
	if api.IsCode(err, api.CodeInvalidState) && withCatalog {
		if err = transferCatalog(ctx, remote, clone, one.ID, joined.OwnSHA256 != ""); err == nil {
			st, err = a.attachClone(ctx, server, joined, joined.CatalogSHA256, joined.OwnSHA256)
		}
	}
	if err != nil {
		return nil, withHint(err, "where the catalog is what lacks: import the release %s, or add --carry-catalog", joined.CatalogLabel)
	}
	return a.syncUntilDone(ctx, remote, st, false)
}

func (a *app) attachClone(
	ctx context.Context,
	server string,
	j *api.JoinedSync,
	catalogSHA256, customSHA256 string,
) (*api.SyncStatus, error) {
	in := &api.AttachSyncInput{}
	in.Body.AssessmentID, in.Body.Server, in.Body.RemoteOrganization, in.Body.ReplicaID, in.Body.Account, in.Body.CatalogSHA256, in.Body.OwnSHA256 = j.AssessmentID, server, j.OrganizationID, j.ReplicaID, j.Account, catalogSHA256, customSHA256
	return call(ctx, a, api.AttachSync, in)
}

func (a *app) syncPublish() *cobra.Command {
	var withCatalog bool
	cmd := &cobra.Command{
		Use: "publish URL", Short: "Give an assessment begun here a home on a server", Args: requireArgs(1, 1),
		Long: `Brings an assessment that was begun in this data folder to a server, where it lives from
now on; the one here is a clone of it. Its moves and decisions are made again there, as
you, as far as the rules there let you.`,
		Example: "  service sync publish https://grc.acme.example -a 'Acme 2026'",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			token := a.flags.Token
			a.useDataFolder()
			remote, disconnect, err := a.connectRemote(ctx, args[0], "", token)
			if err != nil {
				return err
			}
			got, err := a.publishAssessment(ctx, remote, strings.TrimRight(args[0], "/"), withCatalog)
			if err = errors.Join(err, disconnect()); err != nil {
				return adviseRerun(err)
			}
			return a.printSyncResult(got)
		},
	}
	cmd.Flags().BoolVar(&withCatalog, "carry-catalog", false, "bring the catalog version along where the server lacks it")
	return cmd
}

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
	if st, err = a.attachClone(ctx, server, joined, st.CatalogSHA256, st.OwnSHA256); err != nil {
		return nil, err
	}
	if withCatalog {
		if err := transferCatalog(ctx, local, remote, st.AssessmentID, st.OwnSHA256 != ""); err != nil {
			return nil, err
		}
	}
	return a.syncUntilDone(ctx, remote, st, false)
}

func (a *app) syncStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Tell what is ahead and in conflict, and who has clones", Args: requireArgs(0, 0),
		Long:    "Tells of a clone what it has changed and not sent, of a home which clones there are and\nhow far they are behind, and of both how many conflicts are open.",
		Example: "  service sync status\n  service sync status -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, err := a.currentSyncStatus(cmd.Context())
			if err != nil {
				return err
			}
			return a.out.Print(st, func(p *print.Page) {
				switch st.Role {
				case "none":
					p.Text("It is not synchronised.")
					return
				case "home":
					p.Text("This is its home. %s.", pluralize(len(st.Replicas), "clone", "clones"))
					for _, r := range st.Replicas {
						p.Item(
							0,
							"%s on %s, last seen %s, %s behind",
							r.UserName,
							r.Name,
							formatTime(r.SeenAt),
							pluralize(int(r.Behind), "change", "changes"),
						)
					}
				default:
					p.Text(
						"A clone of %s, as %s.",
						cmp.Or(st.Server, "the one of "+st.PeerName+", by bundles"),
						cmp.Or(st.Account, "the account that the key is trusted for"),
					)
					if st.SyncedAt != nil {
						p.Text("Last brought together %s.", formatTime(*st.SyncedAt))
					}
					p.Text("%s not sent yet.", pluralize(st.Ahead, "record is", "records are"))
					for _, u := range st.Unsent {
						p.Item(0, "%s %s, %s", strings.ReplaceAll(u.Table, "_", " "), u.Label, formatTime(u.At))
					}
				}
				p.Text("%s open.", pluralize(st.OpenConflicts, "conflict is", "conflicts are"))
			})
		},
	}
}

func (a *app) syncConflicts() *cobra.Command {
	in := &api.SyncConflictsInput{}
	var all bool
	var l listFlags
	cmd := &cobra.Command{
		Use: "conflicts", Short: "List conflicts, with both values", Args: requireArgs(0, 0),
		Long:    "Lists the open conflicts of the assessment, newest first: what both began with, what the\nhome has, and what came from the clone, each with who and when.",
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
			got, err := collectPages(cmd.Context(), l.limit, l.cursor, func(p api.Paging) (*api.List[api.SyncConflict], error) {
				in.Paging = p
				return call(cmd.Context(), a, api.ListSyncConflicts, in)
			})
			if err != nil {
				return err
			}
			defer a.noteMoreResults(len(got.Data), got.Pagination)
			return a.out.Print(got, func(p *print.Page) {
				for i := range got.Data {
					renderConflict(p, &got.Data[i])
				}
				a.textIfEmpty(p, len(got.Data), "There are no conflicts.")
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "with those that are resolved")
	l.register(cmd, 0)
	return cmd
}

func renderConflict(p *print.Page, c *api.SyncConflict) {
	p.Item(0, "%s (%s, %s)", c.Message, c.Status, c.ID)
	if c.Kind == api.ConflictReplica {
		p.Item(2, "`--take clone` does them as you, as far as the rules let you; `--take home` leaves them out")
		return
	}
	for _, s := range []struct {
		what string
		side api.SyncSide
	}{{"began as", c.Base}, {"home", c.Home}, {"clone", c.Clone}} {
		if string(s.side.Value) == "null" && s.side.By == "" {
			continue
		}
		who := ""
		if s.side.By != "" {
			who = " by " + s.side.By
		}
		if s.side.At != nil {
			who += " " + formatTime(*s.side.At)
		}
		p.Item(2, "%s: %.300s%s", s.what, s.side.Value, who)
	}
}

func (a *app) syncResolve() *cobra.Command {
	var side, value string
	cmd := &cobra.Command{
		Use: "resolve CONFLICT", Short: "Decide a conflict", Args: requireArgs(1, 1),
		Long:    "Decides a conflict: --take home leaves what the home has, --take clone sets what came from\nthe clone, --value sets another. It is decided at the home; a clone reads it with the next\n`service sync`.",
		Example: "  service sync resolve ID --take clone\n  service sync resolve ID --value 'Head of IT'",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			in := &api.ResolveSyncInput{SyncConflictInput: api.SyncConflictInput{ConflictID: args[0]}}
			switch {
			case cmd.Flags().Changed("value") == (side != ""):
				return withHint(usageError("say how the conflict is decided"), "give --take home, --take clone, or --value VALUE")
			case side != "":
				if err := checkOneOf("choice", side, []string{"home", "clone"}); err != nil {
					return err
				}
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
			made, err := a.resolveAtRemote(ctx, in)
			if err != nil {
				return err
			}
			return a.out.Print(made, func(p *print.Page) { p.Text("Decided: %s. A clone reads it with `service sync`.", made.Choice) })
		},
	}
	cmd.Flags().StringVar(&side, "take", "", "home or clone")
	cmd.Flags().StringVar(&value, "value", "", "set this value, as text or JSON")
	return cmd
}

// resolveAtRemote decides where the command works; of a clone, at its home.
func (a *app) resolveAtRemote(ctx context.Context, in *api.ResolveSyncInput) (*api.SyncConflict, error) {
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
		return nil, runtimeError("a conflict is decided at the home, with %s; the decision comes with their next bundle", st.PeerName)
	}
	remote, disconnect, err := a.connectRemote(ctx, st.Server, st.OrganizationID, a.flags.Token)
	if err != nil {
		return nil, err
	}
	out, err := client.Do(ctx, remote, api.ResolveSyncConflict, in)
	return out, errors.Join(err, disconnect())
}

func (a *app) syncForget() *cobra.Command {
	var skipPrompt bool
	cmd := &cobra.Command{
		Use: "forget", Short: "End the synchronisation; the records stay", Args: requireArgs(0, 0),
		Long:    "Ends the synchronisation of the assessment where the command works. Of a clone, what was\nnot sent stays here alone; of a home, its clones can bring nothing any more.",
		Example: "  service sync forget --yes",
		RunE: func(cmd *cobra.Command, _ []string) error {
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			if err := a.confirm(skipPrompt, "end the synchronisation of "+one.Name); err != nil {
				return err
			}
			_, err = call(cmd.Context(), a, api.DetachSync, &api.SyncInput{AssessmentID: one.ID})
			return err
		},
	}
	cmd.Flags().BoolVarP(&skipPrompt, "yes", "y", false, "do not ask")
	return cmd
}
