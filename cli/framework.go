package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

func (a *app) catalogFrameworks(version *string) *cobra.Command {
	var in api.FrameworksInput
	cmd := &cobra.Command{
		Use: "frameworks", Short: "List the frameworks",
		Long: "Lists the laws, standards and contracts that the catalog maps to its controls. To select a\n" +
			"framework in other commands, pass its code to --framework.",
		Example: "  service catalog frameworks\n  service catalog frameworks --query iso",
		RunE: func(cmd *cobra.Command, _ []string) error {
			in.Version = *version
			all, err := fetchAll(cmd.Context(), a, api.ListFrameworks, &in)
			if err != nil {
				return err
			}
			return printList(a, all, []print.Column{
				fixed("framework"), column("name"), column("jurisdiction"), number("requirements"),
				number("mappings"),
			}, func(f api.Framework) []string {
				name := f.Name
				if f.IsCustom {
					name += " (your own)"
				}
				return []string{
					f.Code,
					name,
					orZero(f.Jurisdiction),
					fmt.Sprint(f.RequirementCount),
					fmt.Sprint(f.MappingCount),
				}
			}, "No frameworks match.")
		},
	}
	cmd.Flags().StringVar(&in.Q, "query", "", "only frameworks whose code or name contains this text")
	return cmd
}

func (a *app) catalogRequirements(version *string) *cobra.Command {
	return &cobra.Command{
		Use:   "requirements FRAMEWORK",
		Short: "List the requirements of a framework",

		ValidArgsFunction: a.completeFrameworks(),
		Long:              "Lists the requirements of a framework in order, with their text if the catalog contains it.",
		Example:           "  service catalog requirements iso-27001-2022",
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := fetchAll(
				cmd.Context(),
				a,
				api.ListRequirements,
				&api.RequirementsInput{FrameworkInput: api.FrameworkInput{FrameworkID: args[0], Version: *version}},
			)
			if err != nil {
				return a.withFrameworkHint(err)
			}
			return printList(
				a,
				all,
				[]print.Column{fixed("requirement"), column("title"), column("text")},
				func(r api.Requirement) []string {
					return []string{r.Code, orZero(r.Title), orZero(r.Text)}
				},
				"",
			)
		},
	}
}

// withFilterHint adds a hint on how to list the valid values if err is about a domain, requirement or
// framework filter.
func (a *app) withFilterHint(err error) error {
	var e *api.Error
	if !errors.As(err, &e) {
		return err
	}
	for _, d := range e.Details {
		switch d.Field {
		case "domain":
			return withHint(err, "`%s` lists the domains", a.suggestedCommandLine("catalog domains"))
		case "requirement":
			return withHint(err, "`%s` lists a framework's requirements", a.suggestedCommandLine("catalog requirements FRAMEWORK"))
		}
	}
	return a.withFrameworkHint(err)
}

// withFrameworkHint adds a hint on how to list the frameworks if err is about a framework.
func (a *app) withFrameworkHint(err error) error {
	var e *api.Error
	if !errors.As(err, &e) {
		return err
	}
	about := e.Code == api.CodeNotFound
	for _, d := range e.Details {
		about = about || strings.HasPrefix(d.Field, "framework")
	}
	if about {
		return withHint(err, "`%s` lists the frameworks", a.suggestedCommandLine("catalog frameworks"))
	}
	return err
}

