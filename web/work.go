package web

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
)

// assessmentTabs returns links to an assessment's pages; current is the last part of the URL of the page being
// shown.
func assessmentTabs(a *api.Assessment, current string) []link {
	base := "assessments/" + a.ID
	out := []link{{Text: "Overview", Href: base}, {Text: "Documents", Href: base + "/documents"}, {Text: "Scope", Href: base + "/scope"}}
	for i := range kinds {
		out = append(out, link{Text: kinds[i].Title(), Href: base + "/" + kinds[i].Noun})
	}
	out = append(out, link{Text: "Reports", Href: base + "/reports"}, link{Text: "Activity", Href: base + "/activity"})
	for i := range out {
		out[i].Current = out[i].Href == strings.TrimSuffix(base+"/"+current, "/")
	}
	return out
}

var newAssessmentPanel = panel{
	path: "new", title: "New assessment",
	show: func(v *visit, s *sheet) error {
		if !v.may("assessment:write") {
			return api.Forbidden("your role can't create assessments; ask an owner or admin")
		}
		first, err := v.frameworkField("framework", "Framework", "", "The whole catalog")
		if err != nil {
			return err
		}
		second, third := first, first
		more := append(choices(option{"", "None"}), first.Options[1:]...)
		second.Name, second.Label, second.Options = "framework2", "A second framework", more
		third.Name, third.Label, third.Options = "framework3", "A third framework", more
		earlier := field{Name: "from", Label: "Continue an earlier assessment", Kind: "select", Options: choices(option{"", "No"})}
		l, err := do(v, api.ListAssessments, &api.AssessmentsInput{Paging: api.Paging{Limit: api.MaxListLimit}, Sort: "-updated_at"})
		if err != nil {
			return err
		}
		for _, a := range l.Data {
			earlier.Options = append(earlier.Options, option{a.ID, a.Name})
		}
		s.Crumbs = []link{{Text: "Home"}}
		s.add(section{Forms: []form{{Do: "create", Button: "Create, then add documents", Fields: []field{
			textField("name", "Name").required().withHint("For example, Acme 2027."),
			textField("client", "Organization being assessed").withHint("Appears on reports."),
			first, second, third, textField("due", "Due").withKind("date"), earlier,
		}}}})
		return nil
	},
	actions: map[string]func(*visit, *sheet) error{
		"create": func(v *visit, _ *sheet) error {
			var in api.CreateAssessmentInput
			in.Body.Name, in.Body.ClientName, in.Body.From = v.field("name"), v.field("client"), v.field("from")
			for _, name := range []string{"framework", "framework2", "framework3"} {
				if code := v.field(name); code != "" {
					in.Body.FrameworkIDs = append(in.Body.FrameworkIDs, code)
				}
			}
			if due := api.Date(v.field("due")); due != "" {
				in.Body.DueDate = &due
			}
			a, err := do(v, api.CreateAssessment, &in)
			if err != nil {
				return err
			}
			return v.redirect("assessments/" + a.ID + "/documents")
		},
	},
}

// changeAssessment starts an assessment's workflow, moves the assessment to another state, or performs an
// action on one of its runs.
func (v *visit) changeAssessment() error {
	a, err := v.findAssessment()
	if err != nil {
		return err
	}
	in := api.AssessmentInput{AssessmentID: a.ID}
	switch v.field("do") {
	case "start":
		start := api.StartWorkflowInput{AssessmentInput: in}
		start.Body.WorkflowType, start.Body.StopForReview = api.WorkflowFull, true // every deliverable is seen before it is submitted
		_, err = do(v, api.StartWorkflow, &start)
	case "move":
		move := api.TransitionInput{AssessmentInput: in}
		move.Body.TargetState = api.State(v.field("to"))
		_, err = do(v, api.Transition, &move)
	default:
		act := runActions[v.field("do")]
		if act == nil {
			return api.Invalid("do", "the form was not sent from this page; go back, reload the page and try again")
		}
		err = act(v, nil)
	}
	if err != nil {
		return v.refuse(err, v.showAssessment)
	}
	return v.redirect("assessments/" + a.ID)
}

// changeDeliverable drafts a deliverable, submits its newest version, or changes, accepts or undoes many items at once.
func (v *visit) changeDeliverable() error {
	k, a, err := v.findDeliverable()
	if err != nil {
		return err
	}
	base := "assessments/" + a.ID + "/" + k.Noun
	to := base + "?" + savedNotice
	switch v.field("do") {
	case "draft":
		err = k.draft(v, a.ID)
	case "submit":
		err = k.submit(v, v.field("version"))
	case "edit", "accept":
		var changed int
		var edit string
		changed, edit, err = v.editMany(k, a.ID)
		to = base + "?" + url.Values{"edited": {strconv.Itoa(changed)}, "edit": {edit}}.Encode()
		v.w.Header().Set("Edit-Id", edit) // for the page's script
	case "undo":
		in := api.UndoInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}}
		if in.Body.EditID = v.field("edit"); in.Body.EditID == "" {
			err = api.Invalid("edit", "the page does not specify which change to undo; reload the page and try again")
		} else {
			_, err = do(v, api.Undo, &in)
		}
		if item := v.field("item"); item != "" {
			to = base + "/" + url.PathEscape(item) + "?" + savedNotice
		}
	default:
		err = api.Invalid("do", "the form was not sent from this page; go back, reload the page and try again")
	}
	if v.r.Header.Get("Accept") == "text/plain" { // the page's script shows the response
		return v.answerScript(err)
	}
	if err != nil {
		return v.refuse(err, v.showDeliverable)
	}
	return v.redirect(to)
}

