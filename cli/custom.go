package cli

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

// customFrameworkCommand returns the commands for the organization's custom frameworks.
func (a *app) customFrameworkCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "framework", Short: "Manage your own frameworks, in addition to those in the catalog",
		Long: `Your organization's own frameworks: internal policies, a customer's questionnaire, a
contract. They map to controls of the catalog, are assessed like any other framework, and
are visible only within your organization. An assessment uses the versions that existed
when it was created; ` + "`service assess migrate`" + ` applies later changes.`,
		Example: "  service framework import yard-rules.yaml\n  service framework list\n" +
			"  service assess create \"Yard 2026\" --framework yard-rules",
	}, a.customImport("framework"), a.customFrameworkList(), a.customFrameworkShow(), a.customFrameworkDelete())
}

// customControlCommand returns the commands for the organization's custom controls.
func (a *app) customControlCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "control", Short: "Manage your own controls, in addition to those in the catalog",
		Long: `Your organization's own controls. A control that is linked to a catalog control maps to the
same requirements and is included in the same assessments.`,
		Example: "  service control import yard-controls.csv\n  service control list\n  service catalog show YARD-01",
	}, a.customImport("control"), a.customControlList(), a.customControlShow(), a.customControlDelete())
}

func (a *app) customImport(noun string) *cobra.Command {
	var in api.ImportCustomInput
	var replace, dry bool
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Import your own frameworks and controls from a file",
		Long: `Imports your organization's frameworks and controls from YAML, JSON or CSV; a file may
contain both. The import either succeeds as a whole or changes nothing. Each entry must
map to existing controls. Existing entries that differ are replaced only if --replace is set.`,
		Example: "  service " + noun + " import yard.yaml --dry-run\n" +
			"  service framework import questionnaire.csv --code acme-questions --name \"ACME's questions\"\n" +
			"  service control import controls.csv --replace",
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := openFile(cmd.Context(), args[0], api.MaxUploadBytes)
			if err != nil {
				return err
			}
			defer f.Close()
			in.File = api.UploadFile{Filename: filepath.Base(args[0]), Content: f}
			in.Replace, in.DryRun = strconv.FormatBool(replace), strconv.FormatBool(dry)
			done, err := call(cmd.Context(), a, api.ImportCustom, &in)
			if err != nil {
				return validationToRuntimeError(err)
			}
			return a.out.Print(done, func(p *print.Page) { renderCustomImport(p, done) })
		},
	}
	cmd.Flags().StringVar(&in.Code, "code", "", "framework code for a CSV file (default: derived from the file name)")
	cmd.Flags().StringVar(&in.Name, "name", "", "framework name for a CSV file (default: the file name)")
	cmd.Flags().BoolVar(&replace, "replace", false, "replace existing entries")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show what would change without changing anything")
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
	p.Table([]print.Column{fixed("what"), fixed("code"), column("name"), fixed(""), number("requirements")}, rows)
}

func (a *app) customFrameworkList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List your own frameworks",
		Long: "Lists your organization's frameworks. `catalog frameworks` lists all frameworks.", Example: "  service framework list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := fetchAll(cmd.Context(), a, api.ListCustomFrameworks, &api.Paging{})
			if err != nil {
				return err
			}
			return printList(a, all, []print.Column{
				fixed("framework"), column("name"), number("requirements"), column("not in the catalog"),
				fixed("changed"), column("by"),
			}, func(f api.CustomFramework) []string {
				return []string{
					f.Code, f.Name, fmt.Sprint(f.RequirementCount), strings.Join(f.Unresolved, ", "),
					print.FormatDay(f.UpdatedAt), f.UpdatedBy,
				}
			}, "You have no custom frameworks. Add one with `%s`.", a.suggestedCommandLine("framework import FILE"))
		},
	}
}

