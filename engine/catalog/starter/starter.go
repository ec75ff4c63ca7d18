// Package starter contains the built-in catalog, so that the program works before anyone
// imports the official workbook. It uses the SCF's control codes, but every text is our own:
// it must not contain text from the SCF or a standard.
package starter

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
)

// Label is the version label of the starter catalog.
const Label = "starter-1"

//go:embed data data-frameworks.yaml
var embeddedFiles embed.FS

// Load returns the built-in starter catalog. It returns an error only if the embedded files are invalid.
func Load() (*scf.Source, error) { return loadFrom(embeddedFiles) }

type domainFile struct {
	Domain struct {
		Code, Name, Principle, Intent string
	}
	Controls []control
}

type control struct {
	Code, Title, Description, Question string
	Weight                             int
	Applicability                      []string
	CSFFunction                        string `yaml:"csf_function"`
	Cadence                            string
	EvidenceRequests                   []string `yaml:"evidence_requests"`
	Objectives                         []string
	Maturity                           map[string]string
	Traits                             []string
	Compensating                       []struct{ Control, Why string }
	Tags                               []string
	Mappings                           map[string][]string
}

type frameworksFile struct {
	Frameworks []struct {
		Code, Name, Publisher, Jurisdiction, Title string
		SourceURL                                  string    `yaml:"source_url"`
		Requirements                               yaml.Node // code: title, in order
	}
}

// decodeStrict decodes a single YAML document. Unknown keys are an error.
func decodeStrict(data []byte, into any) error {
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		return err
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return errors.New("more than one document")
	}
	return nil
}

func loadFrom(files fs.FS) (*scf.Source, error) {
	b := &catalogBuilder{
		src:          &scf.Source{Label: Label, IsStarter: true, Warnings: []api.ImportWarning{}},
		controlCodes: map[string]bool{}, frameworks: map[string]int{},
	}
	data, err := fs.ReadFile(files, "data-frameworks.yaml")
	if err == nil {
		err = b.readFrameworks(data)
	}
	if err != nil {
		return nil, fmt.Errorf("starter catalog, data-frameworks.yaml: %w", err)
	}
	names, err := fs.Glob(files, "data/*.yaml")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err == nil {
			err = b.readDomain(data, strings.TrimSuffix(path.Base(name), ".yaml"))
		}
		if err != nil {
			return nil, fmt.Errorf("starter catalog, %s: %w", name, err)
		}
	}
	if err := b.resolveRequirementsAndMappings(); err != nil {
		return nil, fmt.Errorf("starter catalog: %w", err)
	}
	return b.src, nil
}
