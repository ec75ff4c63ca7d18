package main

import (
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// component is a part of the program, as CycloneDX writes one.
type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
	// Properties hold the hash by which Go identifies a module.
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// bom is a bill of materials in CycloneDX 1.6.
type bom struct {
	Schema   string `json:"$schema"`
	Format   string `json:"bomFormat"`
	Spec     string `json:"specVersion"`
	Serial   string `json:"serialNumber"`
	Version  int    `json:"version"`
	Metadata struct {
		Component  component  `json:"component"`
		Properties []property `json:"properties"`
	} `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type dependency struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn"`
}

// writeSBOM reads the included modules from the program itself, so that it lists what was actually
// built.
func writeSBOM(path, version, out string) error {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	b, err := newBOM(info, version)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return putJSON(out, b)
}

func newBOM(info *buildinfo.BuildInfo, version string) (*bom, error) {
	if len(info.Deps) == 0 {
		return nil, errors.New("the program contains no module information: it was built without it")
	}
	b := &bom{Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", Spec: "1.6", Version: 1}
	self := newGoComponent(info.Main.Path, version)
	self.Type = "application"
	b.Metadata.Component = self
	for _, s := range info.Settings {
		if slices.Contains([]string{"GOOS", "GOARCH", "GOAMD64", "GOARM64", "CGO_ENABLED", "-trimpath", "-tags"}, s.Key) {
			b.Metadata.Properties = append(b.Metadata.Properties, property{"go:build:" + s.Key, s.Value})
		}
	}
	std := newGoComponent("stdlib", strings.TrimPrefix(info.GoVersion, "go"))
	b.Components = append(b.Components, std)
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		c := newGoComponent(d.Path, d.Version)
		if d.Sum != "" {
			c.Properties = []property{{"go:sum", d.Sum}}
		}
		b.Components = append(b.Components, c)
	}
	slices.SortFunc(b.Components, func(x, y component) int { return strings.Compare(x.Ref, y.Ref) })
	on := dependency{Ref: self.Ref, On: []string{}}
	for _, c := range b.Components {
		on.On = append(on.On, c.Ref)
	}
	b.Dependencies = []dependency{on}
	// Derived from the content: the same program has the same list, to the byte.
	content, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	b.Serial = "urn:uuid:" + uuid.NewSHA1(uuid.NameSpaceURL, content).String()
	return b, nil
}

func newGoComponent(path, version string) component {
	ref := "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
	return component{Type: "library", Ref: ref, Name: path, Version: version, PURL: ref}
}

// buildInfo describes the origin of a build.
type buildInfo struct {
	version, commit, source, builder string
}

// writeProvenance writes the predicate of an SLSA provenance, version 1; the signer adds the names
// and hashes of the files concerned.
func writeProvenance(b buildInfo, out string) error {
	for name, value := range map[string]string{"-commit": b.commit, "-source": b.source, "-builder": b.builder} {
		if value == "" {
			return errors.New(name + " is missing: the provenance requires it")
		}
	}
	goVersion := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		goVersion = info.GoVersion
	}
	type object = map[string]any
	return putJSON(out, object{
		"buildDefinition": object{
			"buildType":          "https://github.com/scf-service/service/blob/main/goreleaser.yaml",
			"externalParameters": object{"source": b.source, "version": b.version, "configuration": "goreleaser.yaml"},
			"internalParameters": object{"go": goVersion},
			"resolvedDependencies": []object{
				{"uri": "git+" + b.source, "digest": object{"gitCommit": b.commit}},
			},
		},
		"runDetails": object{
			"builder":  object{"id": b.builder},
			"metadata": object{"invocationId": b.commit},
		},
	})
}

func putJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(path, append(text, '\n'))
}
