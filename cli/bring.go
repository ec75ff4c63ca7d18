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

// bringing is what came of bringing a clone and its home together.
type bringing struct {
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
	var dry bool
	cmd := group(&cobra.Command{
		Use: "sync", Short: "Work on a clone of an assessment offline, and bring both together",
		Long: `Sends what was changed in the clone here to its home, and reads what changed there.
People who changed different lines, or different fields of one, never notice each other;
two who changed the same field have a conflict with both values, to choose from. What
was submitted, approved and moved offline is done again at the home, by its rules.`,
		Example: "  service sync clone https://grc.acme.example 'Acme 2026'\n  service sync\n  service sync --dry-run\n  service sync conflicts",
	}, a.syncClone(), a.syncPublish(), a.syncStatus(), a.syncConflicts(), a.syncResolve(), a.syncForget(),
		a.syncKey(), a.syncTrust(), a.syncPeers(), a.syncDistrust(), a.syncBundle(), a.syncTake())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknown(cmd, args[0])
		}
		ctx := cmd.Context()
		st, home, done, err := a.both(ctx)
		if err != nil {
			return err
		}
		got, err := a.together(ctx, home, st, dry)
		if err := errors.Join(err, done()); err != nil {
			return movedHome(err, st)
		}
		return a.printBringing(got)
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "tell what would be sent, what would come of it, and how much there is to read")
	return cmd
}

func (a *app) printBringing(got *bringing) error {
	if !a.out.ForPeople() {
		return a.out.Record(got)
	}
	return a.out.Page(func(p *print.Page) {
		if got.DryRun {
			p.Text("Would send %s and %s; the home would take %d, with %s. It has %s to read.", count(got.Sent, "change", "changes"), count(got.Files, "file", "files"), got.Applied, count(got.Conflicts, "conflict", "conflicts"), count(got.Read, "record", "records"))
		} else {
			p.Text("Sent %s, read %s and %s.", count(got.Sent, "change", "changes"), count(got.Read, "record", "records"), count(got.Files, "file", "files"))
		}
		for _, n := range got.Notes {
			p.Item(0, "%s", n)
		}
		if got.Conflicts > 0 && !got.DryRun {
			p.Text("%s for a person to decide: `service sync conflicts` lists them.", count(got.Conflicts, "conflict", "conflicts"))
		}
	})
}

// here makes the data folder what the command works on, whatever context is in use: a clone is there.
func (a *app) onDataFolder() {
	t := &a.flags.Target
	t.Server, t.Token, t.Session = "", "", ""
	if a.context != nil {
		t.Organization = ""
	}
	a.context, a.lost = nil, nil
}

// homeOf reaches a server as the person who is signed in there, or with the key that was given.
func (a *app) homeOf(ctx context.Context, server, organization, token string) (*client.Client, func() error, error) {
	server = strings.TrimRight(server, "/")
	t := Target{Server: server, Organization: organization, Token: token, CA: a.flags.CA, InsecureHTTP: a.flags.InsecureHTTP}
	if token == "" {
		b, err := a.readBook()
		if err != nil {
			return nil, nil, err
		}
		var found *contexts.Context
		for i := range b.Contexts {
			c := &b.Contexts[i]
			if c.Server == server && (organization == "" || c.OrganizationID == "" || c.OrganizationID == organization) && (found == nil || strings.EqualFold(c.Name, b.Current)) {
				found = c
			}
		}
		if found == nil {
			return nil, nil, advise(usage("you are not signed in at %s", server), "sign in with `service login %s`", server)
		}
		if t, err = a.withSecret(targetOf(found), found); err != nil {
			return nil, nil, err
		}
	}
	t.Waiting = nil
	return a.Connect(ctx, t)
}

