package assessment

import (
	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/gap"
	"github.com/scf-service/service/store"
)

// fillGapChanges adds to the summary what changed since the previous version of the gap analysis.
func fillGapChanges(tx *store.Tx, org string, v *api.GapVersion, findings []api.Finding, out *api.GapSummary) error {
	for was, err := range gapType.versions.By("assessment").Scan(tx, org, store.Prefix(v.AssessmentID), store.Reverse) {
		if err != nil {
			return err
		}
		if was.VersionNumber >= v.VersionNumber {
			continue
		}
		before, err := gapType.readItems(tx, org, was.ID)
		if err != nil {
			return err
		}
		causes, err := changeCauses(tx, org, &was, v)
		if err != nil {
			return err
		}
		out.SinceVersion, out.Changes = was.VersionNumber, gap.CompareFindings(before, findings, causes)
		return nil
	}
	return nil
}

// changeCauses returns the possible causes of changes between two versions, which are the kinds of
// inputs that differ.
func changeCauses(tx *store.Tx, org string, before, after *api.GapVersion) (causes []string, err error) {
	if before.Method != after.Method {
		causes = append(causes, "rule")
	}
	a, b := before.Inputs["soa_version_id"], after.Inputs["soa_version_id"]
	if a == b || a == "" || b == "" {
		return causes, nil
	}
	old, err := soaType.getVersion(tx, org, a)
	if err != nil {
		return nil, err
	}
	current, err := soaType.getVersion(tx, org, b)
	if err != nil {
		return nil, err
	}
	differs := func(keys ...string) bool {
		for _, k := range keys {
			if old.Inputs[k] != current.Inputs[k] {
				return true
			}
		}
		return false
	}
	if old.Method != current.Method && len(causes) == 0 {
		causes = append(causes, "rule")
	}
	if differs("documents") {
		causes = append(causes, "evidence")
	}
	if differs("catalog_version_id", "catalog_sha256", "custom_catalog") {
		causes = append(causes, "catalog")
	}
	if differs("frameworks") {
		causes = append(causes, "frameworks")
	}
	if differs("scope") {
		causes = append(causes, "user")
	}
	return causes, nil
}
