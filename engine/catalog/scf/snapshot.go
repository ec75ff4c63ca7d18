package scf

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/scf-service/service/api"
)

// Snapshot is an indexed catalog version. It is immutable and safe for concurrent use. Returned values share
// memory with it and must not be modified.
type Snapshot struct {
	src      *Source
	version  Version
	rootUUID uuid.UUID
	record   api.CatalogVersion

	controls   map[string]int
	frameworks map[string]int // codes and aliases
	domains    map[string]int

	// Requirements are numbered over all frameworks; framework f has the numbers from
	// firstRequirement[f] up to firstRequirement[f+1].
	firstRequirement []int32
	// Mappings are ordered by control; control c has those from firstMapping[c] up to
	// firstMapping[c+1].
	firstMapping []int32
	// Requirement r has the mappings mappingsByRequirement[mappingStart[r]:mappingStart[r+1]].
	mappingStart, mappingsByRequirement []int32

	frameworkIDs, controlIDs []string

	// Computed on first use; Preload computes them all.
	domainList      func() []api.Domain
	controlList     func() []api.Control
	frameworkList   func() []api.Framework
	requirementIDs  func() []string
	requirementByID func() map[uuid.UUID]int32
	mappingByID     func() map[uuid.UUID]int32
	requirementRefs func() *requirementIndex
	frameworkNames  func() [][]string
	textIndex       func() *textIndex
}

// NewSnapshot indexes a source, which must not be changed afterwards. It returns an error if the source has
// duplicate codes or mappings to missing records, or if the version ID is not a UUIDv7.
func NewSnapshot(src *Source, v Version) (*Snapshot, error) {
	id, err := parseVersionID(v.ID)
	if err == nil && v.RootID != "" {
		id, err = parseVersionID(v.RootID)
	}
	if err != nil {
		return nil, err
	}
	if v.Status == "" {
		v.Status = api.CatalogActive
	}
	v.ImportedAt = v.ImportedAt.UTC()
	s := &Snapshot{src: src, version: v, rootUUID: id}
	for _, step := range []func() error{s.indexCodes, s.indexMappings} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("catalog %q: %w", src.Label, err)
		}
	}
	s.record = api.CatalogVersion{
		ID: v.ID, Label: src.Label, Status: v.Status, IsStarter: src.IsStarter,
		SourceFilename: NilIfEmpty(src.Filename), SourceSHA256: NilIfEmpty(src.SHA256),
		MappingDocuments: []api.MappingDocument{}, FrameworkAliases: []api.FrameworkAlias{},
		ImportedAt: v.ImportedAt, Counts: src.Counts(), CreatedAt: v.ImportedAt, UpdatedAt: v.ImportedAt,
	}
	s.domainList = sync.OnceValue(s.makeDomains)
	s.controlList = sync.OnceValue(s.makeControls)
	s.frameworkList = sync.OnceValue(s.makeFrameworks)
	s.requirementIDs = sync.OnceValue(s.makeRequirementIDs)
	s.requirementByID = sync.OnceValue(s.makeRequirementByID)
	s.mappingByID = sync.OnceValue(s.makeMappingByID)
	s.requirementRefs = sync.OnceValue(s.makeRequirementIndex)
	s.frameworkNames = sync.OnceValue(s.makeFrameworkNames)
	s.textIndex = sync.OnceValue(s.makeTextIndex)
	return s, nil
}

// Preload computes everything that would otherwise be computed on first use, so that no reader has to wait
// for it.
func (s *Snapshot) Preload() {
	s.domainList()
	s.controlList()
	s.frameworkList()
	s.requirementByID()
	s.mappingByID()
	s.requirementRefs()
	s.frameworkNames()
	s.textIndex()
}

// Source returns the source of the snapshot. It must not be modified.
func (s *Snapshot) Source() *Source { return s.src }

// Version returns the version's record.
func (s *Snapshot) Version() api.CatalogVersion { return s.record }