// both reaches the clone in the data folder and its home.
func (a *app) both(ctx context.Context) (*api.SyncStatus, *client.Client, func() error, error) {
	token := a.flags.Token
	a.onDataFolder()
	st, err := a.syncState(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	if st.Role != "clone" {
		return nil, nil, nil, advise(usage("the assessment is no clone"), "`service sync clone URL ASSESSMENT` makes one, `service sync publish URL` gives this one a home")
	}
	if st.Server == "" {
		return nil, nil, nil, advise(stopped("this clone was made from a bundle of %s, and knows no server", st.PeerName), "`service sync bundle FILE` writes what they lack, `service sync take FILE` takes what they write")
	}
	home, done, err := a.homeOf(ctx, st.Server, st.OrganizationID, token)
	return st, home, done, movedHome(err, st)
}

// brokeOff says what to do where the way broke off.
func brokeOff(err error) error {
	if !errors.Is(err, client.ErrBrokeOff) {
		return err
	}
	return advise(err, "run the same command again: it goes on from there, and nothing is taken twice")
}

// movedHome says what to do where a clone's home gives no answer, knows nothing of it, or takes
// nothing of this person any more.
func movedHome(err error, st *api.SyncStatus) error {
	if api.IsCode(err, api.CodeNotFound) {
		return advise(err, "%s knows nothing of this clone any more; what is here stays here. Where the assessment was deleted there, `service sync forget` makes this one stand on its own, and `service sync publish %s` gives it a home again; "+
			"where the synchronisation was ended there, make another clone in a folder of its own: `service --data FOLDER sync clone %s %s`", st.Server, st.Server, st.Server, st.AssessmentID)
	}
	if errors.Is(err, client.ErrBrokeOff) {
		return brokeOff(err)
	}
	if api.IsCode(err, api.CodeUnauthorized) {
		return advise(err, "sign in at the home with `service login %s`; what was changed here stays here meanwhile", st.Server)
	}
	if api.IsCode(err, api.CodeForbidden) {
		return advise(err, "what was changed here stays here. Where %s is no member there any more, an owner or admin signs in on this machine (`service login %s`) and runs `service sync`: it is held back there until somebody decides", st.Account, st.Server)
	}
	if !errors.Is(err, client.ErrUnreachable) {
		return err
	}
	return advise(err, "see that the server runs and that there is a way to it; nothing is lost meanwhile. Where it has another address now, `service sync clone ADDRESS %s` goes on with it", st.AssessmentID)
}

func (a *app) syncState(ctx context.Context) (*api.SyncStatus, error) {
	one, err := a.assessment(ctx)
	if err != nil {
		return nil, err
	}
	return call(ctx, a, api.GetSyncStatus, &api.SyncInput{AssessmentID: one.ID})
}

// together sends and reads until there is nothing more.
func (a *app) together(ctx context.Context, home *client.Client, st *api.SyncStatus, dry bool) (*bringing, error) {
	got := &bringing{AssessmentID: st.AssessmentID, DryRun: dry, Notes: []string{}}
	here, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	a.progress.Start("bring both together")
	for {
		p, err := call(ctx, a, api.PrepareSync, &api.PrepareSyncInput{AssessmentID: st.AssessmentID, Dry: dryWord(dry)})
		if err != nil {
			return nil, err
		}
		if p.Lines == 0 {
			break
		}
		n, err := carryFiles(ctx, here, home, p, dry)
		if err != nil {
			return nil, err
		}
		in := &api.PushSyncInput{AssessmentID: st.AssessmentID, File: parcelFile(p.Data), Dry: dryWord(dry)}
		out, err := client.Do(ctx, home, api.PushSync, in)
		if err != nil {
			return nil, err
		}
		got.Sent, got.Applied, got.Conflicts, got.Notes = got.Sent+p.Lines, got.Applied+out.Applied, got.Conflicts+out.Conflicts, append(got.Notes, out.Notes...)
		got.SentBytes, got.Files = got.SentBytes+len(p.Data), got.Files+n
		if dry {
			break
		}
		ack := &api.AcknowledgeSyncInput{AssessmentID: st.AssessmentID}
		ack.Body.Counter = p.Counter
		if _, err := call(ctx, a, api.AcknowledgeSync, ack); err != nil {
			return nil, err
		}
	}
	err = a.readHome(ctx, here, home, st, got)
	if api.IsCode(err, api.CodeForbidden) && got.Sent > 0 { // somebody brought what is another's; it is not theirs to read
		got.Notes, err = append(got.Notes, "nothing was read: "+err.Error()), nil
	}
	if err == nil {
		a.progress.Done("sent %d, read %d", got.Sent, got.Read)
	}
	return got, err
}

// togetherInWords brings a clone and its home together, and says what came of it.
func (a *app) togetherInWords(ctx context.Context, assessment string) (string, error) {
	st, err := call(ctx, a, api.GetSyncStatus, &api.SyncInput{AssessmentID: assessment})
	if err != nil {
		return "", err
	}
	home, done, err := a.homeOf(ctx, st.Server, st.OrganizationID, a.flags.Token)
	if err != nil {
		return "", err
	}
	got, err := a.together(ctx, home, st, false)
	if err := errors.Join(err, done()); err != nil {
		return "", err
	}
	words := fmt.Sprintf("sent %s, read %s and %s", count(got.Sent, "change", "changes"), count(got.Read, "record", "records"), count(got.Files, "file", "files"))
	if got.Conflicts > 0 {
		words += ", " + count(got.Conflicts, "new conflict", "new conflicts")
	}
	return words, nil
}

// readHome brings what changed at the home to the clone; where dry, it only counts the first part.
func (a *app) readHome(ctx context.Context, here, home *client.Client, st *api.SyncStatus, got *bringing) error {
	for {
		now, err := call(ctx, a, api.GetSyncStatus, &api.SyncInput{AssessmentID: st.AssessmentID})
		if err != nil {
			return err
		}
		p, err := client.Do(ctx, home, api.GetSyncChanges, &api.ChangesSyncInput{AssessmentID: st.AssessmentID, ReplicaID: st.ReplicaID, Since: int(now.Since),
			AnchorSequence: int(now.AnchorSequence), AnchorHash: now.AnchorHash, Dry: dryWord(got.DryRun)})
		if err != nil {
			return err
		}
		got.Read, got.ReadBytes = got.Read+p.Lines, got.ReadBytes+len(p.Data)
		if got.DryRun {
			return nil
		}
		n, err := carryFiles(ctx, home, here, p, false)
		if err != nil {
			return err
		}
		got.Files += n
		a.progress.Update("read %d records", got.Read)
		out, err := client.Do(ctx, here, api.TakeSync, &api.BringSyncInput{AssessmentID: st.AssessmentID, File: parcelFile(p.Data)})
		if err != nil {
			return err
		}
		if !out.More && p.Lines == 0 { // asked once more, so the home knows what was read
			return nil
		}
	}
}

// thereNamed is an assessment at a server, by id or name.
func thereNamed(ctx context.Context, home *client.Client, ref string) (*api.Assessment, error) {
	if uuid.MatchString(ref) {
		return client.Do(ctx, home, api.GetAssessment, &api.AssessmentInput{AssessmentID: ref})
	}
	l, err := client.Do(ctx, home, api.ListAssessments, &api.AssessmentsInput{Q: ref, Paging: api.Paging{Limit: api.MaxListLimit}})
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
		return nil, stopped("there is no assessment %q there", ref)
	}
	return nil, usage("%d assessments there are named %q: give the id of one, as %s", len(found), ref, found[0].ID)
}

