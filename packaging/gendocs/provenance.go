package main

import (
	"encoding/json"
	"errors"
	"runtime/debug"
)

// buildInfo describes the origin of a build.
type buildInfo struct {
	version, commit, source, builder string
}

// writeProvenance writes the predicate of an SLSA provenance, version 1; the signer adds the names
// and hashes of the files concerned.
func writeProvenance(b buildInfo, out string) error {
	for name, value := range map[string]string{"-commit": b.commit, "-source": b.source, "-builder": b.builder} {
		if value == "" {
			return errors.New(name + " must be set, because the provenance requires it")
		}
	}
	goVersion := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		goVersion = info.GoVersion
	}
	type object = map[string]any
	text, err := json.MarshalIndent(object{
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
	}, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(out, append(text, '\n'))
}
