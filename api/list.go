package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// List is a page of records.
type List[T any] struct {
	Data       []T        `json:"data"`
	Pagination Pagination `json:"pagination"`
}

// MapList returns the same page with every record converted.
func MapList[R, T any](l *List[R], convert func(*R) T) *List[T] {
	out := &List[T]{Data: make([]T, len(l.Data)), Pagination: l.Pagination}
	for i := range l.Data {
		out.Data[i] = convert(&l.Data[i])
	}
	return out
}

// Pagination describes a page of a list: the number of records after filtering, and the cursor of
// the next page if there is one.
type Pagination struct {
	Total      int     `json:"total"`
	Limit      int     `json:"limit"`
	NextCursor *string `json:"next_cursor"`
	HasMore    bool    `json:"has_more"`
}

// Paging holds the query parameters common to all lists.
type Paging struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"Number of records per page."`
	Cursor string `query:"cursor" doc:"The next_cursor of the previous page; opaque."`
}

// SetPaging sets which page to request. Inputs that embed a Paging inherit this method.
func (p *Paging) SetPaging(to Paging) { *p = to }

// Record holds the fields common to all records.
type Record struct {
	ID        string    `json:"id" doc:"UUIDv7."`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// TenantRecord holds the fields common to all records of an organization.
type TenantRecord struct {
	Record
	OrganizationID string `json:"organization_id"`
}

// MaxWhereLength is the maximum length of a filter, in bytes.
const MaxWhereLength = 2000

// Revised holds the revision of a record that can be changed.
type Revised struct {
	Revision int `json:"revision" doc:"Increases with each change by a person or a program; send it as If-Match to change only what you have read."`
}

// Match holds the If-Match header of a conditional change: the revision that the caller last saw.
type Match struct {
	IfMatch string `header:"If-Match" doc:"The last revision read, in quotes; the change is rejected if the record has changed since."`
}

// Check returns an error if the caller's change is based on an older revision of the record.
func (m Match) Check(revision int) error {
	if m.IfMatch == "" || m.IfMatch == "*" || strings.Trim(m.IfMatch, `"`) == fmt.Sprint(revision) {
		return nil
	}
	return Invalid("If-Match", "the record has changed: its revision is %d, not %s; fetch it again and retry", revision, m.IfMatch)
}

// Date is a day without a time, in the form 2006-01-02.
type Date string

// DateOf returns the day of t in UTC.
func DateOf(t time.Time) Date { return Date(t.UTC().Format(time.DateOnly)) }

// Time returns midnight UTC of the day, or an error if d is not a date.
func (d Date) Time() (time.Time, error) {
	t, err := time.Parse(time.DateOnly, string(d))
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is not a valid date; use the format 2026-12-31", string(d))
	}
	return t, nil
}

// Opt is a field of a PATCH that can be absent, null, or a value.
type Opt[T any] struct {
	Set   bool
	Value *T
}

// Some returns a present field with value v.
func Some[T any](v T) Opt[T] { return Opt[T]{Set: true, Value: &v} }

// IsZero reports whether the field is absent; encoding/json then omits it.
func (o Opt[T]) IsZero() bool { return !o.Set }

// UnmarshalJSON records that the field was present, even if it is null.
func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	o.Set = true
	return json.Unmarshal(b, &o.Value)
}

// MarshalJSON writes the value or null.
func (o Opt[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.Value) }

// AssignIfSet sets *dst to the field's value, or to nil if the value is null, and returns true. If the
// field is absent, it leaves *dst unchanged and returns false.
func (o Opt[T]) AssignIfSet(dst **T) (assigned bool) {
	if o.Set {
		*dst = o.Value
	}
	return o.Set
}

// CheckDate returns an error unless d is a valid date. A nil date is valid.
func CheckDate(field string, d *Date) error {
	if d == nil {
		return nil
	}
	if _, err := d.Time(); err != nil {
		return Invalid(field, "%v", err)
	}
	return nil
}

// maxYearsAhead is how many years in the future a date may be. A later date probably means "never".
const maxYearsAhead = 100

// CheckDateLimit returns an error if d is not a valid date or is too far in the future.
func CheckDateLimit(field string, d *Date, today Date) error {
	if err := CheckDate(field, d); err != nil || d == nil {
		return err
	}
	now, err := today.Time()
	if err != nil {
		return err
	}
	if last := DateOf(now.AddDate(maxYearsAhead, 0, 0)); *d > last {
		return Invalid(field, "%s is more than %d years in the future; use a date no later than %s", *d, maxYearsAhead, last)
	}
	return nil
}

// CheckDateNotPast is like CheckDateLimit and also rejects dates in the past.
func CheckDateNotPast(field string, d *Date, today Date) error {
	if err := CheckDateLimit(field, d, today); err != nil || d == nil {
		return err
	}
	if *d < today {
		return Invalid(field, "%s is in the past; use %s or a later date", *d, today)
	}
	return nil
}
