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
		Use: "mcp", Short: "Make operations available to an AI assistant as tools (MCP)",
		Long: `Makes the operations that you are allowed to use available to a Model Context Protocol client,
over stdin and stdout, until the input ends. The client starts this command; you don't run it
yourself. Without --write, clients can only read. Approvals, credentials and user management
are never available, because people have to make those decisions.`,
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
	cmd.Flags().BoolVar(&write, "write", false, "also make operations that change data available")
	cmd.Flags().StringArrayVar(&only, "only", nil, "offer only tools whose names match this pattern, e.g. 'list-*'; repeatable")
	return cmd
}
