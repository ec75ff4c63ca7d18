package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

func (a *app) catalogCommand() *cobra.Command {
	var version string
	cmd := makeCommandGroup(&cobra.Command{
		Use: "catalog", Short: "Search and manage the control catalog, which maps controls to frameworks",
		Long: `The catalog contains controls by domain, frameworks with their requirements, and the
mappings between controls and requirements. A small starter catalog is built in; import
the full SCF from its workbook, available free of charge at securecontrolsframework.com.`,
		Example: "  service catalog import 'secure-controls-framework-2026-1-1.xlsx'\n  service catalog show IAC-06\n" +
			"  service catalog frameworks --query iso\n  service catalog crosswalk iso-27001-2022 nist-csf-2.0",
	}, a.catalogImport(), a.catalogImportSTRM(&version), a.catalogExport(&version), a.catalogDiff(), a.catalogImportRuns(),
		a.catalogVersions(), a.catalogEvidenceRequests(&version), a.catalogHazards(&version, "risks"), a.catalogHazards(&version, "threats"),
		a.catalogPrinciples(&version), a.catalogRequirement(&version), a.catalogDomains(&version), a.catalogControls(&version),
		a.catalogShow(&version), a.catalogSearch(&version), a.catalogFrameworks(&version), a.catalogRequirements(&version),
		a.catalogCoverage(&version), a.catalogCrosswalk(&version))
	cmd.PersistentFlags().StringVar(&version, "version", "", "catalog version, by label or id (default: the active one)")
	return cmd
}

func (a *app) catalogVersions() *cobra.Command {
	return &cobra.Command{
		Use: "versions", Short: "List the catalog versions",
		Long: "Lists the imported catalog versions and the built-in starter catalog.", Example: "  service catalog versions",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := fetchAll(cmd.Context(), a, api.ListVersions, &api.Paging{})
			if err != nil {
				return err
			}
			return printList(a, all, []print.Column{
				fixed("version"), fixed("status"), column("starter"), number("controls"), optional(number("domains")),
				number("frameworks"), number("requirements"), number("mappings"), optional(column("search")),
				optional(fixed("imported")), optional(column("from")),
			}, func(v api.InstalledCatalog) []string {
				c := v.Counts
				return []string{
					v.Label, v.Status, yesNo(v.IsStarter), fmt.Sprint(c.Controls), fmt.Sprint(c.Domains),
					fmt.Sprint(c.Frameworks), fmt.Sprint(c.Requirements), fmt.Sprint(c.Mappings),
					describeSearchStatus(&v), print.FormatDay(v.ImportedAt), orZero(v.SourceFilename),
				}
			}, "")
		},
	}
}

// describeSearchStatus describes whether the search has been trained on a catalog version and, if training is running,
// its progress.
func describeSearchStatus(v *api.InstalledCatalog) string {
	if v.TrainingProgress != nil {
		return fmt.Sprintf("%s: %d%%", v.SearchStatus, *v.TrainingProgress)
	}
	return v.SearchStatus
}

func (a *app) catalogDomains(version *string) *cobra.Command {
	return &cobra.Command{
		Use: "domains", Short: "List the domains",
		Long: "Lists the domains (families of controls). Control codes begin with the domain's code.", Example: "  service catalog domains",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := fetchAll(cmd.Context(), a, api.ListDomains, &api.DomainsInput{Version: *version})
			if err != nil {
				return err
			}
			return printList(
				a,
				all,
				[]print.Column{fixed("domain"), fixed("name"), number("controls"), wrapped("principle")},
				func(d api.Domain) []string {
					return []string{d.Code, d.Name, fmt.Sprint(d.ControlCount), orZero(d.Principle)}
				},
				"",
			)
		},
	}
}

// printControls prints the controls that match the filters of in.
func (a *app) printControls(ctx context.Context, in api.ControlsInput, l listFlags) error {
	all, err := fetchList(ctx, a, api.ListControls, &in, l)
	if err != nil {
		return err
	}
	return printList(a, all, []print.Column{
		fixed("control"), column("title"), optional(number("weight")), optional(column("function")),
		column("description"),
	}, func(c api.Control) []string {
		weight := ""
		if c.Weight != nil {
			weight = fmt.Sprint(*c.Weight)
		}
		return []string{c.Code, c.Title, weight, orZero(c.CSFFunction), c.Description}
	}, "No controls match.")
}

func (a *app) catalogControls(version *string) *cobra.Command {
	var in api.ControlsInput
	var l listFlags
	cmd := &cobra.Command{
		Use: "controls", Short: "List controls",
		Long:    "Lists controls by code. Multiple filters must all match.",
		Example: "  service catalog controls --domain IAC\n  service catalog controls --framework pci-dss-4.0.1 -o csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			in.Version = *version
			return a.printControls(cmd.Context(), in, l)
		},
	}
	cmd.Flags().StringVar(&in.Domain, "domain", "", "show only controls of this domain")
	cmd.Flags().StringVar(&in.Framework, "framework", "", "show only controls mapped to this framework")
	cmd.Flags().StringVar(&in.Q, "query", "", "show only controls that contain these words")
	_ = cmd.RegisterFlagCompletionFunc("framework", a.completeFrameworks())
	l.addFlags(cmd, 0)
	return cmd
}

