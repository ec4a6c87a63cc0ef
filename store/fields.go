package store

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Each entity has one list of columns, and one function that returns its fields in the same order.
// The fields are used for scanning and as arguments. Values that SQLite does not store directly are
// wrapped in a field.

// field converts a struct's field to and from a column.
type field interface {
	sql.Scanner
	driver.Valuer
}

// timeOf stores a time in unix milliseconds; 0 is the zero time.
func timeOf(t *time.Time) field { return timeField{t} }

type timeField struct{ t *time.Time }

func (x timeField) Scan(src any) error {
	n, ok := src.(int64)
	if !ok {
		return fmt.Errorf("scan a time: %T", src)
	}
	*x.t = fromMillis(n)
	return nil
}

func (x timeField) Value() (driver.Value, error) { return millis(*x.t), nil }

// fromMillis converts a column's value to a time.
func fromMillis(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}

// millis converts a time to a column's value.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// durationOf stores a duration in milliseconds.
func durationOf(d *time.Duration) field { return durationField{d} }

type durationField struct{ d *time.Duration }

func (x durationField) Scan(src any) error {
	n, ok := src.(int64)
	if !ok {
		return fmt.Errorf("scan a duration: %T", src)
	}
	*x.d = time.Duration(n) * time.Millisecond
	return nil
}

func (x durationField) Value() (driver.Value, error) { return x.d.Milliseconds(), nil }

// refOf stores a reference to another row; 0 is NULL.
func refOf(id *int64) field { return refField{id} }

type refField struct{ id *int64 }

func (x refField) Scan(src any) error {
	switch n := src.(type) {
	case nil:
		*x.id = 0
	case int64:
		*x.id = n
	default:
		return fmt.Errorf("scan a reference: %T", src)
	}
	return nil
}

func (x refField) Value() (driver.Value, error) {
	if *x.id == 0 {
		return nil, nil
	}
	return *x.id, nil
}

// listOf stores strings as a JSON array.
func listOf(s *[]string) field { return listField{s} }

type listField struct{ s *[]string }

func (x listField) Scan(src any) error { return scanJSON(src, x.s, "[]") }

func (x listField) Value() (driver.Value, error) { return valueJSON(*x.s, len(*x.s) == 0, "[]") }

// reasonOf stores a reason as JSON; no reason is the empty text. JSON that cannot be read becomes
// an unknown reason, so that it does not keep a pass or status from reading the rest.
func reasonOf(r *work.Reason) field { return reasonField{r} }

type reasonField struct{ r *work.Reason }

func (x reasonField) Scan(src any) error {
	if err := scanJSON(src, x.r, ""); err != nil || x.r.None() && src != "" {
		*x.r = work.Reason{Kind: work.WhyUnknown, Local: fmt.Sprint(src)}
	}
	return nil
}

func (x reasonField) Value() (driver.Value, error) { return valueJSON(x.r, x.r.None(), "") }

func scanJSON[T any](src any, into *T, zero string) error {
	*into = *new(T)
	if text, _ := src.(string); text != zero { // other types are not JSON
		return json.Unmarshal([]byte(text), into)
	}
	return nil
}

func valueJSON(v any, none bool, zero string) (driver.Value, error) {
	if none {
		return zero, nil
	}
	b, err := json.Marshal(v)
	return string(b), err
}

// nameOf stores a repository's name as host/owner/name.
func nameOf(n *work.RepoName) field { return nameField{n} }

type nameField struct{ n *work.RepoName }

func (x nameField) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("scan a repository's name: %T", src)
	}
	n, err := work.ParseRepoName(text, "")
	*x.n = n
	return err
}

func (x nameField) Value() (driver.Value, error) { return x.n.String(), nil }
