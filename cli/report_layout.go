package cli

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

// officeLayouts maps the file extensions of documents and templates that can be layouts to the report format.
var officeLayouts = map[string]string{
	".docx": "docx", ".dotx": "docx", ".docm": "docx", ".dotm": "docx",
	".pptx": "pptx", ".potx": "pptx", ".ppsx": "pptx", ".pptm": "pptx", ".potm": "pptx",
}

// officeLayoutFormat returns the format of the reports that a layout is for, based on its file name. It returns ""
// for HTML and Markdown templates.
func officeLayoutFormat(path string) string {
	return officeLayouts[strings.ToLower(filepath.Ext(path))]
}

// checkLayoutFormat sets a report's format to that of its layout if no format is given. It returns an error if the
// format or the output file doesn't match the layout.
func checkLayoutFormat(format *string, layout, out string) error {
	ofLayout := officeLayoutFormat(layout)
	if ofLayout == "" {
		return nil
	}
	if *format == "" {
		*format = ofLayout
	}
	if *format != ofLayout {
		return withHint(usageError("the layout %s produces a %s report, not %s", layout, ofLayout, *format), "leave out --format")
	}
	if ext := strings.ToLower(filepath.Ext(out)); out != "" && out != "-" && ext != "."+ofLayout {
		err := usageError("the layout %s produces a %s report, but --out is %s", layout, ofLayout, out)
		return withHint(err, "use a file name that ends in .%s for --out", ofLayout)
	}
	return nil
}

// readLayout reads a layout in the form that the API accepts.
func (a *app) readLayout(path, format string) (string, error) {
	if officeLayoutFormat(path) == "" && slices.Contains([]string{"docx", "pptx"}, format) {
		return "", withHint(usageError("%s can't be used as a layout for %s reports", path, format), "use a file name that ends in .%s", format)
	}
	if officeLayoutFormat(path) == "" {
		b, err := a.readFile(path, api.MaxLayoutBytes)
		return string(b), err
	}
	b, err := a.readFile(path, api.MaxOfficeLayoutBytes)
	return base64.StdEncoding.EncodeToString(b), err
}

func (a *app) layoutCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "layout", Short: "Create your own layout for reports",
		Long: `A layout is your own document with placeholders, such as {{client.name}}. "report create --layout"
replaces the placeholders with values. docs/layouts.md lists all placeholders.`,
		Example: "  service report layout init partner.docx\n  service report lint partner.docx\n" +
			"  service report create --layout partner.docx --out acme.docx",
	}, a.layoutInit())
}

func (a *app) layoutInit() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "init [FILE]", Short: "Create an example layout to start from",
		Long: "Creates a Word document or a presentation with an example of everything that a layout can contain.\n" +
			"Edit the file in Word or PowerPoint, check it with \"report lint\", and use it with\n\"report create --layout\".",
		Example: "  service report layout init partner.docx\n  service report layout init partner.pptx",
		RunE: func(cmd *cobra.Command, args []string) error {
			path := "layout.docx"
			if len(args) > 0 {
				path = args[0]
			}
			format := officeLayoutFormat(path)
			if format == "" && path != "-" {
				return withHint(usageError("%q does not have a file extension for layouts", path), "use .docx or .pptx")
			}
			if err := a.rejectUnusableOutputPath(path, force); err != nil {
				return err
			}
			l, err := call(cmd.Context(), a, api.GetExampleLayout, &api.ExampleLayoutInput{Format: format})
			if err != nil {
				return err
			}
			b, err := base64.StdEncoding.DecodeString(l.Layout)
			if err != nil {
				return fmt.Errorf("the server returned an example layout that is not valid base64: %w", err)
			}
			return a.saveDownload(&api.File{Content: io.NopCloser(bytes.NewReader(b))}, path, force)
		},
	}
	addForceFlag(cmd, &force)
	return cmd
}

func (a *app) reportLint() *cobra.Command {
	return &cobra.Command{
		Use: "lint LAYOUT", Short: "Check your own layout for errors",
		Long: `Lists each unknown placeholder in a layout with its location and a suggestion, without
creating a report. For HTML and Markdown templates, checks the syntax. The exit code is 1 if
there are errors.`,
		Example: "  service report lint partner.docx",
		RunE: func(cmd *cobra.Command, args []string) error {
			in := &api.LintLayoutInput{}
			if in.Body.Format = officeLayoutFormat(args[0]); in.Body.Format == "" {
				in.Body.Format = "md"
				if strings.Contains(strings.ToLower(filepath.Base(args[0])), ".htm") {
					in.Body.Format = "html"
				}
			}
			var err error
			if in.Body.Layout, err = a.readLayout(args[0], in.Body.Format); err != nil {
				return err
			}
			l, err := call(cmd.Context(), a, api.LintLayout, in)
			if err != nil {
				return err
			}
			if err := a.out.Print(l, func(p *print.Page) { renderLint(p, args[0], l) }); err != nil || l.OK {
				return err
			}
			return &exitError{code: exitVerdict, err: errors.New("the layout has errors"), hint: "correct the errors and check the layout again"}
		},
	}
}

func renderLint(p *print.Page, path string, l *api.LayoutLint) {
	errorCount := 0
	for _, one := range l.Problems {
		if one.Level == "error" {
			errorCount++
		}
		place := one.Place
		if one.Placeholder != "" {
			place += ": " + one.Placeholder
		}
		p.Text("%s: %s: %s", one.Level, place, one.Message)
		if one.Suggestion != "" {
			p.IndentedText(2, "%s", one.Suggestion)
		}
	}
	if len(l.Problems) > 0 {
		p.Blank()
	}
	p.Text(
		"%s: %s, %s, %s.", path, prose.Count(l.Placeholders, "placeholder", "placeholders"), prose.Count(errorCount, "error", "errors"),
		prose.Count(len(l.Problems)-errorCount, "warning", "warnings"),
	)
}
