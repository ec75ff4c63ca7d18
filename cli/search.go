package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/engine/api"
)

func (a *app) search() *cobra.Command {
	var body api.SearchBody
	var everywhere bool
	var doc string
	cmd := &cobra.Command{
		Use: "search QUERY", Short: "Find passages by meaning", Args: takes(1, -1),
		Long: `Finds the passages that answer a question, by meaning and by words, each with its
document and place. The score is 0 to 1 and means the same on every set of documents.`,
		Example: "  service search who approves access rights\n  service search 'backup restore test' --top 3 --min-score 0.4\n  service search encryption --all -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			body.Query = strings.Join(args, " ")
			if strings.TrimSpace(body.Query) == "" {
				return usage("say what to search for")
			}
			switch {
			case doc != "":
				d, err := a.doc(cmd.Context(), doc)
				if err != nil {
					return err
				}
				body.DocumentID = d.ID
			case !everywhere:
				one, err := a.assessment(cmd.Context())
				if err != nil {
					return err
				}
				body.AssessmentID = one.ID
			}
			ans, err := call(cmd.Context(), a, api.SearchKB, &api.SearchInput{Body: body})
			if err != nil {
				return err
			}
			return a.out.Print(ans, func(p *print.Page) {
				for i, h := range ans.Data {
					p.Title("%d. %s  %s", i+1, fmt.Sprintf("%.2f", h.Score), joinWords(h.Filename, place(h.HeadingPath, h.Locator)))
					p.Indent(3, "%s", h.Text)
				}
				a.none(p, len(ans.Data), "No passage answers that.")
			})
		},
	}
	f := cmd.Flags()
	f.IntVar(&body.TopK, "top", api.DefaultSearchResults, "how many passages at most, 1 to 100")
	f.Float64Var(&body.MinScore, "min-score", 0, "leave out passages below this score, 0 to 1")
	f.BoolVar(&everywhere, "all", false, "in the documents of all assessments")
	f.StringVar(&doc, "doc", "", "only in this document, by id or file name")
	f.StringVar(&body.Category, "category", "", "only in documents of this category")
	return cmd
}
