package cli

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/semver"
)

func TestVersionsCompare(t *testing.T) {
	// These include the example of precedence on semver.org.
	inOrder := []string{
		"0.9.0",
		"1.0.0-alpha",
		"1.0.0-alpha.1",
		"1.0.0-alpha.beta",
		"1.0.0-beta",
		"1.0.0-beta.2",
		"1.0.0-beta.11",
		"1.0.0-rc.1",
		"1.0.0",
		"v1.0.1",
		"1.2.0+build.7",
		"1.10.0",
		"2.0.0",
	}
	for i, a := range inOrder {
		for j, b := range inOrder {
			v, w := releaseSemverOrEmpty(a), releaseSemverOrEmpty(b)
			if v == "" || w == "" {
				t.Fatalf("%s or %s is rejected", a, b)
			}
			if got, want := semver.Compare(v, w), cmp.Compare(i, j); got != want {
				t.Errorf("%s against %s: %d, want %d", a, b, got, want)
			}
		}
	}
	for _, no := range []string{
		"", "1", "1.2", "01.2.3", "1.2.3-", "1.2.3-4-gabcdef0",
		"v1.2.3-4-gabcdef0-dirty", "v1.2.3-dirty", "v0.0.0-20260102030405-abcdef012345",
		"v1.2.4-0.20260102030405-abcdef012345", "f6c3751", "1.2.3-a..b", "1-a.b.c", "1.2+a.b",
	} {
		if releaseSemverOrEmpty(no) != "" {
			t.Errorf("%q is accepted as the version of a release", no)
		}
	}
}

// published makes w look up releases in answers, by URL, and returns the requested URLs.
func published(w *world, answers map[string]string) *[]string {
	var asked []string
	w.options = func(o *Options) {
		o.Releases = Releases{
			Executable: "/opt/service/service",
			Read: func(ctx context.Context, url string, _ Target, limit int64) ([]byte, error) {
				asked = append(asked, url)
				text, ok := answers[url]
				switch {
				case text == "hang":
					<-ctx.Done()
					return nil, ctx.Err()
				case !ok:
					return nil, errors.New("has nothing at that address")
				case int64(len(text)) > limit:
					return nil, errors.New("over the limit")
				}
				return []byte(text), nil
			},
		}
	}
	return &asked
}

const address = "https://releases.example/latest"

func TestUpgradeCheck(t *testing.T) {
	ending := ".tar.gz"
	if runtime.GOOS == "windows" {
		ending = ".zip"
	}
	file := "service_2.0.0_" + runtime.GOOS + "_" + runtime.GOARCH + ending
	sum := strings.Repeat("ab", 32)
	shippedWith := func(tag, digest string) string {
		return `{"tag_name": "` + tag + `", "html_url": "https://releases.example/notes", "published_at": "2026-11-01T10:00:00Z", "assets": [
			{"name": "` + file + `", "size": 20000000, "digest": "` + digest + `", "browser_download_url": "https://releases.example/` + file + `"},
			{"name": "checksums.txt.sigstore.json", "browser_download_url": "https://releases.example/checksums.txt.sigstore.json"},
			{"name": "checksums.txt.provenance.sigstore.json", "browser_download_url": "https://releases.example/prov"},
			{"name": "checksums.txt", "browser_download_url": "https://releases.example/checksums.txt"}]}`
	}
	sums := strings.Repeat("0", 64) + "  another.zip\n" + sum + "  " + file + "\n"
	for _, c := range []struct {
		name, answer, sums string
		code               int
		says               string
	}{
		{"newer", shippedWith("v2.0.0", "sha256:"+sum), sums, 1, "A newer version is available: 2.0.0 (this is version 1.2.3)"},
		{"newer, checksum by the list", shippedWith("v2.0.0", ""), sums, 1, sum},
		{"the same", shippedWith("v1.2.3", ""), sums, 0, "no newer version is available"},
		{"older", shippedWith("v1.2.2", ""), sums, 0, "no newer version is available"},
		{
			"a list",
			"[" + shippedWith(
				"v1.9.0",
				"",
			) + "," + shippedWith(
				"v2.0.0",
				"",
			) + `,{"tag_name": "v3.0.0", "prerelease": true}, {"tag_name": "v4.0.0", "draft": true}, {"tag_name": "v5.0.0-rc.1"}]`,
			sums,
			1,
			"A newer version is available: 2.0.0",
		},
		{"sums that contradict", shippedWith("v2.0.0", "sha256:"+strings.Repeat("cd", 32)), sums, 1, "hint: don't install this release"},
		{"sums without the file", shippedWith("v2.0.0", "sha256:"+sum), "nothing\n", 1, "does not list " + file},
		{"no files", `{"tag_name": "v2.0.0"}`, "", 1, "none for"},
		{"no release", `{"message": "hello"}`, "", 3, "no published release"},
		{"an empty list", `[]`, "", 3, "no published release"},
		{"no JSON", `<html>`, "", 3, "the response is not a release"},
		{"silence", "hang", "", 3, "did not answer within"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			published(w, map[string]string{address: c.answer, "https://releases.example/checksums.txt": c.sums})
			w.want(w.run("upgrade", "check", "--url", address, "--timeout", "50ms"), c.code, c.says)
		})
	}
}

func TestUpgradeIsAskedOnlyWhenTold(t *testing.T) {
	w := newWorld(t)
	asked := published(w, map[string]string{address: `{"tag_name": "v1.2.3"}`})
	w.env["SERVICE_RELEASES_URL"] = address
	w.fake.assessment("Acme", "draft")
	for _, args := range [][]string{{"version"}, {"assess", "list"}, {"doctor"}, {"upgrade"}, {"config", "show"}} {
		w.run(args...)
	}
	if len(*asked) != 0 {
		t.Errorf("asked %v", *asked)
	}
	w.want(w.run("upgrade", "check", "-o", "json"), 0, `"newer_available": false`)
	if !slices.Equal(*asked, []string{address}) {
		t.Errorf("asked %v", *asked)
	}
	w.want(w.run("upgrade", "check", "--url", "https://elsewhere.example"), 3, "nothing at that address")
	w.want(w.run("upgrade", "check", "--timeout", "-1s"), 2, "invalid --timeout")
	delete(w.env, "SERVICE_RELEASES_URL")
	w.want(w.run("upgrade", "check"), 2, "this build of the program has no releases address", "SERVICE_RELEASES_URL")
	// A build between releases is neither older nor newer.
	w.version = "v1.2.3-4-gabcdef0"
	w.want(w.run("upgrade", "check", "--url", address), 0, "an unreleased build")
}

func TestHowToUpgradeFollowsTheProgramsPlace(t *testing.T) {
	for path, want := range map[string]string{
		"/opt/homebrew/Cellar/scf-service/1.0/bin/service": "brew upgrade",
		`C:\Users\ada\scoop\apps\scf-service\service.exe`:  "scoop update",
		"/home/ada/go/bin/service":                         "go install",
		"/usr/bin/service":                                 ".deb",
		"/service":                                         "image",
		"/home/ada/bin/service":                            "/home/ada/bin/service",
	} {
		if got := strings.Join(upgradeSteps(path, "linux"), " "); !strings.Contains(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
}
