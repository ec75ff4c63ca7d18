package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

// catalogVersionInput returns the input that selects the catalog version with the given label or ID, or the
// active version if version is "".
func catalogVersionInput(version string) api.VersionInput {
	if version == "" {
		version = "latest"
	}
	return api.VersionInput{SCFVersionID: version}
}

func (a *app) completeCatalogVersions() cobra.CompletionFunc {
	return a.newCompleter(func(ctx context.Context, _ string) (out []string, err error) {
		l, err := call(ctx, a, api.ListVersions, &api.Paging{})
		if err != nil {
			return nil, err
		}
		for _, v := range l.Data {
			out = append(out, v.Label)
		}
		return out, nil
	})
}

const maxAliases = 64 << 10 // the server's limit

// readAliasFile reads the file given with --aliases; it returns "" if path is "".
func (a *app) readAliasFile(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	b, err := a.readFile(path, maxAliases)
	return string(b), err
}

// listHazards returns the risks or the threats of a catalog version, depending on kind.
func (a *app) listHazards(ctx context.Context, version, kind string) (*api.List[api.Hazard], error) {
	op := api.ListVersionRisks
	if kind == "threats" {
		op = api.ListVersionThreats
	}
	return fetchAll(ctx, a, op, &api.VersionListInput{VersionInput: catalogVersionInput(version)})
}

func (a *app) catalogHazards(version *string, kind string) *cobra.Command {
	one := strings.TrimSuffix(kind, "s")
	return &cobra.Command{
		Use: kind, Short: "List the " + one + " catalog", Example: "  service catalog " + kind,
		Long: "Lists the " + one + " catalog of a version, if the version includes one. `catalog show` lists the\n" + kind + " of a control.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := a.listHazards(cmd.Context(), *version, kind)
			if err != nil {
				return err
			}
			return a.out.Print(all, func(p *print.Page) {
				renderTable(p, all.Data, []print.Column{
					fixed(one), optional(column("group")), column("title"), optional(column("function")),
					column("description"),
				}, func(h api.Hazard) []string {
					return []string{h.Code, orZero(h.Group), h.Title, orZero(h.CSFFunction), orZero(h.Description)}
				})
				renderTextIfEmpty(p, len(all.Data), "This version has no %s catalog.", one)
			})
		},
	}
}

func (a *app) catalogEvidenceRequests(version *string) *cobra.Command {
	return &cobra.Command{
		Use:   "evidence",
		Short: "List evidence requests",

		Example: "  service catalog evidence\n  service catalog evidence --jq '.data[] | select(.control_codes | index(\"IAC-06\")) | .code'",
		Long:    "Lists the evidence requests of a catalog version, each with the controls that it supports.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := fetchAll(
				cmd.Context(),
				a,
				api.ListVersionEvidence,
				&api.VersionListInput{VersionInput: catalogVersionInput(*version)},
			)
			if err != nil {
				return err
			}
			return printList(
				a,
				all,
				[]print.Column{fixed("request"), column("artifact"), optional(column("area")), column("controls")},
				func(e api.EvidenceItem) []string {
					return []string{orZero(e.Code), e.Artifact, orZero(e.Area), joinFirst(e.ControlCodes, 6)}
				},
				"This version contains no evidence requests.",
			)
		},
	}
}

func (a *app) catalogPrinciples(version *string) *cobra.Command {
	return &cobra.Command{
		Use: "principles", Short: "List the privacy management principles", Example: "  service catalog principles",
		Long: "Lists the privacy management principles of a catalog version, each with its controls. To list\n" +
			"the principle of each domain, use `catalog domains`.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := fetchAll(
				cmd.Context(),
				a,
				api.ListVersionPrinciples,
				&api.VersionListInput{VersionInput: catalogVersionInput(*version)},
			)
			if err != nil {
				return err
			}
			return printList(a, all, []print.Column{
				fixed("#"), column("principle"), column("controls"), optional(column("description")),
			}, func(e api.Principle) []string {
				return []string{e.Number, e.Name, joinFirst(e.ControlCodes, 6), orZero(e.Description)}
			}, "This version has no privacy management principles.")
		},
	}
}

func (a *app) catalogRequirement(version *string) *cobra.Command {
	return &cobra.Command{
		Use: "requirement CODE", Short: "Show a requirement and the controls that it maps to",
		Long: `Shows which controls cover a requirement. If a relationship mapping document (STRM) was applied
to the catalog version, also shows how the requirement relates to each control (equal, subset,
superset or intersects), with a strength from 0 to 10. If several frameworks use the same
requirement code, prefix the code with the framework.`,
		Example: "  service catalog requirement iso-27001-2022:A.5.17\n  service catalog requirement 'nis2:Article 21.1' -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := fetchAll(
				cmd.Context(),
				a,
				api.ListRequirementMappings,
				&api.RequirementMappingsInput{RequirementID: args[0], Version: *version},
			)
			if err != nil {
				return err
			}
			if !a.out.IsHumanReadable() {
				return a.out.PrintRecord(all)
			}
			var q *api.Requirement
			if len(all.Data) > 0 {
				if q, err = a.findRequirement(cmd.Context(), *version, &all.Data[0]); err != nil {
					return err
				}
			}
			return a.out.PrintPage(func(p *print.Page) {
				if q != nil {
					p.Title("%s  %s  %s", q.FrameworkCode, q.Code, orZero(q.Title))
					if q.Text != nil {
						p.Text("%s", *q.Text)
						p.Blank()
					}
				}
				renderMappingTable(p, all.Data, func(m *api.Mapping) string { return m.ControlCode }, "control")
				renderTextIfEmpty(p, len(all.Data), "No controls cover this requirement.")
			})
		},
	}
}

