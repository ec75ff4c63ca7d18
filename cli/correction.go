package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

func (a *app) correctionCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "correction", Short: "Record which passages people accept or refuse as evidence",
		Long: `A correction records a person's decision on what a passage shows about a requirement of a control.
The organization's later drafts apply it to the same passage and, marked as such, to near-identical
ones. Confirming an item as drafted accepts its quotes; setting an item to not evidenced refuses
the quotes that support it. To decide on single passages, use the accept and refuse commands.
Corrections never leave the organization: they are not exported, and only clones of the
organization's assessments receive them.`,
		Example: "  service correction refuse IAC-06 2\n  service correction accept IAC-06 3 --passage ID --as part\n" +
			"  service correction list --control IAC-06",
	}, a.correctionList(), a.correctionShow(), a.correctionDecide(api.CorrectionAccepted), a.correctionDecide(api.CorrectionRefused),
		a.correctionRemove())
}

func (a *app) correctionList() *cobra.Command {
	var in api.CorrectionsInput
	var l listFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List what people decided about passages, latest first",
		Long:    "Lists the organization's corrections from all assessments, newest first.",
		Example: "  service correction list\n  service correction list --control IAC-06 --decision refused",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := fetchList(cmd.Context(), a, api.ListCorrections, &in, l)
			if err != nil {
				return err
			}
			return printList(a, all, []print.Column{
				fixed("control"), fixedNumber("no."), fixed("shows"), fixed("decided on"), column("by"), column("words"),
				optional(column("document")), idColumn(),
			}, func(c api.Correction) []string {
				return []string{
					c.ControlCode, formatStatementNumber(c.StatementNumber), formatCorrectedLabel(&c), print.FormatDay(c.CreatedAt),
					c.DecidedBy.Name, prose.Truncate(c.Quote, maxCell), formatCorrectedDocument(&c), c.ID,
				}
			}, "No corrections yet. Confirm or change an item with `service soa edit`, or refuse a passage with `service correction refuse`.")
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.ControlCode, "control", "", "show only corrections about this control")
	f.StringVar(&in.Domain, "domain", "", "show only corrections about controls of this domain")
	addChoiceFlag(f, &in.Decision, "decision", in.Decision.Values(), "show only accepted or only refused passages")
	addChoiceFlag(f, &in.Source, "source", in.Source.Values(), "show only decisions about items, or only decisions about single passages")
	l.addFlags(cmd, 0)
	return cmd
}

// maxShownQuote is the length to which lists truncate the quote of a correction.
const maxShownQuote = 120

// formatStatementNumber returns the number of a requirement, or "-" if it isn't known.
func formatStatementNumber(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

// formatCorrectedLabel returns the verb that describes what a passage shows according to a correction.
func formatCorrectedLabel(c *api.Correction) string {
	if c.Decision == api.CorrectionRefused {
		return "nothing (refused)"
	}
	return c.Label
}

func formatCorrectedDocument(c *api.Correction) string {
	if c.IsDocumentDeleted {
		return c.Passage.Filename + " (deleted)"
	}
	return c.Passage.Filename
}

func (a *app) correctionShow() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show a correction with its passage",
		Long:    "Shows a decision about a passage, who made it, and the passage as it was at that time.",
		Example: "  service correction list\n  service correction show ID",
		RunE: func(cmd *cobra.Command, args []string) error {
			return callAndPrint(
				cmd.Context(), a, api.GetCorrection, &api.CorrectionInput{CorrectionID: args[0]}, func(p *print.Page, c *api.Correction) {
					p.Title("%s, requirement %s: %s", c.ControlCode, formatStatementNumber(c.StatementNumber), c.Statement)
					source := "the passage"
					if c.Source == api.LineCorrected {
						source = "the line"
					}
					p.Fields(
						field("shows", formatCorrectedLabel(c)),
						field("drafted as", c.DraftedLabel+" ("+c.Method+")"),
						field("decided by", fmt.Sprintf("%s, %s, on %s", c.DecidedBy.Name, print.FormatTime(c.CreatedAt), source)),
						field("made in", correctionOrigin(c)),
						field("document", formatCorrectedDocument(c)),
						field("words", c.Quote),
					)
					p.Blank()
					p.IndentedText(2, "%s", c.Passage.Text)
				})
		},
	}
}

