package cli

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

// JudgementOptions holds the options for measuring the quality of the rules.
type JudgementOptions struct {
	Set string // folder of labeled companies; "" for the built-in ones
	// Workbook is an SCF workbook with the controls to judge; "" for the starter catalog.
	Workbook string
	Today    api.Date // the date to judge on; "" for the date of the built-in labels
	Ablate   bool     // also judge without each document in turn
	// LabelsOnly derives verdicts from labels alone, as for readers other than the rules.
	LabelsOnly bool
	// Data is the data folder whose model reads instead of the rules, if Model is set.
	Model bool
	Data  string
	// Weights is the file with the weights of a network that reads instead of the rules, or "".
	Weights string
	// Progress is called with the current stage and its progress.
	Progress func(what string, done, total int)
}

// JudgementReport measures how well the rules agree with human labels.
type JudgementReport struct {
	Rules    string             `json:"rules"`
	Reader   string             `json:"reader"` // the rules, or the model or network that read
	Use      api.ModelUse       `json:"use"`    // what the model used
	Embedder string             `json:"embedder"`
	Today    api.Date           `json:"today"`
	Verdicts []string           `json:"verdicts"` // rows and columns of the confusion tables
	Sets     []JudgedSet        `json:"sets"`     // one for each company, and "all" if there are several
	Passages *NegativePassages  `json:"passages,omitempty"`
	Bars     map[string]float64 `json:"bars"`
}

// JudgedSet holds the results for one company.
type JudgedSet struct {
	Name      string          `json:"name"`
	Documents int             `json:"documents"`
	Controls  int             `json:"controls"`
	Kappa     float64         `json:"kappa"`
	Agreement float64         `json:"agreement"`
	Evidenced PrecisionRecall `json:"evidenced"`
	Missing   PrecisionRecall `json:"missing_elements"`
	Ablation  *AblationResult `json:"ablation,omitempty"`
	// WithRules compares the rules with the model or network that read.
	WithRules *ReaderComparison `json:"with_rules,omitempty"`
	Confusion [][]int           `json:"confusion"` // indexed by the label, then by the rules' verdict
	Wrong     []string          `json:"wrong"`
	// Different lists the controls whose verdict differs from the label.
	Different []JudgedDifference `json:"differences"`
}

// ReaderComparison counts the controls on which the rules and a reader agree and differ, and the verdicts that match
// the labels.
type ReaderComparison struct {
	Agree       int `json:"agree"`
	AgreeRight  int `json:"agree_right"`
	Differ      int `json:"differ"`
	RulesRight  int `json:"rules_right"`  // number of those on which they differ
	ReaderRight int `json:"reader_right"` // number of those on which they differ
}

// JudgedDifference is a control for which the verdict differs from the human label. Objectives are numbered
// as in labels.csv.
type JudgedDifference struct {
	Control            string `json:"control"`
	Labelled           string `json:"labeled"`
	Judged             string `json:"judged"`
	MissingInRulesOnly []int  `json:"missing_in_rules_only"`
	MissingInLabelOnly []int  `json:"missing_in_label_only"`
}

// PrecisionRecall holds precision and recall, each from 0 to 1.
type PrecisionRecall struct {
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
}

// AblationResult summarizes how verdicts change if single documents are removed from the evidence.
type AblationResult struct {
	Detected       float64 `json:"downgraded_share"`         // share of the controls depending on one document whose verdict dropped without it
	Emptied        float64 `json:"unevidenced_share"`        // share of them that lost all their evidence
	SingleDocument int     `json:"single_document_controls"` // number of these controls
	Disturbed      float64 `json:"changed_share"`            // share of the other controls whose verdict changed nevertheless
	Others         int     `json:"other_controls"`
}

// NegativePassages reports how many passages that are not evidence were mistaken for evidence.
type NegativePassages struct {
	Passages int            `json:"passages"`
	Counted  int            `json:"counted"`
	Share    float64        `json:"share"`
	ByKind   map[string]int `json:"counted_by_kind"`
	Wrong    []string       `json:"wrong"`
}

