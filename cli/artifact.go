package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

func (a *app) artifactCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "artifact", Short: "Show all versions of deliverables, with their hashes",
		Long:    "An artifact is a deliverable with all its versions: scope, SoA, gap analysis, maturity,\nPOA&M and reports.",
		Example: "  service artifact list\n  service artifact show ID",
	}, a.artifactList(), a.artifactShow(), a.artifactDiff())
}

// findArtifactID returns the ID of the current assessment's artifact that ref specifies by ID, type, command name or
// report variant.
func (a *app) findArtifactID(cmd *cobra.Command, ref string) (string, error) {
	if uuidPattern.MatchString(ref) {
		return ref, nil
	}
	one, err := a.currentAssessment(cmd.Context())
	if err != nil {
		return "", err
	}
	all, err := call(cmd.Context(), a, api.ListArtifacts, &api.ArtifactsInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID}})
	if err != nil {
		return "", err
	}
	for _, x := range all.Data {
		if x.Type == ref && x.Variant == nil || gateCommandName(api.Gate(x.Type)) == ref || x.Variant != nil && *x.Variant == ref {
			return x.ID, nil
		}
	}
	if ref == "report" {
		return "", withHint(usageError("an assessment has several reports"), "specify the report by template and format, such as full/html")
	}
	return "", withHint(runtimeError("%q has no artifact %q", one.Name, ref), "`%s` lists the artifacts",
		a.suggestedCommandLine("artifact list"))
}

func (a *app) artifactDiff() *cobra.Command {
	in := &api.ArtifactDiffInput{}
	cmd := &cobra.Command{
		Use: "diff ID|TYPE", Short: "Compare two versions of a deliverable or report",
		Long: `Shows line by line how two versions differ: + added, - removed, ~ changed. By default it
compares the current version with the previous one. Specify a report by template and
format; only text formats can be compared.`,
		Example: "  service artifact diff soa\n  service artifact diff gap_analysis --from 1 --to 3\n" +
			"  service artifact diff full/html\n  service artifact diff soa --jq '.lines[].text'",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := a.findArtifactID(cmd, args[0])
			if err != nil {
				return err
			}
			in.ArtifactID = id
			return callAndPrint(cmd.Context(), a, api.DiffArtifact, in, func(p *print.Page, d *api.ArtifactDiff) {
				p.Title("%s: version %d → version %d", prose.Humanize(d.Type), d.FromVersion, d.ToVersion)
				if d.FromVersion == d.ToVersion && in.From == 0 {
					p.Text("There is no other version to compare with.")
					return
				}
				renderDiff(p, d)
			})
		},
	}
	cmd.Flags().IntVar(&in.From, "from", 0, "earlier version (default: the one before --to)")
	cmd.Flags().IntVar(&in.To, "to", 0, "later version (default: the current one)")
	return cmd
}

func renderDiff(p *print.Page, d *api.ArtifactDiff) {
	p.Text("%d added, %d removed, %d changed", d.Added, d.Removed, d.Changed)
	p.Blank()
	for _, l := range d.Lines {
		p.Text("%s", print.Truncate(l.Text, maxDiffLineWidth))
	}
	if len(d.Lines) == 0 {
		p.Text("The versions are identical.")
	}
}

// formatArtifactName returns the name by which commands refer to an artifact.
func formatArtifactName(x *api.Artifact) string {
	if x.Variant != nil {
		return "report " + *x.Variant
	}
	return prose.Humanize(x.Type)
}

// maxDiffLineWidth is the length at which diff lines are truncated; -o json shows full lines.
const maxDiffLineWidth = 240

func (a *app) artifactList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the artifacts of the assessment",
		Long: "Lists the artifacts of the assessment.", Example: "  service artifact list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			all, err := fetchAll(
				cmd.Context(),
				a,
				api.ListArtifacts,
				&api.ArtifactsInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID}},
			)
			if err != nil {
				return err
			}
			return printList(a, all, []print.Column{
				fixed("type"), optional(column("title")), number("version"), optional(fixed("changed")), idColumn(),
			}, func(x api.Artifact) []string {
				return []string{
					formatArtifactName(&x),
					x.Title,
					fmt.Sprint(x.CurrentVersion),
					print.FormatTime(x.UpdatedAt),
					x.ID,
				}
			}, "No artifacts yet.")
		},
	}
}

func (a *app) artifactShow() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show an artifact's versions",
		Long: "Lists the versions of an artifact with their content hashes.", Example: "  service artifact show ID",
		RunE: func(cmd *cobra.Command, args []string) error {
			in := api.ArtifactInput{ArtifactID: args[0]}
			all, err := fetchAll(
				cmd.Context(),
				a,
				api.ListArtifactVersions,
				&api.ArtifactVersionsInput{ArtifactInput: in},
			)
			if err != nil {
				return err
			}
			return printList(a, all, []print.Column{
				fixedNumber("version"), fixed("status"), number("replaces"), optional(fixed("created")),
				column("sha256"), fixed("record"),
			}, func(v api.ArtifactVersion) []string {
				supersedes := ""
				if v.Supersedes != nil {
					supersedes = fmt.Sprint(*v.Supersedes)
				}
				return []string{
					fmt.Sprint(v.VersionNumber), prose.Humanize(v.Status), supersedes, print.FormatTime(v.CreatedAt),
					v.ContentSHA256, v.RecordID,
				}
			}, "")
		},
	}
}