func machine() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}

func (a *app) syncClone() *cobra.Command {
	var carry bool
	cmd := &cobra.Command{
		Use: "clone URL ASSESSMENT", Short: "Copy an assessment of a server here, to work on it offline", Args: takes(2, 2),
		Long: `Copies an assessment of a server you are signed in at into the data folder of this machine:
documents, passages, scope, deliverables, decisions, comments and events. Work on it as on
any other; ` + "`service sync`" + ` brings both together. Broken off, the same command goes on.`,
		Example: "  service login https://grc.acme.example\n  service sync clone https://grc.acme.example 'Acme 2026'\n  service sync clone https://grc.acme.example ID --carry-catalog",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			token := a.flags.Token
			a.onDataFolder()
			home, done, err := a.homeOf(ctx, args[0], "", token)
			if err != nil {
				return err
			}
			got, err := a.cloneFrom(ctx, home, strings.TrimRight(args[0], "/"), args[1], carry)
			if err = errors.Join(err, done()); err != nil {
				return brokeOff(err)
			}
			a.use(got.AssessmentID)
			return a.printBringing(got)
		},
	}
	cmd.Flags().BoolVar(&carry, "carry-catalog", false, "bring the catalog version along where it is not here")
	return cmd
}

func (a *app) cloneFrom(ctx context.Context, home *client.Client, server, ref string, carry bool) (*bringing, error) {
	one, err := thereNamed(ctx, home, ref)
	if err != nil {
		return nil, err
	}
	here, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	in := &api.JoinSyncInput{}
	in.Body.AssessmentID, in.Body.Name = one.ID, machine()
	if st, err := call(ctx, a, api.GetSyncStatus, &api.SyncInput{AssessmentID: one.ID}); err == nil {
		switch st.Role {
		case "none":
			return nil, advise(stopped("%s is in this data folder already, and is no clone", one.Name), "clone it into a folder of its own: `service --data FOLDER sync clone %s %s`", server, one.ID)
		case "clone":
			in.Body.ReplicaID = st.ReplicaID
		}
	} else if !api.IsCode(err, api.CodeNotFound) {
		return nil, err
	}
	joined, err := client.Do(ctx, home, api.JoinSync, in)
	if err != nil {
		return nil, err
	}
	if in.Body.ReplicaID != "" && joined.ReplicaID != in.Body.ReplicaID {
		return nil, movedHome(api.NotFound("clone", in.Body.ReplicaID), &api.SyncStatus{AssessmentID: one.ID, Server: server})
	}
	st, err := a.attach(ctx, server, joined, joined.CatalogSHA256, joined.OwnSHA256)
	if api.IsCode(err, api.CodeInvalidState) && carry {
		if err = carryCatalog(ctx, home, here, one.ID, joined.OwnSHA256 != ""); err == nil {
			st, err = a.attach(ctx, server, joined, joined.CatalogSHA256, joined.OwnSHA256)
		}
	}
	if err != nil {
		return nil, advise(err, "where the catalog is what lacks: import the release %s, or add --carry-catalog", joined.CatalogLabel)
	}
	return a.together(ctx, home, st, false)
}