func (a *app) customFrameworkShow() *cobra.Command {
	return &cobra.Command{
		Use: "show CODE", Short: "Show one of your own frameworks",
		Long: "Shows one of your organization's frameworks with its requirements and their controls.\n" +
			"`framework import` accepts the YAML and JSON output.",
		Example: "  service framework show yard-rules\n  service framework show yard-rules -o yaml > yard-rules.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			return callAndPrint(
				cmd.Context(),
				a,
				api.GetCustomFramework,
				&api.CustomFrameworkInput{FrameworkCode: args[0]},
				func(p *print.Page, f *api.CustomFramework) {
					p.Title("%s  %s", f.Code, f.Name)
					p.Fields(
						field("title", orZero(f.Title)),
						field("publisher", orZero(f.Publisher)),
						field("not in the catalog", strings.Join(f.Unresolved, ", ")),
						field("changed", joinNonEmpty(print.FormatTime(f.UpdatedAt), f.UpdatedBy)),
					)
					p.Blank()
					renderTable(
						p,
						f.Requirements,
						[]print.Column{fixed("requirement"), column("title"), wrapped("controls")},
						func(r api.CustomRequirement) []string {
							controls := append([]string{}, r.Controls...)
							for _, x := range r.Relations {
								controls = append(controls, joinNonEmpty(x.Control, x.Relationship))
							}
							return []string{r.Code, orZero(r.Title), strings.Join(controls, ", ")}
						},
					)
				},
			)
		},
	}
}

func (a *app) customFrameworkDelete() *cobra.Command {
	return &cobra.Command{
		Use:   "delete CODE",
		Short: "Delete one of your own frameworks",

		Long:    "Deletes one of your organization's frameworks. Assessments that use it keep their copy.",
		Example: "  service framework delete yard-rules",
		RunE: func(cmd *cobra.Command, args []string) error {
			in := api.DeleteCustomFrameworkInput{CustomFrameworkInput: api.CustomFrameworkInput{FrameworkCode: args[0]}}
			_, err := call(cmd.Context(), a, api.DeleteCustomFramework, &in)
			if err == nil {
				a.progress.Done("deleted %s", args[0])
			}
			return err
		},
	}
}

func (a *app) customControlList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List your own controls",
		Long: "Lists your organization's controls. `catalog controls` lists all controls.", Example: "  service control list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := fetchAll(cmd.Context(), a, api.ListCustomControls, &api.Paging{})
			if err != nil {
				return err
			}
			return printList(a, all, []print.Column{
				fixed("control"), column("title"), column("linked to"), column("not in the catalog"),
				fixed("changed"), column("by"),
			}, func(c api.CustomControl) []string {
				return []string{
					c.Code, c.Title, strings.Join(c.Controls, ", "), strings.Join(c.Unresolved, ", "),
					print.FormatDay(c.UpdatedAt), c.UpdatedBy,
				}
			}, "You have no custom controls. Add some with `%s`.", a.suggestedCommandLine("control import FILE"))
		},
	}
}

func (a *app) customControlShow() *cobra.Command {
	return &cobra.Command{
		Use: "show CODE", Short: "Show the definition of one of your own controls",
		Long: "Shows one of your organization's controls as you defined it. `catalog show` shows it with\n" +
			"all mapped requirements.",
		Example: "  service control show YARD-01",
		RunE: func(cmd *cobra.Command, args []string) error {
			return callAndPrint(
				cmd.Context(),
				a,
				api.GetCustomControl,
				&api.CustomControlInput{ControlCode: args[0]},
				func(p *print.Page, c *api.CustomControl) {
					p.Title("%s  %s", c.Code, c.Title)
					p.Text("%s", c.Description)
					p.Blank()
					p.Fields(
						field("linked to", strings.Join(c.Controls, ", ")),
						field("evidence to request", strings.Join(c.Evidence, "; ")),
						field("assessment objectives", strings.Join(c.Objectives, "; ")),
						field("not in the catalog", strings.Join(c.Unresolved, ", ")),
						field("changed", joinNonEmpty(print.FormatTime(c.UpdatedAt), c.UpdatedBy)),
					)
				},
			)
		},
	}
}

func (a *app) customControlDelete() *cobra.Command {
	return &cobra.Command{
		Use: "delete CODE", Short: "Delete one of your own controls",
		Long: "Deletes one of your organization's controls, unless one of your frameworks uses it.\n" +
			"Assessments that use it keep their copy.",
		Example: "  service control delete YARD-01",
		RunE: func(cmd *cobra.Command, args []string) error {
			in := api.DeleteCustomControlInput{CustomControlInput: api.CustomControlInput{ControlCode: args[0]}}
			_, err := call(cmd.Context(), a, api.DeleteCustomControl, &in)
			if err == nil {
				a.progress.Done("deleted %s", args[0])
			}
			return err
		},
	}
}
