package rows

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// An entity has one list of columns and one function that gives, in the same
// order, where each of them lives in the struct. The same places are scanned
// into and sent as arguments; what is no plain value has a Field for its place.

// Field is where a column lives in a struct, for reading and for writing.
type Field interface {
	sql.Scanner
	driver.Valuer
}

// TimeOf stores a time as unix milliseconds; 0 is the zero time.
func TimeOf(t *time.Time) Field { return timeOf{t} }

type timeOf struct{ t *time.Time }

func (x timeOf) Scan(src any) error {
	n, ok := src.(int64)
	if !ok {
		return fmt.Errorf("scan a time: %T", src)
	}
	*x.t = FromMillis(n)
	return nil
}

func (x timeOf) Value() (driver.Value, error) { return Millis(*x.t), nil }

// FromMillis is the time that a column holds.
func FromMillis(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}

// Millis is a time as a column holds it.
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// RefOf stores a reference to another row; 0 is NULL.
func RefOf(id *int64) Field { return refOf{id} }

type refOf struct{ id *int64 }

func (x refOf) Scan(src any) error {
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

func (x refOf) Value() (driver.Value, error) {
	if *x.id == 0 {
		return nil, nil
	}
	return *x.id, nil
}

// ListOf stores strings as a JSON array.
func ListOf(s *[]string) Field { return listOf{s} }

type listOf struct{ s *[]string }

func (x listOf) Scan(src any) error { return scanJSON(src, x.s, "[]") }

func (x listOf) Value() (driver.Value, error) { return valueJSON(*x.s, len(*x.s) == 0, "[]") }

// ReasonOf stores a reason as JSON; none is the empty text. One that cannot be read is not
// known: it must not keep a pass, or status, from all the rest.
func ReasonOf(r *work.Reason) Field { return reasonOf{r} }

type reasonOf struct{ r *work.Reason }

func (x reasonOf) Scan(src any) error {
	if err := scanJSON(src, x.r, ""); err != nil || x.r.None() && src != "" {
		*x.r = work.Reason{Kind: work.WhyUnknown, Local: fmt.Sprint(src)}
	}
	return nil
}

func (x reasonOf) Value() (driver.Value, error) { return valueJSON(x.r, x.r.None(), "") }

func scanJSON[T any](src any, into *T, zero string) error {
	*into = *new(T)
	if text, _ := src.(string); text != zero { // anything else than text is no JSON
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

// NameOf stores a repository's name as host/owner/name.
func NameOf(n *work.RepoName) Field { return nameOf{n} }

type nameOf struct{ n *work.RepoName }

func (x nameOf) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("scan a repository's name: %T", src)
	}
	n, err := work.ParseRepoName(text, "")
	*x.n = n
	return err
}

func (x nameOf) Value() (driver.Value, error) { return x.n.String(), nil }

// IDsOf is a list of ids as json_each takes it.
func IDsOf(ids []int64) string {
	b, err := json.Marshal(ids)
	if err != nil { // integers
		panic(err)
	}
	return string(b)
}