func (a *app) catalogSearch(version *string) *cobra.Command {
	var l listFlags
	cmd := &cobra.Command{
		Use: "search WORD…", Short: "Find controls by words or requirement codes",
		Long:    "Finds controls by words in their text and by requirement codes, best match first.",
		Example: "  service catalog search multi-factor authentication\n  service catalog search A.5.17",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.printControls(cmd.Context(), api.ControlsInput{Q: strings.Join(args, " "), Version: *version}, l)
		},
	}
	l.addFlags(cmd, 20)
	return cmd
}

func (a *app) catalogShow(version *string) *cobra.Command {
	return &cobra.Command{
		Use: "show CONTROL", Short: "Show a control in full, with its mappings",
		ValidArgsFunction: a.completeControls(),
		Long: "Shows a control with its question, assessment objectives, maturity levels and mapped\n" +
			"requirements.",
		Example: "  service catalog show IAC-06\n  service catalog show IAC-06 --jq '.maturity[\"3\"]'",
		RunE: func(cmd *cobra.Command, args []string) error {
			in := api.ControlInput{ControlID: args[0], Version: *version}
			c, err := call(cmd.Context(), a, api.GetControl, &in)
			if err != nil {
				return err
			}
			if !a.out.IsHumanReadable() {
				return a.out.PrintRecord(c)
			}
			maps, err := fetchAll(
				cmd.Context(),
				a,
				api.ListControlMappings,
				&api.ControlMappingsInput{ControlInput: in},
			)
			if err != nil {
				return err
			}
			names, err := a.readHazardTitles(cmd.Context(), *version, c)
			if err != nil {
				return err
			}
			return a.out.PrintPage(func(p *print.Page) {
				renderControl(p, c, names)
				renderImportedControlDetails(p, c)
				renderControlMappings(p, maps.Data)
			})
		},
	}
}

func renderControl(p *print.Page, c *api.Control, hazardTitles map[string]string) {
	p.Title("%s  %s", c.Code, c.Title)
	p.Text("%s", c.Description)
	if c.IsCustom {
		p.Text("(custom control)")
	}
	weight := ""
	if c.Weight != nil {
		weight = fmt.Sprint(*c.Weight)
	}
	p.Blank()
	p.Fields(
		field("question", orZero(c.Question)),
		field("domain", c.DomainCode),
		field("weight", weight),
		field("applies to", strings.Join(c.Applicability, ", ")),
		field("function", orZero(c.CSFFunction)),
		field("cadence", orZero(c.Cadence)),
		field("applies only if", strings.Join(c.Traits, ", ")),
		field("tags", strings.Join(c.Tags, ", ")),
		field("id", c.ID),
	)
	var objectives, requests, levels []string
	for _, o := range c.AssessmentObjectives {
		objectives = append(objectives, joinNonEmpty(o.Code, o.Text))
	}
	for _, r := range c.EvidenceRequests {
		requests = append(requests, joinNonEmpty(orZero(r.Code), r.Artifact, orZero(r.Description)))
	}
	for _, l := range sortedKeys(c.Maturity) {
		levels = append(levels, l+": "+c.Maturity[l])
	}
	renderSection(p, "Assessment objectives", objectives)
	renderSection(p, "Evidence to request", requests)
	renderSection(p, "Maturity", levels)
	renderSection(p, "Risks", joinCodesWithTitles(c.Risks, hazardTitles))
	renderSection(p, "Threats", joinCodesWithTitles(c.Threats, hazardTitles))
}

// renderSection prints a title and a list of lines, or nothing if there are no lines.
func renderSection(p *print.Page, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	p.Title("%s", title)
	for _, l := range lines {
		p.ListItem(0, "%s", l)
	}
}

