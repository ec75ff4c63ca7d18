package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

func (a *app) catalogDiff() *cobra.Command {
	return &cobra.Command{
		Use: "diff OLDER NEWER", Short: "Compare two catalog versions",
		ValidArgsFunction: a.completeCatalogVersions(),
		Long: `Shows what changed from one catalog version to another: controls added, removed, renamed,
reworded and reweighted, frameworks added, removed or replaced by a newer edition, and
mappings added and removed. Specify versions by label or id. -o json lists every mapping.`,
		Example: "  service catalog diff 2022.3 2026.1.1\n  service catalog diff 2022.3 2026.1.1 --jq '.changed[] | select(.reweighted) | .code'",
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := call(
				cmd.Context(),
				a,
				api.DiffVersions,
				&api.DiffInput{VersionInput: api.VersionInput{SCFVersionID: args[1]}, From: args[0]},
			)
			if err != nil {
				if api.IsCode(err, api.CodeNotFound) {
					return withHint(err, "`%s` lists the versions", a.suggestedCommandLine("catalog versions"))
				}
				return err
			}
			return a.out.Print(d, func(p *print.Page) { renderCatalogDiff(p, d) })
		},
	}
}

func renderCatalogDiff(p *print.Page, d *api.CatalogDiff) {
	p.Title("From %s to %s", d.FromLabel, d.ToLabel)
	renderDiffSummary(p, d)
	renderRefs := func(title string, list []api.ControlRef) {
		if len(list) == 0 {
			return
		}
		p.Title("%s", title)
		renderTable(p, list, []print.Column{fixed("control"), column("title")}, func(c api.ControlRef) []string {
			return []string{c.Code, c.Title}
		})
	}
	renderRefs("Added controls", d.Added)
	renderRefs("Removed controls", d.Removed)
	renderChangedControls(p, d.Changed)
	renderFrameworkDiff(p, d)
	renderMappingDiff(p, d)
}

func renderDiffSummary(p *print.Page, d *api.CatalogDiff) {
	c := d.Summary
	p.Text(
		"controls: %d added, %d removed, %d renamed, %d reworded, %d reweighted, %d unchanged",
		c.Added,
		c.Removed,
		c.Renamed,
		c.Reworded,
		c.Reweighted,
		c.Unchanged,
	)
	p.Text(
		"frameworks: %d added, %d removed; mappings: %d added, %d removed",
		c.FrameworksAdded,
		c.FrameworksRemoved,
		c.MappingsGained,
		c.MappingsLost,
	)
}

func renderChangedControls(p *print.Page, list []api.ControlChange) {
	if len(list) == 0 {
		return
	}
	p.Title("Changed controls")
	renderTable(
		p,
		list,
		[]print.Column{fixed("control"), fixed("change"), fixed("weight"), column("title")},
		func(c api.ControlChange) []string {
			var what []string
			for _, w := range []struct {
				is   bool
				word string
			}{{c.Renamed, "renamed"}, {c.Reworded, "reworded"}, {c.Reweighted, "reweighted"}, {c.Deprecated, "deprecated"}} {
				if w.is {
					what = append(what, w.word)
				}
			}
			weight, title := "", c.ToTitle
			if c.Reweighted {
				weight = formatIntOrDash(c.FromWeight) + " → " + formatIntOrDash(c.ToWeight)
			}
			if c.Renamed {
				title = c.FromTitle + " → " + c.ToTitle
			}
			return []string{c.Code, strings.Join(what, ", "), weight, title}
		},
	)
}

func formatIntOrDash(n *int) string {
	if n == nil {
		return "–"
	}
	return fmt.Sprint(*n)
}

func renderFrameworkDiff(p *print.Page, d *api.CatalogDiff) {
	if len(d.FrameworksAdded)+len(d.FrameworksRemoved) == 0 {
		return
	}
	newer := map[string]string{}
	for _, e := range d.FrameworksReplaced {
		newer[e.FromCode] = e.ToCode
	}
	p.Title("Frameworks")
	var rows [][]string
	for _, code := range d.FrameworksRemoved {
		rows = append(rows, []string{code, "removed", newer[code]})
	}
	for _, code := range d.FrameworksAdded {
		rows = append(rows, []string{code, "added", ""})
	}
	p.Table([]print.Column{fixed("framework"), fixed("change"), fixed("newer edition")}, rows)
}

// renderMappingDiff prints the number of mapping changes for each framework. It does not list the changes,
// because there can be thousands.
func renderMappingDiff(p *print.Page, d *api.CatalogDiff) {
	type figures struct{ gained, lost int }
	byFramework := map[string]*figures{}
	tally := func(list []api.MappingChanges, add func(f *figures, n int)) {
		for _, m := range list {
			if byFramework[m.FrameworkCode] == nil {
				byFramework[m.FrameworkCode] = &figures{}
			}
			add(byFramework[m.FrameworkCode], len(m.RequirementCodes))
		}
	}
	tally(d.MappingsGained, func(f *figures, n int) { f.gained += n })
	tally(d.MappingsLost, func(f *figures, n int) { f.lost += n })
	if len(byFramework) == 0 {
		return
	}
	p.Title("Mapping changes for controls and frameworks in both versions")
	renderTable(
		p,
		sortedKeys(byFramework),
		[]print.Column{fixed("framework"), number("added"), number("removed")},
		func(code string) []string {
			return []string{code, fmt.Sprint(byFramework[code].gained), fmt.Sprint(byFramework[code].lost)}
		},
	)
}