// correctionOrigin returns the name of the assessment from which a clone got a copy of the correction, or "".
func correctionOrigin(c *api.Correction) string {
	if c.CopiedFrom == nil {
		return ""
	}
	return c.CopiedFrom.AssessmentName
}

// correctionDecide returns the command that accepts or refuses passages.
func (a *app) correctionDecide(decision api.CorrectionDecision) *cobra.Command {
	var passages []string
	in := &api.AddCorrectionInput{}
	in.Body.Decision = decision
	cmd := &cobra.Command{
		Use: "refuse CONTROL NUMBER", Short: "Refuse passages as evidence for a requirement",
		Long: `Records that passages show nothing about a requirement of a control, specified by its number in
service soa explain. Without --passage, the decision covers all passages that the newest version
quotes for the requirement. The next draft and the organization's later drafts apply the decision.`,
		Example:           "  service soa explain IAC-06\n  service correction refuse IAC-06 2\n  service correction refuse IAC-06 2 --passage 1",
		ValidArgsFunction: a.completeControls(),
	}
	if decision == api.CorrectionAccepted {
		cmd.Use, cmd.Short = "accept CONTROL NUMBER", "Accept passages as evidence for a requirement"
		cmd.Long = `Records what passages show about a requirement of a control, specified by its number in
service soa explain. By default, what a passage shows is taken from the draft; a passage that the
draft doesn't quote is recorded as stating the requirement. Without --passage, the decision covers
all passages that the newest version quotes for the requirement. The next draft applies the
decision, even to a passage that the search doesn't find for the requirement.`
		cmd.Example = "  service correction accept IAC-06 2\n  service search 'multi-factor authentication' -o json --jq '.data[].chunk_id'\n" +
			"  service correction accept IAC-06 3 --passage ID --as part --quote 'for remote access'"
		cmd.Flags().StringVar(&in.Body.Label, "as", "",
			"how the passages relate to the requirement: states (fully), part (states part of it), plans or contradicts")
		cmd.Flags().StringVar(&in.Body.Quote, "quote", "",
			"the words of the passage that are the evidence (default: the words that the draft quotes, or the whole passage)")
	}
	cmd.Flags().StringSliceVar(&passages, "passage", nil, "ID of a passage, or the number of its quote in the output of 'service soa explain'")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		number, err := strconv.Atoi(args[1])
		if err != nil || number < 1 {
			return usageError("%q is not the number of a requirement; `service soa explain %s` lists the numbered requirements", args[1], args[0])
		}
		if err := checkOneOfOrEmpty("meaning", in.Body.Label, []string{"states", "part", "plans", "contradicts"}); err != nil {
			return err
		}
		item, err := a.findSoAItem(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		ids, err := findQuotedPassages(item, number, passages)
		if err != nil {
			return err
		}
		in.AssessmentID, in.Body.ControlCode, in.Body.StatementNumber = item.AssessmentID, item.ControlCode, number
		made, err := a.addCorrections(cmd.Context(), in, ids)
		if err != nil {
			return err
		}
		return a.out.Print(made, func(p *print.Page) {
			for _, c := range made {
				p.ListItem(0, "%s: %s", prose.Capitalize(string(c.Decision)), prose.Truncate(c.Quote, maxShownQuote))
			}
			p.Text("%s for requirement %d of %s. To apply this to the draft, run:", prose.Count(len(made), "passage was "+string(decision),
				"passages were "+string(decision)), number, item.ControlCode)
			p.Command(a.suggestedCommandLine("soa regenerate"))
		})
	}
	return cmd
}

// findQuotedPassages returns the IDs of passages. Each element of named is a passage's ID or the number of a quote for
// the requirement; if named is empty, all passages quoted for the requirement are returned.
func findQuotedPassages(i *api.SoAItem, number int, named []string) (ids []string, err error) {
	if number > len(i.Statements) {
		return nil, usageError("%s has %s; `service soa explain %s` shows them", i.ControlCode,
			prose.Count(len(i.Statements), "requirement", "requirements"), i.ControlCode)
	}
	var quoted []string
	for _, e := range i.Evidence {
		if e.RelatesTo(i.Statements[number-1].Text) {
			quoted = append(quoted, e.ChunkID)
		}
	}
	if len(named) == 0 {
		if len(quoted) == 0 {
			return nil, withHint(usageError("the draft quotes no passage for requirement %d of %s", number, i.ControlCode),
				"specify a passage with --passage ID; find passages with `service search`")
		}
		named = quoted
	}
	for _, name := range named {
		if n, err := strconv.Atoi(name); err == nil {
			if n < 1 || n > len(quoted) {
				return nil, usageError("requirement %d of %s has %s", number, i.ControlCode, prose.Count(len(quoted), "quote", "quotes"))
			}
			name = quoted[n-1]
		}
		if !slices.Contains(ids, name) {
			ids = append(ids, name)
		}
	}
	return ids, nil
}

