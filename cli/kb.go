package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

func (a *app) knowledgeCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "kb", Short: "Knowledge base: indexed passages and the embedder in use",
		Long: `The knowledge base contains the passages of all documents. Each passage has a vector that
represents its meaning. Vectors are computed by the built-in embedder, which is trained on the
catalog, or by your own embedding model (SERVICE_EMBEDDER).`,
		Example: "  service kb status\n  service kb stats -o json",
	}, a.kbEmbedderStatus(), a.kbStats())
}

func (a *app) kbEmbedderStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show the embedder in use and its progress",
		Long: `Shows the configured embedder, the embedder in use, and how many passages already have
vectors from the configured embedder.`,
		Example: "  service kb status\n  service kb status --jq .served_by",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return callAndPrint(
				cmd.Context(),
				a,
				api.GetEmbeddingStatus,
				&api.None{},
				func(p *print.Page, s *api.EmbeddingStatus) {
					state := s.Status
					if t := s.Training; t != nil {
						state = fmt.Sprintf("training on catalog %s: %d%%", t.Label, t.Progress)
					}
					served := s.ServedBy
					if served == s.Embedder {
						served = ""
					}
					away := ""
					if s.UnavailableReason != nil {
						away = *s.UnavailableReason
					}
					p.Fields(
						field("embedder", embedderLabel(s.Embedder)),
						field("answered by", served),
						field("test", formatEmbedderTest(s)),
						field("not used", away),
						field("state", state),
						field("passages", fmt.Sprintf("%d of %d", s.Embedded, s.Total)),
						field("not sent", formatForbiddenPassages(s.Forbidden)),
						field("failed", countOrEmpty(s.Failed, "document", "documents")),
					)
				},
			)
		},
	}
}

// formatEmbedderTest returns the test result of the selected embedding model, or "" if it wasn't tested.
func formatEmbedderTest(s *api.EmbeddingStatus) string {
	switch {
	case s.TestScore == nil:
		return ""
	case *s.TestScore < s.RequiredScore:
		return fmt.Sprintf("failed: %.0f%%, %.0f%% required", *s.TestScore*100, s.RequiredScore*100)
	}
	return fmt.Sprintf("passed: %.0f%%, %.0f%% required", *s.TestScore*100, s.RequiredScore*100)
}

// formatForbiddenPassages describes how many passages must not be sent to the embedder, and why. It returns "" if n
// is 0.
func formatForbiddenPassages(n int) string {
	if n == 0 {
		return ""
	}
	return prose.Count(n, "passage", "passages") + ", because models on other machines are not allowed (" + api.NoRemoteModel + ")"
}

func (a *app) kbStats() *cobra.Command {
	return &cobra.Command{
		Use: "stats", Short: "Count documents, passages and vectors",
		Long:    "Counts the contents of the organization's knowledge base, across all assessments.",
		Example: "  service kb stats",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return callAndPrint(cmd.Context(), a, api.GetKBStats, &api.None{}, func(p *print.Page, s *api.KBStats) {
				var states []string
				for _, state := range slices.Sorted(maps.Keys(s.DocumentsByStatus)) {
					states = append(states, fmt.Sprintf("%d %s", s.DocumentsByStatus[state], state))
				}
				documents := fmt.Sprint(s.Documents)
				if len(states) > 0 {
					documents += " (" + strings.Join(states, ", ") + ")"
				}
				p.Fields(
					field("documents", documents),
					field("passages", fmt.Sprint(s.Chunks)),
					field("vectors", formatVectorCount(s)),
					field("embedder", embedderLabel(s.Embedder)),
				)
			})
		},
	}
}

func formatVectorCount(s *api.KBStats) string {
	if s.Embedded == 0 {
		return "0"
	}
	return fmt.Sprintf("%d with %d dimensions", s.Embedded, s.EmbeddingDimensions)
}

// embedderLabel returns the name to show for an embedder. The built-in embedder has no name until it has been
// trained.
func embedderLabel(name string) string {
	if name == "" {
		return "builtin (will be trained when the first document is read)"
	}
	return name
}

// countOrEmpty formats a count with its noun, or returns "" for zero.
func countOrEmpty(n int, singular, plural string) string {
	if n == 0 {
		return ""
	}
	return prose.Count(n, singular, plural)
}
