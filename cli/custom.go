package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

// customFrameworkCommand holds the commands on the organization's own frameworks.
func (a *app) customFrameworkCommand() *cobra.Command {
	return group(&cobra.Command{
		Use: "framework", Short: "Your own frameworks, beside those of the catalog",
		Long: `Your organization's own frameworks: house rules, a customer's questionnaire, a contract.
They map to controls of the catalog and are assessed like any other. Nobody outside
your organization sees them. An assessment keeps them as they were when it began;
` + "`assess migrate`" + ` takes in what changed since.`,
		Example: "  service framework import yard-rules.yaml\n  service framework list\n  service assess create \"Yard 2026\" --framework yard-rules",
	}, a.customImport("framework"), a.customFrameworkList(), a.customFrameworkShow(), a.customFrameworkDelete())
}

// customControlCommand holds the commands on the organization's own controls.
func (a *app) customControlCommand() *cobra.Command {
	return group(&cobra.Command{
		Use: "control", Short: "Your own controls, beside those of the catalog",
		Long: `Your organization's own controls. One that stands beside a control of the catalog answers
the requirements which that one answers, and so comes into every assessment that it does.`,
		Example: "  service control import yard-controls.csv\n  service control list\n  service catalog show YARD-01",
	}, a.customImport("control"), a.customControlList(), a.customControlShow(), a.customControlDelete())
}

func (a *app) customImport(noun string) *cobra.Command {
	var in api.ImportCustomInput
	var replace, dry bool
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Import your own frameworks and controls from a file", Args: requireArgs(1, 1),
		Long: `Imports frameworks and controls of your organization from YAML, JSON or CSV, whole or
not at all; a file may hold both. Each must map to controls that there are. What is
there already is left as it is where it is the same, and replaced with --replace.`,
		Example: "  service " + noun + " import yard.yaml --dry-run\n  service framework import questionnaire.csv --code acme-questions --name \"ACME's questions\"\n  service control import controls.csv --replace",
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := os.Open(args[0])
			if err != nil {
				return runtimeError("%s can't be read: %w", args[0], errorWithoutPath(err))
			}
			defer f.Close()
			in.File = api.UploadFile{Filename: filepath.Base(args[0]), Content: f}
			in.Replace, in.DryRun = strconv.FormatBool(replace), strconv.FormatBool(dry)
			done, err := call(cmd.Context(), a, api.ImportCustom, &in)
			if err != nil {
				return toRuntimeError(err)
			}
			return a.out.Print(done, func(p *print.Page) { renderCustomImport(p, done) })
		},
	}
	cmd.Flags().StringVar(&in.Code, "code", "", "the framework's code, for CSV (default: from the file's name)")
	cmd.Flags().StringVar(&in.Name, "name", "", "the framework's name, for CSV (default: the file's name)")
	cmd.Flags().BoolVar(&replace, "replace", false, "replace what is there already")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "change nothing, tell what would change")
	return cmd
}

func renderCustomImport(p *print.Page, result *api.CustomImport) {
	if result.DryRun {
		p.Text("Dry run: nothing was changed.")
	}
	var rows [][]string
	for _, f := range result.Frameworks {
		rows = append(rows, []string{"framework", f.Code, f.Name, f.Action, fmt.Sprint(f.Count)})
	}
	for _, c := range result.Controls {
		rows = append(rows, []string{"control", c.Code, c.Name, c.Action, ""})
	}
	p.Table(
		[]print.Column{
			{Title: "what", NoShrink: true},
			{Title: "code", NoShrink: true},
			{Title: "name"},
			{Title: "", NoShrink: true},
			{Title: "requirements", AlignRight: true},
		},
		rows,
	)
}

func (a *app) customFrameworkList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List your own frameworks", Args: requireArgs(0, 0), Long: "Lists the frameworks of your organization. `catalog frameworks` lists them with all others.", Example: "  service framework list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := collectPages(cmd.Context(), 0, "", func(p api.Paging) (*api.List[api.CustomFramework], error) {
				return call(cmd.Context(), a, api.ListCustomFrameworks, &p)
			})
			if err != nil {
				return err
			}
			return a.out.Print(all, func(p *print.Page) {
				var rows [][]string
				for _, f := range all.Data {
					rows = append(
						rows,
						[]string{
							f.Code,
							f.Name,
							fmt.Sprint(f.RequirementCount),
							strings.Join(f.Unresolved, ", "),
							formatDay(f.UpdatedAt),
							f.UpdatedBy,
						},
					)
				}
				p.Table(
					[]print.Column{
						{Title: "framework", NoShrink: true},
						{Title: "name"},
						{Title: "requirements", AlignRight: true},
						{Title: "not in the catalog"},
						{Title: "changed", NoShrink: true},
						{Title: "by"},
					},
					rows,
				)
				a.textIfEmpty(p, len(rows), "You have no framework of your own; `%s` adds one.", a.commandLine("framework import FILE"))
			})
		},
	}
}