// answerScript responds to the page's script. If its request was rejected, the response contains the reason.
func (v *visit) answerScript(err error) error {
	if api.IsCode(err, api.CodeUnauthorized) || api.IsCode(err, api.CodeInternal) {
		return err
	}
	v.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	v.w.Header().Set("Cache-Control", "no-store")
	if err == nil {
		v.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	e := api.AsError(err)
	v.w.WriteHeader(e.HTTPStatus())
	_, err = io.WriteString(v.w, sentence(e.Message))
	return err
}

var scopePanel = panel{
	path: "assessments/{id}/scope", title: "Scope",
	show: func(v *visit, s *sheet) error {
		a, err := v.findAssessment()
		if err != nil {
			return err
		}
		s.Crumbs, s.Tabs = assessmentCrumbs(a), assessmentTabs(a, "scope")
		scope, err := do(v, api.GetAssessmentScope, &api.AssessmentInput{AssessmentID: a.ID})
		if api.IsCode(err, api.CodeNotFound) {
			scope, err = &api.Scope{}, nil
		}
		if err != nil {
			return err
		}
		mayEdit := v.may("scope:write") && a.State != api.StateClosed
		reasons := section{Title: "Traits", Text: "Traits determine which controls apply.", Columns: []string{"Trait", "Applies", "Why"}}
		traits := form{Do: "save", Button: "Save", Title: "Change the scope"}
		traits.Fields = append(traits.Fields, scopeLists(scope)...)
		for _, name := range api.TraitNames {
			t, ok := scope.Traits[name]
			if !ok {
				t.Value = "unknown"
			}
			reasons.Rows = append(reasons.Rows, line{Cells: []value{textValue(label(name)), textValue(traitWords[t.Value]), textValue(t.Reason)}})
			traits.Fields = append(traits.Fields, field{
				Name: "trait." + name, Label: label(name), Kind: "select", Value: t.Value,
				Options: choices(option{"true", "Yes"}, option{"false", "No"}, option{"unknown", "Not known"}),
			})
		}
		s.add(reasons)
		facts := section{Title: "What is assessed"}
		for _, x := range scopeLists(scope) {
			facts.Facts = append(facts.Facts, textValue(x.Value).labeled(x.Label))
		}
		if !mayEdit {
			s.add(facts)
			return nil
		}
		for i := range traits.Fields {
			traits.Hidden = append(traits.Hidden, option{"was." + traits.Fields[i].Name, traits.Fields[i].Value})
		}
		s.add(section{Title: "Change the scope", Forms: []form{traits}})
		return nil
	},
	actions: map[string]func(*visit, *sheet) error{
		"save": func(v *visit, _ *sheet) error {
			body, traits := map[string]any{}, map[string]any{}
			for name := range v.r.PostForm {
				was, ok := strings.CutPrefix(name, "was.")
				if !ok || v.field(was) == v.field(name) {
					continue
				}
				if trait, ok := strings.CutPrefix(was, "trait."); ok {
					traits[trait] = map[string]any{"true": true, "false": false}[v.field(was)]
				} else if was == "description" {
					body[was] = v.field(was)
				} else {
					body[was] = nonEmptyLines(v.field(was))
				}
			}
			if len(traits) > 0 {
				body["traits"] = traits
			}
			raw, err := json.Marshal(body)
			if err != nil {
				return err
			}
			in := api.PutScopeInput{AssessmentInput: api.AssessmentInput{AssessmentID: v.r.PathValue("id")}}
			if err := json.Unmarshal(raw, &in.Body); err != nil {
				return api.Invalid("", "the submitted form can't be read: %v", err)
			}
			return call(v, api.PutScope, &in)
		},
	},
}

var traitWords = map[string]string{"true": "Yes", "false": "No", "unknown": "Not known"}

// scopeLists returns the list fields of a scope, with one entry per line.
func scopeLists(scope *api.Scope) []field {
	out := []field{textField("description", "Description").withKind("area").withValue(scope.Description)}
	for _, l := range []struct {
		name, label string
		entries     []string
	}{
		{"systems", "Systems", scope.Systems},
		{"locations", "Locations", scope.Locations},
		{"business_units", "Business units", scope.BusinessUnits},
		{"processes", "Processes", scope.Processes},
		{"legal_entities", "Legal entities", scope.LegalEntities},
		{"data_types", "Data", scope.DataTypes},
		{"third_parties", "Third parties", scope.ThirdParties},
		{"exclusions", "Exclusions", scope.Exclusions},
		{"assumptions", "Assumptions", scope.Assumptions},
		{"constraints", "Constraints", scope.Constraints},
	} {
		out = append(out, textField(l.name, l.label).withKind("area").withValue(strings.Join(l.entries, "\n")).withHint("One per line."))
	}
	return out
}

func nonEmptyLines(text string) []string {
	out := []string{}
	for entry := range strings.Lines(text) {
		if entry = strings.TrimSpace(entry); entry != "" {
			out = append(out, entry)
		}
	}
	return out
}
