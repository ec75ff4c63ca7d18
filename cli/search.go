package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

func (a *app) searchPassagesCommand() *cobra.Command {
	var body api.SearchBody
	var everywhere bool
	var doc, from, to string
	cmd := &cobra.Command{
		Use: "search QUERY…", Short: "Find passages by meaning",
		Long: `Finds passages that answer a question, by their meaning and their words, and shows the document
and location of each. Scores range from 0 to 1 and are comparable across sets of documents.
Passages that contain codes such as IAC-06, rare names or "quoted phrases" of the query rank first.
Near-duplicate passages are shown only once. With --translate, the language model in use translates
the query into the other languages of the assessment's documents, so that documents in these
languages are found too. Translations are stored for later searches.`,
		Example: "  service search who approves access rights\n  service search 'backup restore test' --top 3 --min-score 0.4\n" +
			"  service search encryption --all -o json\n  service search 'exit checklist' --category policy --from 2025-01-01",
		RunE: func(cmd *cobra.Command, args []string) error {
			body.Query = strings.Join(args, " ")
			if strings.TrimSpace(body.Query) == "" {
				return usageError("no search query given")
			}
			if from != "" {
				body.EffectiveFrom = new(api.Date(from))
			}
			if to != "" {
				body.EffectiveTo = new(api.Date(to))
			}
			switch {
			case body.Translate && everywhere:
				return usageError("--translate can't be combined with --all, because it translates into the languages of one assessment's documents")
			case doc != "":
				d, err := a.findDocument(cmd.Context(), doc)
				if err != nil {
					return err
				}
				body.DocumentID, body.AssessmentID = d.ID, d.AssessmentID
			case !everywhere:
				one, err := a.currentAssessment(cmd.Context())
				if err != nil {
					return err
				}
				body.AssessmentID = one.ID
			}
			return callAndPrint(
				cmd.Context(),
				a,
				api.SearchKB,
				&api.SearchInput{Body: body},
				func(p *print.Page, ans *api.SearchAnswer) {
					for _, t := range ans.Translations {
						p.Text("Searched in %s: %s", api.LanguageName(t.Language), t.Query)
					}
					for i, h := range ans.Data {
						p.Title(
							"%d. %s  %s",
							i+1,
							fmt.Sprintf("%.2f", h.Score),
							joinNonEmpty(h.Filename, print.FormatLocation(h.HeadingPath, h.Locator)),
						)
						p.IndentedText(3, "%s", h.Text)
						if n := len(h.DuplicateIDs); n > 0 {
							p.IndentedText(3, "and %s", prose.Count(n, "similar passage", "similar passages"))
						}
					}
					renderTextIfEmpty(p, len(ans.Data), "No matching passages.")
				},
			)
		},
	}
	f := cmd.Flags()
	f.IntVar(&body.TopK, "top", api.DefaultSearchResults, "maximum number of passages, 1 to 100")
	f.Float64Var(&body.MinScore, "min-score", 0, "skip passages below this score, 0 to 1")
	f.BoolVar(&body.Translate, "translate", false,
		"also search documents in other languages, with translations of the query by the language model")
	f.BoolVar(&everywhere, "all", false, "search the documents of all assessments")
	f.StringVar(&doc, "doc", "", "search only the document with this id or file name")
	f.StringVar(&from, "from", "", "only documents effective on or after this day, YYYY-MM-DD")
	f.StringVar(&to, "to", "", "only documents effective on or before this day, YYYY-MM-DD")
	f.StringVar(&body.Category, "category", "", "only documents in this category")
	return cmd
}
