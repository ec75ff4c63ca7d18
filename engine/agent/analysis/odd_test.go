package analysis

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/language"
	"github.com/scf-service/service/internal/testutil/longtest"
)

// oddTexts are inputs that people paste by mistake or to attack.
var oddTexts = map[string]string{
	"empty":      "",
	"blanks":     " \t\n\r\n ",
	"binary":     "\x00\x01\xff\xfe\x89PNG\r\n\x1a\n\xc3\x28",
	"marks":      "...;;;,,,:::•••!!!???",
	"one letter": "x",
	"no blanks": strings.Repeat(
		"x",
		longestWord(),
	),
	"one word": strings.Repeat("not ", 20000),
	"brackets": strings.Repeat("[{(<", 20000),
	"quotes":   strings.Repeat(`"'`, 20000),
	"numbers": strings.Repeat(
		"9",
		400,
	) + " days " + strings.Repeat(
		"1,",
		500,
	) + "000 EUR, CVSS 99.9",
	"direction marks": "\u202eencrypted\u202c \u200b\ufeff",
	"chinese":         "我们处理八万名患者的健康数据，并与第三国共享。没有加密。",
	"arabic":          "نعالج البيانات الصحية لثمانين ألف مريض ونشاركها مع دولة ثالثة. لا يوجد تشفير.",
	"russian":         "Мы обрабатываем данные о здоровье 80 000 пациентов и передаём их в третью страну.",
	"german": "Wir verarbeiten die Gesundheitsdaten von 80.000 Patienten und geben sie an ein Drittland weiter. " +
		"Die Daten werden nicht verschlüsselt und es ist keine Löschung vorgesehen.",
	"french": "Nous traitons les données de santé de 80 000 patients et les transférons vers un pays tiers. " +
		"Les données ne sont pas chiffrées et il n'y a pas de durée de conservation.",
	"japanese": "当社は8万人の患者の健康データを処理しています。暗号化されていません。",
}

func longestWord() int {
	if longtest.Enabled() {
		return 1 << 20
	}
	return 1 << 17
}

func answersTo(t *testing.T, s string) []any {
	a, _ := EvaluateEvidence(t.Context(), "Data is encrypted.", s)
	b, _ := TriageIncident(t.Context(), s[:min(len(s), 50)], s)
	c, _ := TranslateRisk(t.Context(), s, "privacy", s)
	d, _ := ScanVendorContract(t.Context(), s[:min(len(s), 50)], s)
	e, _ := AnalyzeRoPA(t.Context(), s, everyControl{})
	f, _ := AssessDPIA(t.Context(), s, map[string]any{"suggested_risk_level": s}, everyControl{})
	g, _ := PlanRemediation(
		t.Context(),
		map[string]any{"missing_elements": []any{s, 7, nil}, "is_compliant": s, "confidence_score": s},
		s,
		everyControl{},
	)
	h, _ := EvaluateEvidence(t.Context(), s, s)
	return []any{a, b, c, d, e, f, g, h}
}

// TestOddTexts checks that any input gets a well-formed answer, the same each time.
func TestOddTexts(t *testing.T) {
	for name, s := range oddTexts {
		t.Run(name, func(t *testing.T) {
			all := answersTo(t, s)
			if len(s) < 1000 && !reflect.DeepEqual(all, answersTo(t, s)) {
				t.Error("the second answer is another")
			}
			for _, a := range all {
				before := reflect.ValueOf(a).Elem().Interface()
				api.ReplaceNilCollections(a)
				if after := reflect.ValueOf(a).Elem().Interface(); !reflect.DeepEqual(before, after) {
					t.Errorf("%T has a list that is null", a)
				}
			}
			if r := all[1].(*api.IncidentTriage); !slices.Contains(severityLevels, r.SeverityLevel) {
				t.Errorf("%+v", r)
			}
			if r := all[2].(*api.RiskTranslation); r.UrgencyMetric < 0 || r.UrgencyMetric > 100 {
				t.Errorf("%+v", r)
			}
			if all[0].(*api.EvidenceEvaluation).IsCompliant {
				t.Error("it is evidence")
			}
		})
	}
}

// TestOtherLanguages checks that the rules report text they can't read, and don't accept it.
func TestOtherLanguages(t *testing.T) {
	for _, name := range []string{"chinese", "arabic", "russian", "german", "french", "japanese"} {
		t.Run(name, func(t *testing.T) {
			all := answersTo(t, oddTexts[name])
			ropa, dpia, same := all[4].(*api.RoPAAnalysis), all[5].(*api.DPIAAssessment), all[7].(*api.EvidenceEvaluation)
			if ropa.SuggestedRiskLevel == "low" || !slices.Contains(ropa.Limitations, UnreadableNotice) {
				t.Errorf("%+v", ropa)
			}
			if dpia.IsApprovedTechnically || dpia.ResidualRiskLevel == "low" || !slices.Contains(dpia.Limitations, UnreadableNotice) {
				t.Errorf("%+v", dpia)
			}
			if same.IsCompliant || len(same.MissingElements) == 0 || !slices.Contains(same.Limitations, UnreadableNotice) {
				t.Errorf("%+v", same)
			}
			if r := all[2].(*api.RiskTranslation); UrgencyBand(r.UrgencyMetric) == "low" ||
				!slices.Contains(r.Limitations, UnreadableNotice) {
				t.Errorf("%+v", r)
			}
		})
	}
	for _, kind := range Kinds {
		all, err := readCases(kind)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range all {
			for _, s := range []string{c.Requirement, c.Evidence, c.Logs, c.Text, c.Context, c.Arch} {
				if language.IsForeign(language.Detect(s)) && kind != "vendor" {
					t.Errorf("%s, case %d is taken for another language: %s", kind, i+1, s)
				}
			}
		}
	}
}