func (a *app) catalogCoverage(version *string) *cobra.Command {
	var have []string
	var add string
	cmd := &cobra.Command{
		Use:   "coverage [FRAMEWORK]",
		Short: "Show how much of a framework the catalog covers, or what a framework adds to others",

		ValidArgsFunction: a.completeFrameworks(),
		Long: "Shows, by domain, how many of a framework's requirements are mapped to at least one control.\n" +
			"With --have, shows what the framework would add to frameworks whose controls are already required.",
		Example: "  service catalog coverage nist-csf-2.0\n  service catalog coverage --have iso-27001-2022 --add nis2",
		RunE: func(cmd *cobra.Command, args []string) error {
			framework := add
			switch {
			case len(args) == 1 && add == "":
				framework = args[0]
			case len(args) == 1 || add == "":
				return usageError("specify one framework: `coverage FRAMEWORK`, or `coverage --have FRAMEWORK --add FRAMEWORK`")
			}
			in := &api.CoverageInput{FrameworkID: framework, SCFVersion: *version, Have: have}
			c, err := call(cmd.Context(), a, api.GetCoverage, in)
			if api.IsCode(err, api.CodeNotFound) {
				err = usageError("%s", api.AsError(err).Message) // a wrong name is an error in the command line
				return withHint(err, "`%s` lists the frameworks", a.suggestedCommandLine("catalog frameworks"))
			}
			if err != nil {
				return a.withFrameworkHint(err)
			}
			return a.out.Print(c, func(p *print.Page) {
				if c.Addition != nil {
					renderCoverageAddition(p, c)
					return
				}
				p.Text(
					"%s: %d of %s mapped (%.2f%%), to %s in %s.",
					c.FrameworkCode,
					c.MappedRequirementCount,
					prose.Count(c.RequirementCount, "requirement is", "requirements are"),
					c.CoveragePct,
					prose.Count(c.ControlCount, "control", "controls"),
					prose.Count(c.MappingCount, "mapping", "mappings"),
				)
				p.Blank()
				renderTable(p, c.ByDomain, []print.Column{
					fixed("domain"), column("name"), number("controls"), number("requirements"), number("mappings"),
				}, func(d api.DomainCoverage) []string {
					return []string{
						d.DomainCode, d.DomainName, fmt.Sprint(d.ControlCount), fmt.Sprint(d.RequirementCount),
						fmt.Sprint(d.MappingCount),
					}
				})
			})
		},
	}
	cmd.Flags().StringSliceVar(&have, "have", nil, "frameworks whose controls are already required; repeatable")
	cmd.Flags().StringVar(&add, "add", "", "framework to compare with those of --have, instead of the FRAMEWORK argument")
	for _, flag := range []string{"have", "add"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, a.completeFrameworks())
	}
	return cmd
}

// renderCoverageAddition prints how much of a framework is not already covered by others.
func renderCoverageAddition(p *print.Page, c *api.Coverage) {
	d := c.Addition
	p.Text("%s adds %s to those required by %s. It shares %s with them.", c.FrameworkCode,
		prose.Count(len(d.NewControls), "control", "controls"), strings.Join(d.Have, ", "), prose.Count(d.SharedControls, "control", "controls"))
	p.Text("The framework has %s: %d fully and %d partly covered by controls already required, %d covered only by new controls, "+
		"and %d without controls.",
		prose.Count(c.RequirementCount, "requirement", "requirements"), d.RequirementsCovered, d.RequirementsPartly, d.RequirementsNew,
		c.RequirementCount-c.MappedRequirementCount)
	if len(d.NewControls) > 0 {
		p.Blank()
		renderTable(p, d.NewControls, []print.Column{fixed("new control"), column("title")}, func(n api.FrameworkControl) []string {
			return []string{n.ControlCode, n.ControlTitle}
		})
	}
}

func (a *app) catalogCrosswalk(version *string) *cobra.Command {
	return &cobra.Command{
		Use:   "crosswalk FRAMEWORK [TARGET]",
		Short: "Show a framework's controls, or map two frameworks to each other",

		ValidArgsFunction: a.completeFrameworks(),
		Long: "With one framework, lists its controls and the requirements mapped to each. With two frameworks,\n" +
			"maps their requirements to each other through shared controls.",
		Example: "  service catalog crosswalk iso-27001-2022\n  service catalog crosswalk iso-27001-2022 soc2-tsc -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			in := api.CrosswalkInput{Framework: args[0], Version: *version}
			if len(args) == 2 {
				in.Target = args[1]
			}
			c, err := call(cmd.Context(), a, api.GetCrosswalk, &in)
			if err != nil {
				return a.withFrameworkHint(err)
			}
			return a.out.Print(c, func(p *print.Page) {
				var rows [][]string
				if c.Target == nil {
					for _, x := range c.Controls {
						rows = append(rows, []string{x.ControlCode, x.ControlTitle, strings.Join(x.RequirementCodes, ", ")})
					}
					p.Table([]print.Column{fixed("control"), column("title"), wrapped(c.Framework.Code)}, rows)
					return
				}
				for _, x := range c.Pairs {
					rows = append(rows, []string{x.RequirementCode, x.TargetRequirementCode, strings.Join(x.ControlCodes, ", ")})
				}
				p.Table(
					[]print.Column{fixed(c.Framework.Code), fixed(c.Target.Code), wrapped("through the controls")},
					rows,
				)
				renderTextIfEmpty(p, len(rows), "The frameworks share no controls.")
			})
		},
	}
}