func (a *app) evalJudgement() *cobra.Command {
	o := JudgementOptions{Ablate: true}
	var today, reader string
	var corrections bool
	cmd := &cobra.Command{
		Use: "judgement [--set DIR]", Short: "Measure how well the rules agree with human labels",
		Long: `Judges labeled documents with the product's rules and prints how well the verdicts agree
with the labels: precision and recall of "evidenced", Cohen's kappa, a confusion table,
the effect of removing single documents, and how many negated, planned or blank passages
are mistaken for evidence. With --reader model, the selected language model
reads the documents instead of the rules, and the documents are sent to the model's server.
With --reader reader.bin, a network that you trained reads the documents. Without --set, the
built-in fictional companies are used; without --scf, the controls of the starter catalog.
Because documents become outdated, they are judged as of 2026-11-20, the date of the built-in
labels, unless --today is set. Labels of controls that are not in the workbook are skipped.
With --from-corrections, no labels are used. Instead, the command shows, by domain, how often
each reader agrees with the decisions that people in your organization made about passages of
their own documents.
With --set, the command also lists the controls whose verdict differs from the label. With
-o json, these controls are listed under "different", also for the built-in companies.

DIR, or each of its subfolders, contains labels.csv and a folder named evidence:
  labels.csv    control, verdict, missing, documents: codes of the starter catalog;
                implemented, partially_implemented, planned, not_implemented or
                not_evidenced; numbers of objectives without evidence; file names
                separated by ";"
  passages.csv  kind, control, text: passages that are not evidence (optional);
                negated, planned, template or other`,
		Example: "  service eval judgement\n  service eval judgement --set ./labelled --today 2026-11-20 -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if corrections {
				for _, f := range []string{"set", "scf", "today", "ablation", "reader", "labels-only"} {
					if cmd.Flags().Changed(f) {
						return usageError("--from-corrections and --%s can't be combined, because --from-corrections compares every reader anyway", f)
					}
				}
				return a.runEvalCorrections(cmd.Context())
			}
			if today != "" {
				o.Today = api.Date(today)
				if _, err := o.Today.Time(); err != nil {
					return usageError("--today must be a date such as 2026-11-20, not %q", today)
				}
			}
			if reader != "" && isWeightsFile(reader) {
				o.Weights, reader = reader, ""
			}
			if err := checkOneOfOrEmpty("reader", reader, []string{"rules", api.ModelReader}); err != nil {
				return err
			}
			o.Model, o.Data = reader == api.ModelReader, a.flags.Data
			return a.runEvalJudgement(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&corrections, "from-corrections", false,
		"compare each reader with the decisions that people in your organization made about passages")
	cmd.Flags().StringVar(&o.Set, "set", "", "folder of labeled documents (default: the built-in fictional companies)")
	cmd.Flags().StringVar(&o.Workbook, "scf", "", "SCF workbook with the controls (default: the starter catalog)")
	cmd.Flags().StringVar(&today, "today", "", "date as of which to judge (default: the date of the labels, 2026-11-20)")
	cmd.Flags().BoolVar(&o.Ablate, "ablation", true, "also measure what changes if one document at a time is removed")
	cmd.Flags().StringVar(&reader, "reader", "",
		"reader to measure: rules; with --ablation=false, also model (the selected language model) or a file of weights (default: rules)")
	cmd.Flags().BoolVar(&o.LabelsOnly, "labels-only", false,
		"derive verdicts only from the labels that the rules assign to passages, as for any other reader")
	return cmd
}

func (a *app) runEvalJudgement(ctx context.Context, o JudgementOptions) error {
	if a.EvalJudgement == nil {
		return runtimeError("this build of the program can't measure the judgement")
	}
	if o.Set != "" {
		if err := requireFolder(o.Set); err != nil {
			return err
		}
	}
	o.Progress = a.startStages("read the labels")
	r, err := a.EvalJudgement(ctx, o)
	a.progress.Done("")
	if err != nil {
		if o.Set == "" || o.Workbook != "" {
			return runtimeError("%w", err)
		}
		return runtimeError("%s: %w", o.Set, err)
	}
	return a.out.Print(r, func(p *print.Page) { renderJudgementReport(p, o, r) })
}

