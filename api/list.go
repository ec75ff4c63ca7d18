package api

import (
	"encoding/json"
	"fmt"
	"time"
)

// List is a page of records.
type List[T any] struct {
	Data       []T        `json:"data"`
	Pagination Pagination `json:"pagination"`
}

// MapList is the same page, of what each record shows.
func MapList[R, T any](l *List[R], show func(*R) T) *List[T] {
	out := &List[T]{Data: make([]T, len(l.Data)), Pagination: l.Pagination}
	for i := range l.Data {
		out.Data[i] = show(&l.Data[i])
	}
	return out
}

// Pagination tells where a page stands: how many records there are after the
// filters, and the cursor of the next page where there is one.
type Pagination struct {
	Total      int     `json:"total"`
	Limit      int     `json:"limit"`
	NextCursor *string `json:"next_cursor"`
	HasMore    bool    `json:"has_more"`
}

// Paging is the part of a list's query that all lists share.
type Paging struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"How many records a page holds."`
	Cursor string `query:"cursor" doc:"The next_cursor of the page before; opaque."`
}

// Record holds the fields that every record has.
type Record struct {
	ID        string    `json:"id" doc:"UUIDv7."`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// TenantRecord holds the fields that every record of an organization has.
type TenantRecord struct {
	Record
	OrganizationID string `json:"organization_id"`
}

// Match is the header of a conditional change: the revision the caller last saw.
type Match struct {
	IfMatch string `header:"If-Match" doc:"The revision that was read, in quotes; the change is refused if the record has moved on."`
}

// Date is a day without a time, as 2006-01-02.
type Date string

// DateOf is the day of t in UTC.
func DateOf(t time.Time) Date { return Date(t.UTC().Format(time.DateOnly)) }

// Time returns midnight UTC of the day; an error for what is no date.
func (d Date) Time() (time.Time, error) {
	t, err := time.Parse(time.DateOnly, string(d))
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is no date; write it as 2026-12-31", string(d))
	}
	return t, nil
}

// Opt is a field of a PATCH that may be absent, null, or a value.
type Opt[T any] struct {
	Set   bool
	Value *T
}

// Some is a field set to v.
func Some[T any](v T) Opt[T] { return Opt[T]{Set: true, Value: &v} }

// IsZero makes an absent field vanish from JSON.
func (o Opt[T]) IsZero() bool { return !o.Set }

// UnmarshalJSON notes that the field was there, null or not.
func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	o.Set = true
	return json.Unmarshal(b, &o.Value)
}

// MarshalJSON writes the value or null.
func (o Opt[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.Value) }

// Apply sets *dst to the field's value, or to nil where it was null; absent leaves it.
func (o Opt[T]) Apply(dst **T) bool {
	if o.Set {
		*dst = o.Value
	}
	return o.Set
}
