package cli

import (
	"path"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/mcp"
)

func (a *app) mcpCommand() *cobra.Command {
	var write bool
	var only []string
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve operations as tools to an AI assistant (MCP)", Args: requireArgs(0, 0),
		Long: `Serves the operations that you may use to a program that speaks the Model Context
Protocol, over stdin and stdout, until the input ends. It is started by that program, not
by hand. Without --write nothing can be changed. Approvals, credentials and people are
never served: a person decides.`,
		Example: "  service mcp\n  service mcp --only 'search-*' --only 'list-*' --only 'get-*'\n  service mcp --write --context acme",
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, p := range only {
				if _, err := path.Match(p, ""); err != nil {
					return usageError("--only %q is no pattern: %w", p, err)
				}
			}
			ctx := cmd.Context()
			me, err := call(ctx, a, api.GetMe, &api.None{})
			if err != nil {
				return err
			}
			if err := a.applyOrganizationOverride(ctx, me); err != nil {
				return err
			}
			return mcp.Serve(
				ctx,
				mcp.Options{
					Client:       a.engine,
					In:           a.Stdin,
					Out:          a.Stdout,
					AllowWrites:  write,
					ToolPatterns: only,
					Permissions:  me.Permissions,
					Version:      a.Version,
				},
			)
		},
	}
	cmd.Flags().BoolVar(&write, "write", false, "serve operations that change something, too")
	cmd.Flags().StringArrayVar(&only, "only", nil, "serve only tools whose name is like this, as 'list-*'; repeat for several")
	return cmd
}
