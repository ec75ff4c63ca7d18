package cli

import (
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/scf-service/service/api"
)

// stringFlag is a flag with a string value, which it passes to set.
type stringFlag struct {
	text string
	set  func(string) error
}

func (v *stringFlag) Set(s string) error {
	v.text = s
	return v.set(s)
}

func (v *stringFlag) String() string { return v.text }
func (v *stringFlag) Type() string   { return "string" }

// addChoiceFlag adds a flag for *p whose value must be one of allowed, or empty.
func addChoiceFlag[S ~string](f *pflag.FlagSet, p *S, name string, allowed []S, usage string) {
	f.Var(&stringFlag{text: string(*p), set: func(s string) error {
		*p = S(s)
		return checkOneOfOrEmpty(name, s, allowed)
	}}, name, usage)
}

// addOptionalChoiceFlag is like addChoiceFlag, but leaves the field nil if the flag is not given.
func addOptionalChoiceFlag[S ~string](f *pflag.FlagSet, p **S, name string, allowed []S, usage string) {
	f.Var(&stringFlag{set: func(s string) error {
		*p = new(S(s))
		return checkOneOfOrEmpty(name, s, allowed)
	}}, name, usage)
}

// addOptionalFlag adds a flag for the field p, which stays nil if the flag is not given.
func addOptionalFlag[S ~string](f *pflag.FlagSet, p **S, name, usage string) {
	f.Var(&stringFlag{set: func(s string) error {
		*p = new(S(s))
		return nil
	}}, name, usage)
}

// addClearableFlag adds a flag for the field p. An empty value clears the field.
func addClearableFlag[S ~string](f *pflag.FlagSet, p *api.Opt[S], name, usage string) {
	f.Var(&stringFlag{set: func(s string) error {
		if *p = api.Some(S(s)); s == "" {
			*p = api.Opt[S]{Set: true}
		}
		return nil
	}}, name, usage)
}

// addEnableFlags adds the flags --enable and --disable for *p, which stays nil if neither is set.
func addEnableFlags(cmd *cobra.Command, p **bool, enableUsage, disableUsage string) {
	setTo := func(value bool) func(string) error {
		return func(s string) error {
			isSet, err := strconv.ParseBool(s)
			if isSet {
				*p = &value
			}
			return err
		}
	}
	cmd.Flags().BoolFunc("enable", enableUsage, setTo(true))
	cmd.Flags().BoolFunc("disable", disableUsage, setTo(false))
	cmd.MarkFlagsMutuallyExclusive("enable", "disable")
}

func addYesFlag(cmd *cobra.Command, p *bool) {
	cmd.Flags().BoolVarP(p, "yes", "y", false, "skip the confirmation prompt")
}

func addForceFlag(cmd *cobra.Command, p *bool) {
	cmd.Flags().BoolVar(p, "force", false, "overwrite an existing file")
}