func (a *app) attach(ctx context.Context, server string, j *api.JoinedSync, catalog, own string) (*api.SyncStatus, error) {
	in := &api.AttachSyncInput{}
	in.Body.AssessmentID, in.Body.Server, in.Body.RemoteOrganization, in.Body.ReplicaID, in.Body.Account, in.Body.CatalogSHA256, in.Body.OwnSHA256 = j.AssessmentID, server, j.OrganizationID, j.ReplicaID, j.Account, catalog, own
	return call(ctx, a, api.AttachSync, in)
}

func (a *app) syncPublish() *cobra.Command {
	var carry bool
	cmd := &cobra.Command{
		Use: "publish URL", Short: "Give an assessment begun here a home on a server", Args: takes(1, 1),
		Long: `Brings an assessment that was begun in this data folder to a server, where it lives from
now on; the one here is a clone of it. Its moves and decisions are made again there, as
you, as far as the rules there let you.`,
		Example: "  service sync publish https://grc.acme.example -a 'Acme 2026'",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			token := a.flags.Token
			a.onDataFolder()
			home, done, err := a.homeOf(ctx, args[0], "", token)
			if err != nil {
				return err
			}
			got, err := a.publishTo(ctx, home, strings.TrimRight(args[0], "/"), carry)
			if err = errors.Join(err, done()); err != nil {
				return brokeOff(err)
			}
			return a.printBringing(got)
		},
	}
	cmd.Flags().BoolVar(&carry, "carry-catalog", false, "bring the catalog version along where the server lacks it")
	return cmd
}

func (a *app) publishTo(ctx context.Context, home *client.Client, server string, carry bool) (*bringing, error) {
	st, err := a.syncState(ctx)
	if err != nil {
		return nil, err
	}
	here, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	in := &api.JoinSyncInput{}
	in.Body.AssessmentID, in.Body.Name, in.Body.Publish, in.Body.ReplicaID = st.AssessmentID, machine(), true, st.ReplicaID
	joined, err := client.Do(ctx, home, api.JoinSync, in)
	if err != nil {
		return nil, err
	}
	if st, err = a.attach(ctx, server, joined, st.CatalogSHA256, st.OwnSHA256); err != nil {
		return nil, err
	}
	if carry {
		if err := carryCatalog(ctx, here, home, st.AssessmentID, st.OwnSHA256 != ""); err != nil {
			return nil, err
		}
	}
	return a.together(ctx, home, st, false)
}

func (a *app) syncStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Tell what is ahead and in conflict, and who has clones", Args: takes(0, 0),
		Long:    "Tells of a clone what it has changed and not sent, of a home which clones there are and\nhow far they are behind, and of both how many conflicts are open.",
		Example: "  service sync status\n  service sync status -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, err := a.syncState(cmd.Context())
			if err != nil {
				return err
			}
			return a.out.Print(st, func(p *print.Page) {
				switch st.Role {
				case "none":
					p.Text("It is not synchronised.")
					return
				case "home":
					p.Text("This is its home. %s.", count(len(st.Replicas), "clone", "clones"))
					for _, r := range st.Replicas {
						p.Item(0, "%s on %s, last seen %s, %s behind", r.UserName, r.Name, moment(r.SeenAt), count(int(r.Behind), "change", "changes"))
					}
				default:
					p.Text("A clone of %s, as %s.", cmp.Or(st.Server, "the one of "+st.PeerName+", by bundles"), cmp.Or(st.Account, "the account that the key is trusted for"))
					if st.SyncedAt != nil {
						p.Text("Last brought together %s.", moment(*st.SyncedAt))
					}
					p.Text("%s not sent yet.", count(st.Ahead, "record is", "records are"))
					for _, u := range st.Unsent {
						p.Item(0, "%s %s, %s", strings.ReplaceAll(u.Table, "_", " "), u.Label, moment(u.At))
					}
				}
				p.Text("%s open.", count(st.OpenConflicts, "conflict is", "conflicts are"))
			})
		},
	}
}