func (a *app) catalogImport() *cobra.Command {
	var label, aliases string
	var dry bool
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Import the SCF workbook or a JSON catalog",
		Long: `Imports an SCF workbook (.xlsx), or a JSON catalog in the service's own format or in
OSCAL, as a new catalog version and makes it the active one. The import either succeeds
as a whole or changes nothing. Assessments keep the version they were created with.
--dry-run shows what would change. With --aliases, specify a YAML file that maps workbook
columns to frameworks; it overrides the built-in mapping and is stored with the version.`,
		Example: "  service catalog import scf-2026.1.1.xlsx --dry-run\n  service catalog import scf.xlsx --label 2026.1.1",
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := openFile(cmd.Context(), args[0], api.MaxUploadBytes)
			if err != nil {
				return err
			}
			defer f.Close()
			table, err := a.readAliasFile(aliases)
			if err != nil {
				return err
			}
			word := "import"
			if dry {
				word = "check"
			}
			a.interruptHint = "the catalog was not changed; run the command again"
			a.progress.Start(word + " " + filepath.Base(args[0]))
			restore := limitImportMemory()
			run, err := a.importCatalogFile(cmd.Context(), args[0], f, label, table, dry)
			restore()
			a.progress.Done("")
			if err != nil {
				if strings.EqualFold(filepath.Ext(args[0]), ".pdf") {
					err = withHint(
						err,
						"to add the relationship mappings (STRM) from a PDF file to a catalog, use `%s`",
						a.suggestedCommandLine("catalog import-strm "+shellQuote(args[0])),
					)
				}
				return validationToRuntimeError(err)
			}
			if err := a.out.Print(run, func(p *print.Page) { a.renderImportRun(p, run) }); err != nil {
				return err
			}
			if run.Status == api.ImportFailed {
				return runtimeError("nothing was imported: %s", orZero(run.Error))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&label, "label", "", "label of the version, such as 2026.1.1 (default: from the workbook)")
	cmd.Flags().StringVar(&aliases, "aliases", "", "YAML file that maps workbook columns to frameworks")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show what would change without changing anything")
	return cmd
}

// importMemory is where garbage collection becomes more frequent while a command imports a workbook. It takes a tenth to
// a fifth more processor time and 10 to 15 MB less memory for workbooks of 1,090 to 1,468 controls.
const importMemory = 60 << 20

// limitImportMemory limits the memory of this process softly, unless the environment (GOMEMLIMIT) limits it further. A
// daemon that the command calls is not affected.
func limitImportMemory() (restore func()) {
	before := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(before, importMemory))
	return func() { debug.SetMemoryLimit(before) }
}

// maxWarningsShown is the maximum number of warnings printed; -o json shows all.
const maxWarningsShown = 10

func (a *app) renderImportRun(p *print.Page, r *api.ImportRun) {
	title := "Import of " + r.SourceFilename
	if r.DryRun {
		title += " (dry run: nothing was changed)"
	}
	p.Title("%s: %s", title, r.Status)
	s := r.Statistics
	p.Fields(
		field("controls", fmt.Sprint(s.Controls)),
		field("domains", fmt.Sprint(s.Domains)),
		field("frameworks", fmt.Sprint(s.Frameworks)),
		field("requirements", fmt.Sprint(s.Requirements)),
		field("mappings", fmt.Sprint(s.Mappings)),
		field("sheets", numberOrEmpty(s.Sheets)),
		field("columns", formatColumnCounts(s)),
		field("objectives", numberOrEmpty(s.AssessmentObjectives)),
		field("evidence requests", numberOrEmpty(s.EvidenceRequests)),
		field("error", orZero(r.Error)),
		field("run", r.ID),
	)
	renderMappingDocuments(p, r.Documents)
	if d := r.Diff; d != nil {
		p.Title("Changes since %s", d.FromLabel)
		renderDiffSummary(p, d)
	}
	if len(r.Warnings) == 0 {
		return
	}
	p.Title("%s", prose.Count(len(r.Warnings), "warning", "warnings"))
	for _, w := range r.Warnings[:min(len(r.Warnings), maxWarningsShown)] {
		at := joinNonEmpty(w.Sheet, w.Cell)
		if at != "" {
			at += ":"
		}
		p.ListItem(0, "%s", joinNonEmpty(at, w.Message))
	}
	if more := len(r.Warnings) - maxWarningsShown; more > 0 {
		p.Text("and %d more: `%s`", more, a.suggestedCommandLine("catalog runs "+r.ID+" -o json"))
	}
}

func (a *app) catalogImportRuns() *cobra.Command {
	return &cobra.Command{
		Use: "runs [ID]", Short: "List the imports, or show one",
		Long:    "Lists the imports, newest first; with an id, shows one import with its warnings.",
		Example: "  service catalog runs\n  service catalog runs ID -o json --jq '.warnings[].message'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return callAndPrint(
					cmd.Context(),
					a,
					api.GetImportRun,
					&api.GetImportRunInput{ImportRunInput: api.ImportRunInput{ImportRunID: args[0]}},
					a.renderImportRun,
				)
			}
			all, err := fetchAll(cmd.Context(), a, api.ListImportRuns, &api.ImportRunsInput{})
			if err != nil {
				return err
			}
			return printList(a, all, []print.Column{
				fixed("at"), fixed("status"), optional(column("dry run")), column("file"), number("controls"),
				optional(number("warnings")), idColumn(),
			}, func(r api.ImportRun) []string {
				return []string{
					print.FormatTime(r.StartedAt), r.Status, yesNo(r.DryRun), r.SourceFilename,
					fmt.Sprint(r.Statistics.Controls), fmt.Sprint(len(r.Warnings)), r.ID,
				}
			}, "No imports yet. Import a catalog with `%s`.", a.suggestedCommandLine("catalog import FILE"))
		},
	}
}