// indexCodes checks the codes of the catalog's records, and indexes the records by code.
func (s *Snapshot) indexCodes() error {
	src := s.src
	s.domains = make(map[string]int, len(src.Domains))
	for i := range src.Domains {
		code := src.Domains[i].Code
		if _, duplicate := s.domains[code]; duplicate || code == "" {
			return fmt.Errorf("domain code %q is empty or used twice", code)
		}
		s.domains[code] = i
	}
	s.controls = make(map[string]int, len(src.Controls))
	s.controlIDs = make([]string, len(src.Controls))
	for i := range src.Controls {
		c := &src.Controls[i]
		if !IsControlCode(c.Code) && (c.Owner == "" || !IsCustomControlCode(c.Code)) {
			return fmt.Errorf("control code %q must have the form ABC-01 or ABC-01.1", c.Code)
		}
		if _, duplicate := s.controls[c.Code]; duplicate {
			return fmt.Errorf("control code %s is used twice", c.Code)
		}
		if _, known := s.domains[c.DomainCode()]; !known {
			return fmt.Errorf("control %s belongs to an unknown domain", c.Code)
		}
		if c.Weight < NoWeight || c.Weight > 10 {
			return fmt.Errorf("control %s has weight %d", c.Code, c.Weight)
		}
		for _, e := range c.Evidence {
			if e < 0 || e >= len(src.Evidence) {
				return fmt.Errorf("control %s refers to an unknown evidence request", c.Code)
			}
		}
		s.controls[c.Code] = i
		s.controlIDs[i] = s.recordID(kindControl, naturalKey(c.Owner, c.Code)...).String()
	}
	s.frameworks = make(map[string]int, len(src.Frameworks))
	s.frameworkIDs = make([]string, len(src.Frameworks))
	s.firstRequirement = make([]int32, len(src.Frameworks)+1)
	for i := range src.Frameworks {
		f := &src.Frameworks[i]
		if _, duplicate := s.frameworks[f.Code]; duplicate || f.Code == "" {
			return fmt.Errorf("framework code %q is empty or used twice", f.Code)
		}
		s.frameworks[f.Code] = i
		s.frameworkIDs[i] = s.recordID(kindFramework, naturalKey(f.Owner, f.Code)...).String()
		s.firstRequirement[i+1] = s.firstRequirement[i] + int32(len(f.Requirements))
		seen := make(map[string]bool, len(f.Requirements))
		for r := range f.Requirements {
			code := f.Requirements[r].Code
			if seen[code] || code == "" {
				return fmt.Errorf("requirement %q of %s is empty or listed twice", code, f.Code)
			}
			seen[code] = true
		}
	}
	for i := range src.Frameworks {
		for _, alias := range src.Frameworks[i].Aliases {
			if _, taken := s.frameworks[alias]; !taken { // codes take precedence
				s.frameworks[alias] = i
			}
		}
	}
	return nil
}

// indexMappings checks the mappings, and indexes them by control and by requirement.
func (s *Snapshot) indexMappings() error {
	src := s.src
	for i := range src.Mappings {
		m := &src.Mappings[i]
		if m.Control < 0 || m.Control >= len(src.Controls) ||
			m.Framework < 0 || m.Framework >= len(src.Frameworks) ||
			m.Requirement < 0 || m.Requirement >= len(src.Frameworks[m.Framework].Requirements) {
			return fmt.Errorf("mapping %d refers to a missing requirement", i)
		}
		if d := m.Detail; d != nil && (d.Strength < -1 || d.Strength > 10) {
			return fmt.Errorf("mapping %d has strength %d", i, d.Strength)
		}
	}
	if !slices.IsSortedFunc(src.Mappings, CompareMappings) {
		slices.SortStableFunc(src.Mappings, CompareMappings)
	}
	s.firstMapping = make([]int32, len(src.Controls)+1)
	s.mappingStart = make([]int32, s.firstRequirement[len(s.firstRequirement)-1]+1)
	for i := range src.Mappings {
		m := &src.Mappings[i]
		if i > 0 && CompareMappings(*m, src.Mappings[i-1]) == 0 {
			return fmt.Errorf("control %s is mapped twice to requirement %s of %s", src.Controls[m.Control].Code,
				src.Frameworks[m.Framework].Requirements[m.Requirement].Code, src.Frameworks[m.Framework].Code)
		}
		s.firstMapping[m.Control+1]++
		s.mappingStart[s.requirementNumber(m)+1]++
	}
	for i := range src.Controls {
		s.firstMapping[i+1] += s.firstMapping[i]
	}
	for i := 1; i < len(s.mappingStart); i++ {
		s.mappingStart[i] += s.mappingStart[i-1]
	}
	s.mappingsByRequirement = make([]int32, len(src.Mappings))
	next := slices.Clone(s.mappingStart)
	for i := range src.Mappings {
		r := s.requirementNumber(&src.Mappings[i])
		s.mappingsByRequirement[next[r]] = int32(i)
		next[r]++
	}
	return nil
}

