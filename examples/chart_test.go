package examples_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template"

	"go.yaml.in/yaml/v3"
)

// renderChart renders the manifests of the Helm chart as `helm template grc` does, with the functions that the chart uses.
// Values replace those of values.yaml, without merging below the first level.
func renderChart(t *testing.T, values map[string]any) ([]byte, error) {
	t.Helper()
	const chart = "helm/service"
	all := documents(t, filepath.Join(chart, "values.yaml"))[0]
	maps.Copy(all, values)
	base := filepath.Base(chart) + "/templates"
	root := template.New("chart").Option("missingkey=error")
	root.Funcs(template.FuncMap{
		"quote": func(v any) string { return strconv.Quote(fmt.Sprint(v)) },
		"toYaml": func(v any) (string, error) {
			b, err := yaml.Marshal(v)
			return strings.TrimSuffix(string(b), "\n"), err
		},
		"nindent": func(n int, text string) string {
			newline := "\n" + strings.Repeat(" ", n)
			return newline + strings.ReplaceAll(text, "\n", newline)
		},
		"required": func(message string, v any) (any, error) {
			if v == nil || v == "" {
				return nil, errors.New(message)
			}
			return v, nil
		},
		"include": func(name string, data any) (string, error) {
			var out strings.Builder
			err := root.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
		"sha256sum": func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) },
	})
	files, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var manifests []string
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := base + "/" + filepath.Base(path)
		template.Must(root.New(name).Parse(string(text)))
		if filepath.Ext(path) == ".yaml" {
			manifests = append(manifests, name)
		}
	}
	data := map[string]any{
		"Values": all, "Template": map[string]any{"BasePath": base},
		"Release": map[string]any{"Name": "grc", "Namespace": "default"}, "Chart": documents(t, filepath.Join(chart, "Chart.yaml"))[0],
	}
	slices.Sort(manifests)
	var out bytes.Buffer
	for _, name := range manifests {
		out.WriteString("---\n")
		if err := root.ExecuteTemplate(&out, name, data); err != nil {
			return nil, err
		}
		out.WriteString("\n")
	}
	return out.Bytes(), root.ExecuteTemplate(new(bytes.Buffer), base+"/NOTES.txt", data)
}

// TestChart renders the Helm chart and checks its manifests like those of kubernetes/postgres.yaml.
func TestChart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rendered.yaml")
	rendered, err := renderChart(t, map[string]any{
		"replicas": 3, "ingressClass": "nginx", "settings": map[string]any{"SERVICE_LOG_LEVEL": "debug"},
	})
	if err != nil {
		t.Fatal(err)
	}
	put(t, path, rendered, 0o644)
	all := documents(t, path)
	checkSharedDaemons(t, all)
	kinds := func(all []map[string]any) (out []string) {
		for _, d := range all {
			out = append(out, fmt.Sprint(d["apiVersion"], " ", d["kind"]))
		}
		slices.Sort(out)
		return out
	}
	want := kinds(documents(t, "kubernetes/postgres.yaml"))
	if got := kinds(all); !slices.Equal(got, want) {
		t.Errorf("the chart has %q, and kubernetes/postgres.yaml %q", got, want)
	}
	for _, want := range []string{"replicas: 3", "SERVICE_LOG_LEVEL: \"debug\"", "name: grc", "ingressClassName: nginx"} {
		if !bytes.Contains(rendered, []byte(want)) {
			t.Errorf("the rendered chart lacks %q", want)
		}
	}
	if _, err := renderChart(t, map[string]any{"store": ""}); err == nil || !strings.Contains(err.Error(), "set store") {
		t.Errorf("without a database: %v", err)
	}
}