func renderJudgementReport(p *print.Page, o JudgementOptions, r *JudgementReport) {
	name := "the built-in fictional companies"
	if o.Set != "" {
		name = filepath.Clean(o.Set)
	}
	p.Title("Judgement on %s", name)
	controls := "from the starter catalog"
	if o.Workbook != "" {
		controls = "from " + filepath.Clean(o.Workbook)
	}
	p.Fields(
		field("rules", r.Rules),
		field("reader", describeEvalReader(r)),
		field("controls", controls),
		field("judged on", string(r.Today)),
	)
	columns := []print.Column{fixed("COMPANY")}
	for _, t := range []string{
		"DOCS", "CONTROLS", "KAPPA", "AGREE", "EVIDENCED P", "R", "MISSING P", "R",
		"DETECTED", "EMPTIED", "DISTURBED",
	} {
		columns = append(columns, fixedNumber(t))
	}
	p.Blank()
	renderTable(p, r.Sets, columns, func(s JudgedSet) []string {
		row := []string{s.Name, fmt.Sprint(s.Documents), fmt.Sprint(s.Controls)}
		for _, f := range []float64{s.Kappa, s.Agreement, s.Evidenced.Precision, s.Evidenced.Recall, s.Missing.Precision, s.Missing.Recall} {
			row = append(row, fmt.Sprintf("%.2f", f))
		}
		without := []string{"-", "-", "-"}
		if s.Ablation != nil {
			for i, f := range []float64{s.Ablation.Detected, s.Ablation.Emptied, s.Ablation.Disturbed} {
				without[i] = fmt.Sprintf("%.1f%%", 100*f)
			}
		}
		return append(row, without...)
	})
	if o.Ablate && !o.Model && o.Weights == "" {
		p.Blank()
		p.Text(
			"One document at a time is removed. DETECTED is the share of controls based only on that document whose verdict drops; " +
				"EMPTIED is the share of these controls left without evidence. DISTURBED is the share of other controls whose verdict changes.",
		)
	}
	if len(r.Sets) > 0 {
		last := r.Sets[len(r.Sets)-1]
		renderConfusionTable(p, r, last)
		if c := last.WithRules; c != nil {
			reader := "model"
			if o.Weights != "" {
				reader = "network"
			}
			p.Blank()
			p.Text(
				"The rules and the %s agree on %d of %d controls, and %d of these verdicts match the label. For the other %d controls, the verdict of the %s "+
					"matches the label in %d cases, the verdict of the rules in %d.", reader, c.Agree, c.Agree+c.Differ, c.AgreeRight, c.Differ, reader, c.ReaderRight, c.RulesRight,
			)
		}
	}
	if o.Set != "" {
		for _, s := range r.Sets {
			renderDifferences(p, s)
		}
	}
	if n := r.Passages; n != nil {
		p.Blank()
		var byKind []string
		for _, kind := range slices.Sorted(maps.Keys(n.ByKind)) {
			byKind = append(byKind, fmt.Sprintf("%d %s", n.ByKind[kind], kind))
		}
		p.Text(
			"%d of %d passages that are not evidence were mistaken for evidence (%.1f%%): %s.",
			n.Counted,
			n.Passages,
			100*n.Share,
			strings.Join(byKind, ", "),
		)
	}
}

func describeEvalReader(r *JudgementReport) string {
	if r.Use.Calls == 0 {
		return r.Reader
	}
	return r.Reader + " (" + describeModelUse(r.Use) + ")"
}

// renderDifferences prints the controls whose verdict differs from the label.
func renderDifferences(p *print.Page, s JudgedSet) {
	if len(s.Different) == 0 {
		return
	}
	p.Title("Verdicts that differ from the label: %s", s.Name)
	renderTable(p, s.Different, []print.Column{
		fixed("CONTROL"), fixed("LABELED"), fixed("JUDGED"), column("MISSING (RULES ONLY)"),
		column("MISSING (LABEL ONLY)"),
	}, func(d JudgedDifference) []string {
		return []string{
			d.Control, prose.Humanize(d.Labelled), prose.Humanize(d.Judged), formatNumbers(d.MissingInRulesOnly),
			formatNumbers(d.MissingInLabelOnly),
		}
	})
}

func formatNumbers(all []int) string {
	return strings.Trim(fmt.Sprint(all), "[]")
}

// renderConfusionTable prints the number of controls for each pair of human label (row) and verdict of the
// rules (column).
func renderConfusionTable(p *print.Page, r *JudgementReport, s JudgedSet) {
	columns := []print.Column{fixed("LABELED")}
	for _, v := range r.Verdicts {
		columns = append(columns, fixedNumber(strings.ToUpper(prose.Humanize(v))))
	}
	var rows [][]string
	for i, counts := range s.Confusion {
		row := []string{prose.Humanize(r.Verdicts[i])}
		for _, n := range counts {
			row = append(row, fmt.Sprint(n))
		}
		rows = append(rows, row)
	}
	p.Blank()
	p.Table(columns, slices.Clip(rows))
}