// requirementNumber returns the number of a mapping's requirement. Requirements are numbered consecutively across
// all frameworks.
func (s *Snapshot) requirementNumber(m *Mapping) int32 {
	return s.firstRequirement[m.Framework] + int32(m.Requirement)
}

// locateRequirement converts a requirement number, which is unique across all frameworks, to the index of the
// framework and the index of the requirement within that framework.
func (s *Snapshot) locateRequirement(number int32) (framework, requirement int) {
	f, exact := slices.BinarySearch(s.firstRequirement, number)
	if !exact {
		return f - 1, int(number - s.firstRequirement[f-1])
	}
	for s.firstRequirement[f+1] == number { // frameworks without requirements share the number
		f++
	}
	return f, 0
}

// requirementMappingIndexes returns the indexes of the mappings to a requirement.
func (s *Snapshot) requirementMappingIndexes(number int32) []int32 {
	return s.mappingsByRequirement[s.mappingStart[number]:s.mappingStart[number+1]]
}

func (s *Snapshot) makeRequirementIDs() []string {
	ids := make([]string, 0, len(s.mappingStart)-1)
	for f := range s.src.Frameworks {
		fw := &s.src.Frameworks[f]
		for r := range fw.Requirements {
			ids = append(ids, s.recordID(kindRequirement, naturalKey(fw.Owner, fw.Code, fw.Requirements[r].Code)...).String())
		}
	}
	return ids
}

func (s *Snapshot) makeRequirementByID() map[uuid.UUID]int32 {
	ids := s.requirementIDs()
	m := make(map[uuid.UUID]int32, len(ids))
	for i, id := range ids {
		m[uuid.MustParse(id)] = int32(i)
	}
	return m
}

func (s *Snapshot) mappingID(m *Mapping) uuid.UUID {
	fw := &s.src.Frameworks[m.Framework]
	c := &s.src.Controls[m.Control]
	return s.recordID(kindMapping, naturalKey(cmp.Or(c.Owner, fw.Owner), c.Code, fw.Code, fw.Requirements[m.Requirement].Code)...)
}

// naturalKey returns the key from which a record's ID is computed. If the record belongs to an organization,
// the key starts with the organization's ID, so that two organizations never share a key.
func naturalKey(owner string, key ...string) []string {
	if owner == "" {
		return key
	}
	return append([]string{owner}, key...)
}

func (s *Snapshot) makeMappingByID() map[uuid.UUID]int32 {
	m := make(map[uuid.UUID]int32, len(s.src.Mappings))
	for i := range s.src.Mappings {
		m[s.mappingID(&s.src.Mappings[i])] = int32(i)
	}
	return m
}

// requirementIndex maps exact and normalized codes to the requirements of all frameworks that have them.
type requirementIndex struct {
	exact, loose map[string][]int32
}

func (s *Snapshot) makeRequirementIndex() *requirementIndex {
	n := len(s.mappingStart) - 1
	x := &requirementIndex{exact: make(map[string][]int32, n), loose: make(map[string][]int32, n)}
	next := int32(0)
	for f := range s.src.Frameworks {
		for r := range s.src.Frameworks[f].Requirements {
			code := s.src.Frameworks[f].Requirements[r].Code
			x.exact[code] = append(x.exact[code], next)
			loose := NormalizeRequirementCode(code)
			x.loose[loose] = append(x.loose[loose], next)
			next++
		}
	}
	return x
}

// filterRequirementsByFramework returns the given requirements that belong to framework f.
func (s *Snapshot) filterRequirementsByFramework(f int, numbers []int32) []int32 {
	from, _ := slices.BinarySearch(numbers, s.firstRequirement[f])
	to, _ := slices.BinarySearch(numbers, s.firstRequirement[f+1])
	return numbers[from:to]
}