// findRequirement returns the requirement that a mapping refers to, or nil if the framework doesn't list it.
func (a *app) findRequirement(ctx context.Context, version string, m *api.Mapping) (*api.Requirement, error) {
	all, err := fetchAll(
		ctx,
		a,
		api.ListRequirements,
		&api.RequirementsInput{FrameworkInput: api.FrameworkInput{FrameworkID: m.FrameworkCode, Version: version}},
	)
	if err != nil {
		return nil, err
	}
	for i := range all.Data {
		if all.Data[i].ID == m.RequirementID {
			return &all.Data[i], nil
		}
	}
	return nil, nil
}

func renderMappingTable(p *print.Page, maps []api.Mapping, label func(*api.Mapping) string, labelHeader string) {
	columns := []print.Column{
		fixed(labelHeader),
		fixed("relationship"),
		number("strength"),
		column("rationale"),
		optional(column("source")),
	}
	renderTable(p, maps, columns, func(m api.Mapping) []string {
		strength := ""
		if m.Strength != nil {
			strength = fmt.Sprint(*m.Strength)
		}
		return []string{label(&m), orZero(m.Relationship), strength, orZero(m.Rationale), m.Source}
	})
}

// readHazardTitles returns the titles of a control's risks and threats, keyed by code.
func (a *app) readHazardTitles(ctx context.Context, version string, c *api.Control) (map[string]string, error) {
	names := map[string]string{}
	for kind, codes := range map[string][]string{"risks": c.Risks, "threats": c.Threats} {
		if len(codes) == 0 {
			continue
		}
		all, err := a.listHazards(ctx, version, kind)
		if err != nil {
			return nil, err
		}
		for _, h := range all.Data {
			names[h.Code] = h.Title
		}
	}
	return names, nil
}

// joinCodesWithTitles returns each code followed by its title, if it has one.
func joinCodesWithTitles(codes []string, titles map[string]string) []string {
	var out []string
	for _, code := range codes {
		out = append(out, joinNonEmpty(code, titles[code]))
	}
	return out
}

// renderImportedControlDetails prints the fields that only imported catalogs have.
func renderImportedControlDetails(p *print.Page, c *api.Control) {
	var compensating, solutions []string
	for _, k := range c.CompensatingControls {
		compensating = append(compensating, joinNonEmpty(k.ControlCode, orZero(k.Name))+withColonIfNotEmpty(orZero(k.Justification)))
	}
	for _, size := range []string{"any", "micro_small", "small", "medium", "large", "enterprise"} {
		if text := c.Solutions[size]; text != "" {
			solutions = append(solutions, prose.Humanize(size)+": "+text)
		}
	}
	renderSection(p, "Compensating controls", compensating)
	renderSection(p, "Recommended solutions by company size", solutions)
	var more []print.Field
	for _, f := range []struct {
		name string
		list []string
	}{{"baselines", c.Baselines}, {"supply chain tiers", c.SCRMTiers}, {"errata", c.Errata}} {
		if len(f.list) > 0 {
			more = append(more, field(f.name, strings.Join(f.list, ", ")))
		}
	}
	for _, name := range sortedKeys(c.Extra) {
		more = append(more, field(name, c.Extra[name]))
	}
	if len(more) > 0 {
		p.Title("Other details")
		p.Fields(more...)
	}
}

// withColonIfNotEmpty returns s with a colon in front, or "" if s is empty.
func withColonIfNotEmpty(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}

// renderControlMappings lists the requirements that a control maps to, by framework and, if known, with the
// relationship.
func renderControlMappings(p *print.Page, maps []api.Mapping) {
	codes := api.RequirementCodes{}
	var related []api.Mapping
	for _, m := range maps {
		codes[m.FrameworkCode] = append(codes[m.FrameworkCode], m.RequirementCode)
		if m.Relationship != nil {
			related = append(related, m)
		}
	}
	if len(codes) == 0 {
		return
	}
	p.Title("Requirements")
	var fields []print.Field
	for _, f := range sortedKeys(codes) {
		fields = append(fields, field(f, strings.Join(codes[f], ", ")))
	}
	p.Fields(fields...)
	if len(related) > 0 {
		p.Title("Relationships")
		renderMappingTable(p, related, func(m *api.Mapping) string { return m.FrameworkCode + " " + m.RequirementCode }, "requirement")
	}
}

func numberOrEmpty(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// formatColumnCounts returns the number of columns in an imported workbook, and how many of them are unknown.
func formatColumnCounts(s api.ImportStatistics) string {
	if s.Columns == 0 {
		return ""
	}
	return fmt.Sprintf("%d (%d unknown)", s.Columns, s.UnknownColumns)
}