func (a *app) addCorrections(ctx context.Context, in *api.AddCorrectionInput, passages []string) (made []api.Correction, err error) {
	for _, id := range passages {
		in.Body.ChunkID = id
		c, err := call(ctx, a, api.AddCorrection, in)
		if err != nil {
			if len(made) > 0 {
				err = fmt.Errorf("%s, then: %w", prose.Count(len(made), "decision was recorded", "decisions were recorded"), err)
			}
			return nil, err
		}
		made = append(made, *c)
	}
	return made, nil
}

func (a *app) correctionRemove() *cobra.Command {
	return &cobra.Command{
		Use: "remove ID...", Short: "Remove corrections, so that later drafts don't apply them",
		Long:    `Removes corrections. Later drafts judge the passages again; existing versions don't change.`,
		Example: "  service correction list\n  service correction remove ID",
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, id := range args {
				if _, err := call(cmd.Context(), a, api.RemoveCorrection, &api.CorrectionInput{CorrectionID: id}); err != nil {
					return err
				}
			}
			a.printNotice("Removed %s. To create a new draft, run `%s`.", prose.Count(len(args), "correction", "corrections"),
				a.suggestedCommandLine("soa regenerate"))
			return nil
		},
	}
}

// renderCorrections prints the corrections that a draft applied to a requirement's passages.
func renderCorrections(p *print.Page, s *api.Statement) {
	for _, c := range s.Corrections {
		p.IndentedText(4, "%s, %s (correction %s): “%s”", prose.Capitalize(string(c.Decision)), c.Mark(), c.CorrectionID,
			prose.Truncate(strings.Join(strings.Fields(c.Quote), " "), maxShownQuote))
	}
}

// runEvalCorrections prints how often each reader agrees with the corrections.
func (a *app) runEvalCorrections(ctx context.Context) error {
	a.progress.Start("reading the corrected passages")
	r, err := call(ctx, a, api.GetCorrectionAgreement, &api.None{})
	a.progress.Done("")
	if err != nil {
		return err
	}
	return a.out.Print(r, func(p *print.Page) {
		if r.Corrections == 0 {
			p.Text("There are no corrections yet, so there is nothing to compare with. Confirm or change items with `service soa edit`, " +
				"or refuse passages with `service correction refuse`.")
			return
		}
		p.Title("Agreement of the readers with %s (%d accepted, %d refused)",
			prose.Count(r.Corrections, "correction", "corrections"), r.Accepted, r.Refused)
		for _, reader := range r.Readers {
			p.Blank()
			p.Text("Reader %s:", reader.Reader)
			rows := append(slices.Clone(reader.Domains), reader.All)
			renderTable(p, rows, []print.Column{
				fixed("DOMAIN"), fixedNumber("PASSAGES"), fixedNumber("LINES"), fixedNumber("AGREES"), fixedNumber("SHARE"),
				fixed(fmt.Sprintf("%.0f%% INTERVAL", 100*r.Confidence)),
			}, func(n api.AgreementCount) []string {
				domain, share, interval := n.DomainCode, "-", "-"
				if domain == "" {
					domain = "all"
				}
				if n.Share != nil {
					share = fmt.Sprintf("%.0f%%", 100**n.Share)
					interval = fmt.Sprintf("%.0f%% to %.0f%%", 100**n.Low, 100**n.High)
				}
				return []string{domain, fmt.Sprint(n.Passages), fmt.Sprint(n.Lines), fmt.Sprint(n.Agreed), share, interval}
			})
			if reader.All.NotRead > 0 {
				p.Text("This reader has not read %d of the passages.", reader.All.NotRead)
			}
		}
		p.Blank()
		if r.NotCompared > 0 {
			p.Text("%s not compared, because only the 10 assessments with the latest corrections are included.",
				prose.Count(r.NotCompared, "correction was", "corrections were"))
		}
		for _, n := range r.Notes {
			p.ListItem(0, "%s", n)
		}
	})
}
