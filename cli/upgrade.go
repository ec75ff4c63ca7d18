package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/mod/semver"

	"github.com/scf-service/service/cli/print"
)

// Releases configures the check for new releases.
type Releases struct {
	// URL is the address that release builds query; empty in custom builds.
	URL string
	// Read reads at most limit bytes from an address; nil if the build can't.
	Read func(ctx context.Context, url string, t Target, limit int64) ([]byte, error)
	// Executable is the path of the running program.
	Executable string
}

// release is a release as returned by the API of GitHub, Gitea or Forgejo.
type release struct {
	Tag         string         `json:"tag_name"`
	Page        string         `json:"html_url"`
	Draft       bool           `json:"draft"`
	Prerelease  bool           `json:"prerelease"`
	PublishedAt *time.Time     `json:"published_at"`
	Assets      []releaseAsset `json:"assets"`
}

// releaseAsset is a file of a release.
type releaseAsset struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	Digest string `json:"digest"` // sha256:…, if the forge provides it
	URL    string `json:"browser_download_url"`
}

// upgradeInfo is the result of comparing this program with the newest release.
type upgradeInfo struct {
	Current string `json:"current"`
	Latest  string `json:"latest"`
	// Newer is null if the versions can't be compared.
	Newer       *bool      `json:"newer_available"`
	PublishedAt *time.Time `json:"published_at"`
	Page        string     `json:"page"`
	// Archive is the file for this system, or null if the release has none.
	Archive *archiveInfo `json:"archive"`
	// Checksums, Signature, SBOM and Provenance are URLs, or empty if the release has none.
	Checksums  string `json:"checksums"`
	Signature  string `json:"signature"`
	SBOM       string `json:"sbom"`
	Provenance string `json:"provenance"`
	// Problem describes an inconsistency of the release's files, or is empty.
	Problem string   `json:"problem"`
	Steps   []string `json:"steps"`
}

// archiveInfo describes the archive of a release for this system.
type archiveInfo struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	URL    string `json:"url"`
	SHA256 string `json:"sha256"`
}

const (
	releaseTimeout = 10 * time.Second
	maxReleases    = 4 << 20
	maxChecksums   = 1 << 20
)

func (a *app) upgradeCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "upgrade", Short: "Check for a newer version",
		Long: `The program never checks for new versions on its own and never replaces itself. Run
` + "`service upgrade check`" + ` to check once and to see how to upgrade.`,
		Example: "  service upgrade check",
	}, a.upgradeCheck())
}

