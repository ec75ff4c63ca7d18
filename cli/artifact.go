package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/engine/api"
)

func (a *app) artifact() *cobra.Command {
	return group(&cobra.Command{
		Use: "artifact", Short: "Deliverables across their versions, with their hashes",
		Long: "An artifact is a deliverable across its versions: scope, SoA, gap analysis, maturity,\nPOA&M, reports.", Example: "  service artifact list\n  service artifact show ID",
	}, a.artifactList(), a.artifactShow())
}

func (a *app) artifactList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the artifacts of the assessment", Args: takes(0, 0), Long: "Lists the artifacts of the assessment.", Example: "  service artifact list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			one, err := a.assessment(cmd.Context())
			if err != nil {
				return err
			}
			all, err := collect(cmd.Context(), 0, "", func(p api.Paging) (*api.List[api.Artifact], error) {
				return call(cmd.Context(), a, api.ListArtifacts, &api.AssessmentListInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID}, Paging: p})
			})
			if err != nil {
				return err
			}
			return a.out.Print(all, func(p *print.Page) {
				var rows [][]string
				for _, x := range all.Data {
					rows = append(rows, []string{plain(x.Type), x.Title, fmt.Sprint(x.CurrentVersion), moment(x.UpdatedAt), x.ID})
				}
				p.Table([]print.Column{{Title: "type", Keep: true}, {Title: "title"}, {Title: "version", Right: true}, {Title: "changed"}, {Title: "id", Keep: true}}, rows)
				a.none(p, len(rows), "There is no artifact yet.")
			})
		},
	}
}

func (a *app) artifactShow() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show an artifact's versions", Args: takes(1, 1), Long: "Lists the versions of an artifact with the hash of what each says.", Example: "  service artifact show ID",
		RunE: func(cmd *cobra.Command, args []string) error {
			in := api.ArtifactInput{ArtifactID: args[0]}
			all, err := collect(cmd.Context(), 0, "", func(p api.Paging) (*api.List[api.ArtifactVersion], error) {
				return call(cmd.Context(), a, api.ListArtifactVersions, &api.ArtifactVersionsInput{ArtifactInput: in, Paging: p})
			})
			if err != nil {
				return err
			}
			return a.out.Print(all, func(p *print.Page) {
				var rows [][]string
				for _, v := range all.Data {
					supersedes := ""
					if v.Supersedes != nil {
						supersedes = fmt.Sprint(*v.Supersedes)
					}
					rows = append(rows, []string{fmt.Sprint(v.VersionNumber), plain(v.Status), supersedes, moment(v.CreatedAt), v.ContentSHA256, v.RecordID})
				}
				p.Table([]print.Column{{Title: "version", Right: true, Keep: true}, {Title: "status", Keep: true}, {Title: "in place of", Right: true}, {Title: "created"}, {Title: "sha256"}, {Title: "record", Keep: true}}, rows)
			})
		},
	}
}
