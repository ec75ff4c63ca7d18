package store

import (
	"reflect"

	"github.com/scf-service/service/api"
)

// itemHeader holds the first fields in the JSON of a deliverable's item. They differ between versions even
// if the content is the same.
type itemHeader struct {
	api.TenantRecord
	AssessmentID string `json:"assessment_id"`
	VersionID    string `json:"version_id"`
	Revision     int    `json:"revision"`
}

func newItemHeader(i *api.Item) any {
	return &itemHeader{TenantRecord: i.TenantRecord, AssessmentID: i.AssessmentID, VersionID: i.VersionID, Revision: i.Revision}
}

func clearItemHeader(i *api.Item) {
	i.TenantRecord, i.AssessmentID, i.VersionID, i.Revision = api.TenantRecord{}, "", "", 0
}

// remediationHeader also includes the finding's ID, which differs in every version.
type remediationHeader struct {
	*api.Item
	POAMCode  string `json:"poam_code"`
	FindingID string `json:"finding_id"`
}

func newRemediationHeader(i *api.POAMItem) any {
	return &remediationHeader{Item: &i.Item, POAMCode: i.POAMCode, FindingID: i.FindingID}
}

func clearRemediationHeader(i *api.POAMItem) {
	clearItemHeader(&i.Item)
	i.FindingID = ""
}

// equalBodies reports whether two records are equal once clearHeader has been applied to both. As in JSON, a nil list
// differs from an empty one.
func equalBodies[R any](a, b *R, clearHeader func(*R)) bool {
	x, y := *a, *b
	clearHeader(&x)
	clearHeader(&y)
	return reflect.DeepEqual(x, y)
}