func (a *app) upgradeCheck() *cobra.Command {
	var address string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "check", Short: "Compare this version with the newest release",
		Long: `Looks up the newest release at the releases address and compares it with this version. No data is
sent except the request itself. The address is read from --url, then from SERVICE_RELEASES_URL or
releases-url in the configuration file, and otherwise from this build. The response must be a
release or a list of releases in the format used by GitHub, Gitea and Forgejo.

Also shows the checksum of the file for this system, and the addresses of the signature, the list
of components (SBOM) and the provenance. The exit code is 0 if this version is the newest, and 1 if
there is a newer version or the release's checksums contradict each other.`,
		Example: "  service upgrade check\n  service upgrade check --url " +
			"https://git.acme.example/api/v1/repos/tools/service/releases/latest\n  service upgrade check -o json --jq .newer_available",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if timeout <= 0 {
				return usageError("invalid --timeout %s; use e.g. 10s", timeout)
			}
			for _, other := range []string{a.config.GetString("releases-url"), a.Releases.URL} {
				if address == "" {
					address = other
				}
			}
			if address == "" || a.Releases.Read == nil {
				return withHint(usageError("this build of the program has no releases address"),
					"specify an address with --url, or set SERVICE_RELEASES_URL")
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			u, err := a.checkUpgrade(ctx, address)
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return withHint(
					runtimeError("%s did not answer within %s", redactPassword(address), timeout),
					"try again, or set a longer time limit with --timeout",
				)
			}
			if err != nil {
				return err
			}
			if err := a.out.Print(u, func(p *print.Page) { renderUpgrade(p, u) }); err != nil {
				return err
			}
			switch {
			case u.Problem != "":
				return &exitError{
					code: exitVerdict, err: errors.New(u.Problem),
					hint: "don't install this release; report the problem to its publisher",
				}
			case orZero(u.Newer):
				return &exitError{
					code: exitVerdict,
					err:  fmt.Errorf("version %s is available; this is version %s", u.Latest, u.Current),
					hint: "back up the data folder first, then upgrade as shown above",
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&address, "url", "", "address to look up releases at")
	cmd.Flags().DurationVar(&timeout, "timeout", releaseTimeout, "how long to wait for the response")
	return cmd
}

// checkUpgrade fetches the newest release and compares it with this program.
func (a *app) checkUpgrade(ctx context.Context, address string) (*upgradeInfo, error) {
	raw, err := a.Releases.Read(ctx, address, a.flags.Target, maxReleases)
	if err != nil {
		return nil, err
	}
	r, err := parseNewestRelease(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", redactPassword(address), err)
	}
	u := &upgradeInfo{
		Current:     a.Version,
		Latest:      strings.TrimPrefix(r.Tag, "v"),
		PublishedAt: r.PublishedAt,
		Page:        r.Page,
		Steps:       upgradeSteps(a.Releases.Executable, runtime.GOOS),
	}
	if here, there := releaseSemverOrEmpty(a.Version), releaseSemverOrEmpty(r.Tag); here != "" && there != "" {
		newer := semver.Compare(here, there) < 0
		u.Newer = &newer
	}
	digest := ""
	for _, f := range r.Assets {
		switch name := strings.ToLower(f.Name); {
		case isArchiveFor(name, runtime.GOOS, runtime.GOARCH):
			u.Archive = &archiveInfo{Name: f.Name, Size: f.Size, URL: f.URL}
			digest, _ = strings.CutPrefix(f.Digest, "sha256:")
		case strings.HasSuffix(name, "checksums.txt"):
			u.Checksums = f.URL
		case strings.Contains(name, "intoto") || strings.Contains(name, "provenance"):
			u.Provenance = f.URL
		case strings.Contains(name, "checksums.txt."):
			u.Signature = f.URL
		case strings.HasSuffix(name, "_"+runtime.GOOS+"_"+runtime.GOARCH+".cdx.json"):
			u.SBOM = f.URL
		}
	}
	if u.Archive == nil {
		return u, nil
	}
	u.Archive.SHA256 = strings.ToLower(digest)
	if u.Checksums == "" {
		return u, nil
	}
	sums, err := a.Releases.Read(ctx, u.Checksums, a.flags.Target, maxChecksums)
	if err != nil {
		return nil, fmt.Errorf("the release's checksums: %w", err)
	}
	listed := findChecksum(sums, u.Archive.Name)
	switch {
	case listed == "":
		u.Problem = "the release's checksum file does not list " + u.Archive.Name
	case digest != "" && !strings.EqualFold(digest, listed):
		u.Problem = fmt.Sprintf("the checksum of %s is %s according to the checksum file, but %s according to the releases address",
			u.Archive.Name, listed, digest)
	default:
		u.Archive.SHA256 = listed
	}
	return u, nil
}

var errNoRelease = errors.New(
	"the response contains no published release; expected a release or a list, e.g. {\"tag_name\": \"v1.2.3\", …}",
)

// parseNewestRelease parses a response that contains either one release or a list of releases. From a list,
// it returns the release with the highest version.
func parseNewestRelease(raw []byte) (*release, error) {
	var all []release
	raw = bytes.TrimSpace(raw)
	if bytes.HasPrefix(raw, []byte("[")) {
		if err := json.Unmarshal(raw, &all); err != nil {
			return nil, fmt.Errorf("the response is not a list of releases: %w", err)
		}
	} else {
		var one release
		if err := json.Unmarshal(raw, &one); err != nil {
			return nil, fmt.Errorf("the response is not a release: %w", err)
		}
		all = []release{one}
	}
	var best *release
	highest := "" // sorts before any version
	for i, r := range all {
		v := releaseSemverOrEmpty(r.Tag)
		if v == "" || r.Draft || r.Prerelease || semver.Prerelease(v) != "" {
			continue
		}
		if semver.Compare(highest, v) < 0 {
			best, highest = &all[i], v
		}
	}
	if best == nil {
		return nil, errNoRelease
	}
	return best, nil
}

// isArchiveFor reports whether a release file with the given name is the archive for an operating system and
// architecture.
func isArchiveFor(name, system, arch string) bool {
	ending := ".tar.gz"
	if system == "windows" {
		ending = ".zip"
	}
	return strings.HasSuffix(name, "_"+system+"_"+arch+ending)
}

// findChecksum returns the SHA-256 of a file in sha256sum output, or "" if it is not listed.
func findChecksum(list []byte, name string) string {
	for line := range strings.Lines(string(list)) {
		words := strings.Fields(line)
		if len(words) == 2 && strings.TrimPrefix(words[1], "*") == name && len(words[0]) == 64 &&
			strings.Trim(strings.ToLower(words[0]), "0123456789abcdef") == "" {
			return strings.ToLower(words[0])
		}
	}
	return ""
}

// upgradeSteps returns the steps that upgrade the program, depending on where it is installed.
func upgradeSteps(executable, system string) []string {
	at := strings.ToLower(strings.ReplaceAll(executable, `\`, "/"))
	switch {
	case strings.Contains(at, "/cellar/") || strings.Contains(at, "/homebrew/") || strings.Contains(at, "/linuxbrew/"):
		return []string{"brew upgrade service"}
	case strings.Contains(at, "/scoop/"):
		return []string{"scoop update service"}
	case strings.Contains(at, "/go/bin/"):
		return []string{"go install github.com/scf-service/service/cmd/service@latest"}
	case system == "linux" && (at == "/usr/bin/service" || at == "/usr/sbin/service"):
		return []string{
			"download the release's .deb, .rpm or .apk package and verify it",
			"install the package, for example with sudo apt install ./service_VERSION_linux_ARCH.deb (or sudo dnf install, or sudo apk add)",
		}
	case at == "/service":
		return []string{"use the image of the new version and restart the container on the same volume"}
	}
	return []string{"download the release's archive and verify it", "replace this file with the program from the archive: " + executable}
}

func renderUpgrade(p *print.Page, u *upgradeInfo) {
	switch {
	case u.Newer == nil:
		p.Title("This is version %s, an unreleased build; the newest release is %s", u.Current, u.Latest)
	case *u.Newer:
		p.Title("A newer version is available: %s (this is version %s)", u.Latest, u.Current)
	default:
		p.Title("This is version %s; no newer version is available", u.Current)
	}
	fields := []print.Field{field("released", formatTimePtr(u.PublishedAt)), field("notes", u.Page)}
	if u.Archive != nil {
		fields = append(
			fields,
			field("file for this system", u.Archive.URL),
			field("size", print.FormatSize(u.Archive.Size)),
			field("SHA-256", cmp.Or(u.Archive.SHA256, "not published")),
		)
	} else {
		fields = append(fields, field("file for this system", "none for "+runtime.GOOS+" on "+runtime.GOARCH))
	}
	fields = append(
		fields,
		field("checksums", cmp.Or(u.Checksums, "none")),
		field("signature", cmp.Or(u.Signature, "none: the release is not signed")),
		field("SBOM", u.SBOM),
		field("provenance", u.Provenance),
	)
	p.Fields(fields...)
	if !orZero(u.Newer) && u.Newer != nil {
		return
	}
	p.Title("To upgrade")
	for _, h := range u.Steps {
		p.ListItem(0, "%s", h)
	}
	if u.Checksums == "" {
		return
	}
	p.Title("To verify the download")
	p.Command("sha256sum --check --ignore-missing " + path.Base(u.Checksums))
	if strings.HasSuffix(u.Signature, ".sigstore.json") {
		p.Command(
			"cosign verify-blob --bundle " + path.Base(
				u.Signature,
			) + " --certificate-oidc-issuer ISSUER --certificate-identity IDENTITY " + path.Base(
				u.Checksums,
			),
		)
	}
}
