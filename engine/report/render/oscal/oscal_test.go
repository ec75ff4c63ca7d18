package oscal

import (
	"strings"
	"testing"

	models "github.com/defenseunicorns/go-oscal/src/types/oscal-1-2-2"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/reporttest"
)

// TestOSCALErrorsNameTheRow checks that schema errors name the row they come from.
func TestOSCALErrorsNameTheRow(t *testing.T) {
	v := content.New(reporttest.SampleSource(66), content.TemplatePOAM, "", false)
	w := &oscalWriter{Report: v, rowNames: map[string][]string{}, emitted: map[string]bool{}}
	plan, err := w.buildPOAM()
	if err != nil {
		t.Fatal(err)
	}
	plan.PoamItems[3].Title = "two\nlines"
	_, err = w.encodeAndValidate("plan-of-action-and-milestones", &models.OscalModels{PlanOfActionAndMilestones: plan})
	if !api.IsCode(err, api.CodeValidation) || !strings.Contains(err.Error(), "plan item "+v.POAMItems[3].POAMCode+" ") ||
		!strings.Contains(err.Error(), "poam-items[3].title") {
		t.Errorf("%v", err)
	}
}
