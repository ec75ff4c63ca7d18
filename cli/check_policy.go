package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/engine/check"
	"github.com/scf-service/service/internal/regularfile"
)

// defaultPolicyFile is the policy file that is used if none is specified.
const defaultPolicyFile = ".service.yaml"

// loadPolicy reads the policy file, if there is one, and overrides its settings with the flags. args are the
// folders or assessments to check, and named is the path given for the policy file.
func (a *app) loadPolicy(cmd *cobra.Command, args []string, named string) (*check.Policy, error) {
	p, err := a.readPolicy(args, named)
	if err != nil {
		return nil, err
	}
	for _, s := range check.Settings {
		fl := cmd.Flags().Lookup(s.Key)
		if !s.IsFlag || fl == nil || !fl.Changed {
			continue
		}
		values := []string{fl.Value.String()}
		if s.Kind == check.ValueList {
			if values, _ = cmd.Flags().GetStringSlice(s.Key); len(values) == 0 {
				values = []string{""} // rejected by Set: an unset variable would weaken the policy
			}
		}
		if err := p.Set(s.Key, values); err != nil {
			return nil, usageError("--%s: %s", s.Key, strings.TrimPrefix(err.Error(), s.Key+" "))
		}
	}
	return p, nil
}

// readPolicy reads the specified policy file or, if none is specified, the one in the working directory. The supplier
// of evidence must not decide which policy it is checked against, so a policy in a checked folder is ignored unless
// the user specified it explicitly.
func (a *app) readPolicy(args []string, named string) (*check.Policy, error) {
	if named != "" {
		p, err := readPolicyFile(named)
		if err == nil && isWithin(named, a.checkedFolders(args, p)...) {
			p.InEvidence = append(p.InEvidence, check.InputInEvidence{Kind: "policy", Path: named})
		}
		return p, err
	}
	folders := a.checkedFolders(args, &check.Policy{})
	if !pathExists(defaultPolicyFile) || isWithin(defaultPolicyFile, folders...) {
		return &check.Policy{InEvidence: findIgnoredPolicies(folders)}, nil
	}
	p, err := readPolicyFile(defaultPolicyFile)
	if err == nil && isWithin(defaultPolicyFile, a.checkedFolders(args, p)...) {
		return nil, withHint(
			usageError("the policy %s is ignored because it is inside the evidence folder that it specifies (%s)", defaultPolicyFile, p.Evidence),
			"move the evidence to a subfolder of the policy's folder, or use --policy %s if you trust that policy",
			defaultPolicyFile,
		)
	}
	return p, err
}

// readPolicyFile reads a policy. Paths in the policy must not point outside the policy's folder, not even through a
// symbolic link.
func readPolicyFile(path string) (*check.Policy, error) {
	data, err := regularfile.Read(path, check.MaxInputBytes)
	if err != nil {
		return nil, runtimeError("the policy %s can't be read: %w", path, errorWithoutPath(err))
	}
	p, err := check.ParsePolicy(data, path)
	if err != nil || len(p.FilePaths()) == 0 {
		return p, err
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, runtimeError("the folder that contains the policy %s can't be read: %w", path, errorWithoutPath(err))
	}
	defer root.Close()
	for _, one := range p.FilePaths() {
		rel, err := filepath.Rel(root.Name(), one)
		if err == nil {
			_, err = root.Stat(rel)
		}
		if err != nil && !isMissingPathError(err) {
			return nil, withHint(
				usageError("the policy %s refers to %s, which can't be used: %w", path, one, errorWithoutPath(err)),
				"use a path that stays inside the policy's folder, even when symbolic links are followed, or remove the entry and pass the path "+
					"on the command line",
			)
		}
	}
	return p, nil
}

// checkedFolders returns the arguments or, if there are none, the evidence folder that the policy specifies. The
// result may contain names of assessments, which callers can treat as folders that do not exist.
func (a *app) checkedFolders(args []string, p *check.Policy) []string {
	if len(args) == 0 && a.flags.assessment == "" && p.Evidence != "" {
		return []string{p.Evidence}
	}
	return args
}

// findIgnoredPolicies returns the policy files in the working directory and in folders. They are ignored, because the
// user did not specify them explicitly.
func findIgnoredPolicies(folders []string) (out []check.InputInEvidence) {
	var found []string
	for _, dir := range append([]string{""}, folders...) {
		path := filepath.Join(dir, defaultPolicyFile)
		if pathExists(path) && !slices.ContainsFunc(found, func(f string) bool { return isSameFile(f, path) }) {
			found = append(found, path)
			out = append(out, check.InputInEvidence{Kind: "policy", Path: path, IsIgnored: true})
		}
	}
	return out
}

// recordInputsInEvidence records which input files of the check (baseline, waivers, threshold) are inside an evidence
// folder. It returns an error if a policy outside the evidence specifies such a file, because the author of that
// policy did not intend to let the evidence influence the verdict.
func (a *app) recordInputsInEvidence(cmd *cobra.Command, args []string, p *check.Policy) error {
	folders := a.checkedFolders(args, p)
	isPolicyInEvidence := len(p.InEvidence) > 0
	for _, one := range []struct{ kind, path string }{{"baseline", p.Baseline}, {"waivers", p.Waivers}, {"threshold", p.Threshold}} {
		if one.path == "" || !isWithin(one.path, folders...) {
			continue
		}
		file := check.InputInEvidence{Kind: one.kind, Path: one.path}
		if !cmd.Flags().Changed(one.kind) && !isPolicyInEvidence {
			return withHint(
				usageError("%s: %s", p.Name, file.Warning()),
				"move the file to a folder outside the evidence, or use --%s %s if you trust the file",
				one.kind,
				one.path,
			)
		}
		p.InEvidence = append(p.InEvidence, file)
	}
	return nil
}

// isWithin reports whether a path is in one of the folders, either as written or after resolving symbolic
// links. It compares folders by identity, because one folder can have several names (letter case, mounts).
func isWithin(path string, folders ...string) bool {
	starts := []string{path, resolvePath(path)}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		starts = append(starts, real)
	}
	for _, dir := range folders {
		folder, err := os.Stat(dir)
		if err != nil || !folder.IsDir() {
			continue
		}
		for _, start := range starts {
			abs, err := filepath.Abs(start)
			if err != nil {
				return true // the location is unknown, so assume the worst
			}
			for at := abs; ; at = filepath.Dir(at) {
				if info, err := os.Stat(at); err == nil && os.SameFile(info, folder) {
					return true
				}
				if at == filepath.Dir(at) {
					break
				}
			}
		}
	}
	return false
}
