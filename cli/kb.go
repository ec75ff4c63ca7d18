package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

func (a *app) knowledgeCommand() *cobra.Command {
	return group(&cobra.Command{
		Use: "kb", Short: "What the search knows, and which embedder it asks",
		Long: `The knowledge base is what was read of all documents: passages, and for each a vector
that says what it means. The embedder makes the vectors: the built-in one, trained on the
catalog, or a model of yours (SERVICE_EMBEDDER).`,
		Example: "  service kb status\n  service kb stats -o json",
	}, a.kbStatus(), a.kbStats())
}

func (a *app) kbStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show which embedder is in use, and how far it is", Args: requireArgs(0, 0),
		Long: `Shows the embedder that is chosen, the one that answers now, and how many passages have
vectors of the chosen one.`,
		Example: "  service kb status\n  service kb status --jq .served_by",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := call(cmd.Context(), a, api.GetEmbeddingStatus, &api.None{})
			if err != nil {
				return err
			}
			return a.out.Print(s, func(p *print.Page) {
				state := s.Status
				if t := s.Training; t != nil {
					state = fmt.Sprintf("learning the words of catalog %s: %d %%", t.Label, t.Progress)
				}
				served := s.ServedBy
				if served == s.Embedder {
					served = ""
				}
				away := ""
				if s.Away != nil {
					away = *s.Away
				}
				p.Fields(
					print.Field{Name: "embedder", Value: embedderLabel(s.Embedder)},
					print.Field{Name: "answered by", Value: served},
					print.Field{Name: "away", Value: away},
					print.Field{Name: "state", Value: state},
					print.Field{
						Name:  "passages",
						Value: fmt.Sprintf("%d of %d", s.Embedded, s.Total),
					},
					print.Field{Name: "failed", Value: countOrEmpty(s.Failed, "document", "documents")},
				)
			})
		},
	}
}

func (a *app) kbStats() *cobra.Command {
	return &cobra.Command{
		Use: "stats", Short: "Count documents, passages and vectors", Args: requireArgs(0, 0),
		Long:    "Counts what the knowledge base of the organization holds, over all assessments.",
		Example: "  service kb stats",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := call(cmd.Context(), a, api.GetKBStats, &api.None{})
			if err != nil {
				return err
			}
			return a.out.Print(s, func(p *print.Page) {
				var states []string
				for _, state := range slices.Sorted(maps.Keys(s.DocumentsByStatus)) {
					states = append(states, fmt.Sprintf("%d %s", s.DocumentsByStatus[state], state))
				}
				documents := fmt.Sprint(s.Documents)
				if len(states) > 0 {
					documents += " (" + strings.Join(states, ", ") + ")"
				}
				p.Fields(
					print.Field{Name: "documents", Value: documents},
					print.Field{Name: "passages", Value: fmt.Sprint(s.Chunks)},
					print.Field{
						Name:  "vectors",
						Value: formatVectorCount(s),
					},
					print.Field{Name: "embedder", Value: embedderLabel(s.Embedder)},
				)
			})
		},
	}
}

func formatVectorCount(s *api.KBStats) string {
	if s.Embedded == 0 {
		return "0"
	}
	return fmt.Sprintf("%d of %d numbers", s.Embedded, s.EmbeddingDimensions)
}

// embedderLabel is what to show of it; the built-in one has none before it was trained.
func embedderLabel(name string) string {
	if name == "" {
		return "builtin, trained when the first document is read"
	}
	return name
}

// countOrEmpty counts what there is, and says nothing of none.
func countOrEmpty(n int, one, many string) string {
	if n == 0 {
		return ""
	}
	return pluralize(n, one, many)
}