func (a *app) syncConflicts() *cobra.Command {
	in := &api.SyncConflictsInput{}
	var all bool
	var l limits
	cmd := &cobra.Command{
		Use: "conflicts", Short: "List conflicts, with both values", Args: takes(0, 0),
		Long:    "Lists the open conflicts of the assessment, newest first: what both began with, what the\nhome has, and what came from the clone, each with who and when.",
		Example: "  service sync conflicts\n  service sync conflicts --all -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			one, err := a.assessment(cmd.Context())
			if err != nil {
				return err
			}
			in.AssessmentID = one.ID
			if !all {
				in.Status = "open"
			}
			got, err := collect(cmd.Context(), l.limit, l.cursor, func(p api.Paging) (*api.List[api.SyncConflict], error) {
				in.Paging = p
				return call(cmd.Context(), a, api.ListSyncConflicts, in)
			})
			if err != nil {
				return err
			}
			defer a.more(len(got.Data), got.Pagination)
			return a.out.Print(got, func(p *print.Page) {
				for i := range got.Data {
					conflictPage(p, &got.Data[i])
				}
				a.none(p, len(got.Data), "There are no conflicts.")
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "with those that are resolved")
	l.add(cmd, 0)
	return cmd
}

func conflictPage(p *print.Page, c *api.SyncConflict) {
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
			who += " " + moment(*s.side.At)
		}
		p.Item(2, "%s: %.300s%s", s.what, s.side.Value, who)
	}
}

func (a *app) syncResolve() *cobra.Command {
	var take, value string
	cmd := &cobra.Command{
		Use: "resolve CONFLICT", Short: "Decide a conflict", Args: takes(1, 1),
		Long:    "Decides a conflict: --take home leaves what the home has, --take clone sets what came from\nthe clone, --value sets another. It is decided at the home; a clone reads it with the next\n`service sync`.",
		Example: "  service sync resolve ID --take clone\n  service sync resolve ID --value 'Head of IT'",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			in := &api.ResolveSyncInput{SyncConflictInput: api.SyncConflictInput{ConflictID: args[0]}}
			switch {
			case cmd.Flags().Changed("value") == (take != ""):
				return advise(usage("say how the conflict is decided"), "give --take home, --take clone, or --value VALUE")
			case take != "":
				if err := oneOf("choice", take, []string{"home", "clone"}); err != nil {
					return err
				}
				in.Body.Choice = take
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
			made, err := a.resolveAtHome(ctx, in)
			if err != nil {
				return err
			}
			return a.out.Print(made, func(p *print.Page) { p.Text("Decided: %s. A clone reads it with `service sync`.", made.Choice) })
		},
	}
	cmd.Flags().StringVar(&take, "take", "", "home or clone")
	cmd.Flags().StringVar(&value, "value", "", "set this value, as text or JSON")
	return cmd
}

// resolveAtHome decides where the command works; of a clone, at its home.
func (a *app) resolveAtHome(ctx context.Context, in *api.ResolveSyncInput) (*api.SyncConflict, error) {
	if a.flags.Server != "" || a.lost != nil {
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
		return nil, stopped("a conflict is decided at the home, with %s; the decision comes with their next bundle", st.PeerName)
	}
	home, done, err := a.homeOf(ctx, st.Server, st.OrganizationID, a.flags.Token)
	if err != nil {
		return nil, err
	}
	out, err := client.Do(ctx, home, api.ResolveSyncConflict, in)
	return out, errors.Join(err, done())
}

func (a *app) syncForget() *cobra.Command {
	var sure bool
	cmd := &cobra.Command{
		Use: "forget", Short: "End the synchronisation; the records stay", Args: takes(0, 0),
		Long:    "Ends the synchronisation of the assessment where the command works. Of a clone, what was\nnot sent stays here alone; of a home, its clones can bring nothing any more.",
		Example: "  service sync forget --yes",
		RunE: func(cmd *cobra.Command, _ []string) error {
			one, err := a.assessment(cmd.Context())
			if err != nil {
				return err
			}
			if err := a.confirm(sure, "end the synchronisation of "+one.Name); err != nil {
				return err
			}
			_, err = call(cmd.Context(), a, api.DetachSync, &api.SyncInput{AssessmentID: one.ID})
			return err
		},
	}
	cmd.Flags().BoolVarP(&sure, "yes", "y", false, "do not ask")
	return cmd
}
