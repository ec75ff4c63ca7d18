package assessment

import (
	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/store"
)

// gapChanges tells what a version of the gap analysis changed since the one before it.
func gapChanges(tx *store.Tx, org string, v *api.GapVersion, found []api.Finding, out *api.GapSummary) error {
	for was, err := range gap.versions.By("assessment").Scan(tx, org, store.Prefix(v.AssessmentID), store.Reverse) {
		if err != nil {
			return err
		}
		if was.VersionNumber >= v.VersionNumber {
			continue
		}
		before, err := gap.itemsOf(tx, org, was.ID)
		if err != nil {
			return err
		}
		causes, err := movedBy(tx, org, &was, v)
		if err != nil {
			return err
		}
		out.SinceVersion, out.Changes = was.VersionNumber, judge.Changes(before, found, causes)
		return nil
	}
	return nil
}

// movedBy names what differs in what two versions were made from.
func movedBy(tx *store.Tx, org string, was, now *api.GapVersion) (causes []string, err error) {
	if was.Method != now.Method {
		causes = append(causes, "rule")
	}
	a, b := was.Inputs["soa_version_id"], now.Inputs["soa_version_id"]
	if a == b || a == "" || b == "" {
		return causes, nil
	}
	old, err := soa.get(tx, org, a)
	if err != nil {
		return nil, err
	}
	current, err := soa.get(tx, org, b)
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
	if differs("catalog_version_id", "catalog_sha256", "custom_catalog", "frameworks") {
		causes = append(causes, "catalog")
	}
	if differs("scope") {
		causes = append(causes, "person")
	}
	return causes, nil
}