func (a *app) customFrameworkShow() *cobra.Command {
	return &cobra.Command{
		Use: "show CODE", Short: "Show one of your own frameworks", Args: requireArgs(1, 1),
		Long: "Shows a framework of your organization with its requirements and the controls that\nanswer them. As YAML or JSON it is a file that `framework import` takes.", Example: "  service framework show yard-rules\n  service framework show yard-rules -o yaml > yard-rules.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := call(cmd.Context(), a, api.GetCustomFramework, &api.CustomFrameworkInput{FrameworkCode: args[0]})
			if err != nil {
				return err
			}
			return a.out.Print(f, func(p *print.Page) {
				p.Title("%s  %s", f.Code, f.Name)
				p.Fields(
					print.Field{Name: "title", Value: orEmpty(f.Title)},
					print.Field{Name: "publisher", Value: orEmpty(f.Publisher)},
					print.Field{
						Name:  "not in the catalog",
						Value: strings.Join(f.Unresolved, ", "),
					},
					print.Field{Name: "changed", Value: joinNonEmpty(formatTime(f.UpdatedAt), f.UpdatedBy)},
				)
				var rows [][]string
				for _, r := range f.Requirements {
					controls := append([]string{}, r.Controls...)
					for _, x := range r.Relations {
						controls = append(controls, joinNonEmpty(x.Control, x.Relationship))
					}
					rows = append(rows, []string{r.Code, orEmpty(r.Title), strings.Join(controls, ", ")})
				}
				p.Blank()
				p.Table([]print.Column{{Title: "requirement", NoShrink: true}, {Title: "title"}, {Title: "controls", Wrap: true}}, rows)
			})
		},
	}
}

func (a *app) customFrameworkDelete() *cobra.Command {
	return &cobra.Command{
		Use: "delete CODE", Short: "Delete one of your own frameworks", Args: requireArgs(1, 1),
		Long: "Deletes a framework of your organization. Assessments that use it keep it as it was.", Example: "  service framework delete yard-rules",
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := call(cmd.Context(), a, api.DeleteCustomFramework, &api.CustomFrameworkInput{FrameworkCode: args[0]})
			if err == nil {
				a.progress.Done("deleted %s", args[0])
			}
			return err
		},
	}
}

func (a *app) customControlList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List your own controls", Args: requireArgs(0, 0), Long: "Lists the controls of your organization. `catalog controls` lists them with all others.", Example: "  service control list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := collectPages(cmd.Context(), 0, "", func(p api.Paging) (*api.List[api.CustomControl], error) {
				return call(cmd.Context(), a, api.ListCustomControls, &p)
			})
			if err != nil {
				return err
			}
			return a.out.Print(all, func(p *print.Page) {
				var rows [][]string
				for _, c := range all.Data {
					rows = append(
						rows,
						[]string{
							c.Code,
							c.Title,
							strings.Join(c.Controls, ", "),
							strings.Join(c.Unresolved, ", "),
							formatDay(c.UpdatedAt),
							c.UpdatedBy,
						},
					)
				}
				p.Table(
					[]print.Column{
						{Title: "control", NoShrink: true},
						{Title: "title"},
						{Title: "beside"},
						{Title: "not in the catalog"},
						{Title: "changed", NoShrink: true},
						{Title: "by"},
					},
					rows,
				)
				a.textIfEmpty(p, len(rows), "You have no control of your own; `%s` adds some.", a.commandLine("control import FILE"))
			})
		},
	}
}

func (a *app) customControlShow() *cobra.Command {
	return &cobra.Command{
		Use: "show CODE", Short: "Show one of your own controls as you wrote it", Args: requireArgs(1, 1),
		Long: "Shows a control of your organization as it was written. `catalog show` shows it as the\ncatalog has it, with every requirement that it answers.", Example: "  service control show YARD-01",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := call(cmd.Context(), a, api.GetCustomControl, &api.CustomControlInput{ControlCode: args[0]})
			if err != nil {
				return err
			}
			return a.out.Print(c, func(p *print.Page) {
				p.Title("%s  %s", c.Code, c.Title)
				p.Text("%s", c.Description)
				p.Blank()
				p.Fields(
					print.Field{Name: "stands beside", Value: strings.Join(c.Controls, ", ")},
					print.Field{Name: "evidence to ask for", Value: strings.Join(c.Evidence, "; ")},
					print.Field{
						Name:  "what is looked at",
						Value: strings.Join(c.Objectives, "; "),
					},
					print.Field{Name: "not in the catalog", Value: strings.Join(c.Unresolved, ", ")},
					print.Field{Name: "changed", Value: joinNonEmpty(formatTime(c.UpdatedAt), c.UpdatedBy)},
				)
			})
		},
	}
}

func (a *app) customControlDelete() *cobra.Command {
	return &cobra.Command{
		Use: "delete CODE", Short: "Delete one of your own controls", Args: requireArgs(1, 1),
		Long: "Deletes a control of your organization, unless one of your frameworks names it.\nAssessments that use it keep it as it was.", Example: "  service control delete YARD-01",
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := call(cmd.Context(), a, api.DeleteCustomControl, &api.CustomControlInput{ControlCode: args[0]})
			if err == nil {
				a.progress.Done("deleted %s", args[0])
			}
			return err
		},
	}
}
