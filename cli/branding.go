package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image/png"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

func (a *app) brandingCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "branding", Short: "Logo, colors, title line and footer of the organization's reports",
		Long: "Branding applies to new reports; existing reports keep their appearance.",
		Example: "  service report branding set --logo logo.png --color '#123456' --footer 'Acme Consulting, confidential'\n" +
			"  service report branding show\n  service report branding reset",
	}, a.brandingShow(), a.brandingSet(), a.brandingReset())
}

func (a *app) brandingShow() *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "Show the report branding",
		Long: "Shows the logo, colors, title line and footer of the organization's reports.", Example: "  service report branding show",
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := a.fetchBranding(cmd.Context())
			if err != nil {
				return err
			}
			return a.out.Print(b, func(p *print.Page) { renderBranding(p, b) })
		},
	}
}

func (a *app) fetchBranding(ctx context.Context) (*api.Branding, error) {
	org, err := a.currentOrganization(ctx)
	if err != nil {
		return nil, err
	}
	return call(ctx, a, api.GetBranding, &org)
}

func renderBranding(p *print.Page, b *api.Branding) {
	orBuiltIn := func(s string) string {
		if s == "" {
			return "default"
		}
		return s
	}
	none := func(s string) string {
		if s == "" {
			return "none"
		}
		return s
	}
	logo := "none"
	if raw, err := base64.StdEncoding.DecodeString(b.Logo); err == nil && len(raw) > 0 {
		if cfg, err := png.DecodeConfig(bytes.NewReader(raw)); err == nil {
			logo = fmt.Sprintf("%d × %d pixels", cfg.Width, cfg.Height)
		}
	}
	p.Fields(
		field("logo", logo),
		field("color", orBuiltIn(b.Accent)),
		field("second color", orBuiltIn(b.Band)),
		field("title line", none(b.Line)),
		field("footer", none(b.Footer)),
	)
}

func (a *app) brandingSet() *cobra.Command {
	var logo, accent, band, line, footer string
	cmd := &cobra.Command{
		Use: "set", Short: "Set the report branding",
		Long: `Changes only the settings given as flags. An empty value restores the default.
The logo is a PNG or JPEG; the color must be dark enough to be readable on white.`,
		Example: "  service report branding set --logo logo.png --color '#123456'\n  service report branding set --footer ''",
		RunE: func(cmd *cobra.Command, _ []string) error {
			current, err := a.fetchBranding(cmd.Context())
			if err != nil {
				return err
			}
			org, err := a.currentOrganization(cmd.Context())
			if err != nil {
				return err
			}
			in := &api.PutBrandingInput{OrgInput: org}
			in.Body.Accent, in.Body.Band, in.Body.Line = current.Accent, current.Band, current.Line
			in.Body.Footer, in.Body.Logo = current.Footer, current.Logo
			changed := false
			for _, f := range []struct {
				name   string
				to     *string
				wanted string
			}{
				{"color", &in.Body.Accent, accent},
				{"second-color", &in.Body.Band, band},
				{"line", &in.Body.Line, line},
				{"footer", &in.Body.Footer, footer},
				{"logo", &in.Body.Logo, logo},
			} {
				if !cmd.Flags().Changed(f.name) {
					continue
				}
				changed, *f.to = true, f.wanted
				if f.name == "logo" && logo != "" {
					b, err := a.readFile(logo, api.MaxLogoBytes)
					if err != nil {
						return err
					}
					*f.to = base64.StdEncoding.EncodeToString(b)
				}
			}
			if !changed {
				return withHint(usageError("no branding setting was specified"), "pass --logo, --color, --second-color, --line or --footer")
			}
			return callAndPrint(cmd.Context(), a, api.PutBranding, in, renderBranding)
		},
	}
	f := cmd.Flags()
	f.StringVar(&logo, "logo", "", "PNG or JPEG file for title pages")
	f.StringVar(&accent, "color", "", "color of title pages and headings, as #RRGGBB")
	f.StringVar(&band, "second-color", "", "color of the band below the title page header, as #RRGGBB")
	f.StringVar(&line, "line", "", "line of text for the title page, such as the name of the author")
	f.StringVar(&footer, "footer", "", "text of the footer on each page")
	return cmd
}

func (a *app) brandingReset() *cobra.Command {
	return &cobra.Command{
		Use: "reset", Short: "Restore the default branding",
		Long: "Removes the logo, colors, title line and footer. Existing reports don't change.", Example: "  service report branding reset",
		RunE: func(cmd *cobra.Command, _ []string) error {
			org, err := a.currentOrganization(cmd.Context())
			if err != nil {
				return err
			}
			if _, err := call(cmd.Context(), a, api.DeleteBranding, &api.DeleteBrandingInput{OrgInput: org}); err != nil {
				return err
			}
			a.progress.Done("restored the default report branding")
			return nil
		},
	}
}
