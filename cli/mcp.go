package cli

import (
	"path"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/mcp"
)

func (a *app) mcpCommand() *cobra.Command {
	var write bool
	var only []string
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve operations as tools to an AI assistant (MCP)",
		Long: `Serves the operations you are allowed to use to a Model Context
Protocol client over stdin and stdout until the input ends. The client starts it; you don't run it
yourself. Without --write, it is read-only. Approvals, credentials and user management are
never served: those decisions stay with people.`,
		Example: "  service mcp\n  service mcp --only 'search-*' --only 'list-*' --only 'get-*'\n  service mcp --write --context acme",
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, p := range only {
				if _, err := path.Match(p, ""); err != nil {
					return usageError("--only %q is not a valid pattern: %w", p, err)
				}
			}
			ctx := cmd.Context()
			me, err := a.fetchMe(ctx)
			if err != nil {
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
	cmd.Flags().BoolVar(&write, "write", false, "also serve operations that make changes")
	cmd.Flags().StringArrayVar(&only, "only", nil, "serve only tools whose name matches, e.g. 'list-*'; repeatable")
	return cmd
}
