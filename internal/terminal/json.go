package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/cli/go-gh/v2/pkg/jq"
	"github.com/cli/go-gh/v2/pkg/jsonpretty"
)

// JSON holds gh's flags --json and --jq.
type JSON struct {
	Fields []string
	JQ     string
}

// Asked reports whether JSON is requested.
func (j *JSON) Asked() bool { return len(j.Fields) > 0 }

// FilterError is an invalid expression of --jq.
type FilterError struct{ Err error }

func (e *FilterError) Error() string {
	_, why, _ := strings.Cut(OneLine(e.Err.Error()), "(line ") // before it is only that it cannot be parsed
	if line, at, ok := strings.Cut(why, ")"); ok {
		_, what, _ := strings.Cut(at, "^")
		return fmt.Sprintf("the expression of --jq is invalid: %s (line %s)", strings.TrimSpace(what), line)
	}
	return "--jq is invalid: " + OneLine(e.Err.Error())
}

func (e *FilterError) Unwrap() error { return e.Err }

// filter prints what an expression makes of JSON.
func (j *JSON) filter(r io.Reader, w io.Writer, indent string, color bool) error {
	if err := jq.EvaluateFormatted(r, w, j.JQ, indent, color); err != nil {
		return &FilterError{err}
	}
	return nil
}

// Write prints the requested fields of a view, a struct with JSON tags. Commands in its texts are completed.
func (j *JSON) Write(o Output, view any) error {
	if o.Typed != nil {
		copied := reflect.New(reflect.TypeOf(view)).Elem()
		copied.Set(reflect.ValueOf(view))
		o.complete(copied, false)
		view = copied.Interface()
	}
	all, err := encode(view)
	if err != nil {
		return err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(all.Bytes(), &fields); err != nil {
		return fmt.Errorf("encode JSON: %w", err)
	}
	maps.DeleteFunc(fields, func(name string, _ json.RawMessage) bool { return !slices.Contains(j.Fields, name) })
	b, err := encode(fields)
	if err != nil {
		return err
	}
	if o.TTY {
		return j.show(o, b)
	}
	if j.JQ != "" {
		return j.filter(b, o.Bare, "", o.Color)
	}
	_, err = o.Bare.Write(escapeJSON(b.Bytes()))
	return err
}

// texts are the fields with texts of ours, which may advise commands. Others have words of people, names, paths
// and codes.
var texts = []string{
	"answer", "detail", "differs", "do", "error", "held", "lacks", "nextStep", "note", "outcome", "reason", "says", "skipped", "text", "waitingFor", "warnings",
}

// complete completes the commands in texts of ours below a value that may be set. Lists and what is pointed to
// belong to the caller, and are copied.
func (o Output) complete(v reflect.Value, ours bool) {
	switch {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			o.complete(v.Field(i), slices.Contains(texts, name))
		}
	case !v.CanSet():
	case v.Kind() == reflect.String && ours:
		v.SetString(o.Typed(v.String()))
	case v.Kind() == reflect.Pointer && !v.IsNil():
		copied := reflect.New(v.Type().Elem())
		copied.Elem().Set(v.Elem())
		v.Set(copied)
		o.complete(v.Elem(), ours)
	case v.Kind() == reflect.Slice && v.Len() > 0:
		copied := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(copied, v)
		v.Set(copied)
		for i := range v.Len() {
			o.complete(v.Index(i), ours)
		}
	}
}

func encode(v any) (*bytes.Buffer, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	return &b, nil
}

// show prints on a terminal. A jq expression may print strings unescaped, so these are made legible before; its own
// colours pass.
func (j *JSON) show(o Output, b *bytes.Buffer) error {
	w := &Screen{to: o.Bare, styled: true}
	defer w.Flush()
	if j.JQ == "" {
		return jsonpretty.Format(w, b, "  ", o.Color)
	}
	clean, err := legibleStrings(b.Bytes())
	if err != nil {
		return fmt.Errorf("encode JSON: %w", err)
	}
	return j.filter(bytes.NewReader(clean), w, "  ", o.Color)
}

// Each turns rows into views; the result is never nil, so that JSON shows [].
func Each[T, V any](rows []T, view func(T) V) []V {
	views := make([]V, len(rows))
	for i, row := range rows {
		views[i] = view(row)
	}
	return views
}

// Time is a time that JSON shows in UTC, and as null if it is zero.
type Time struct{ time.Time }

// Stamp returns a time for JSON.
func Stamp(t time.Time) Time { return Time{t} }

// MarshalJSON encodes it.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return t.UTC().MarshalJSON()
}

// OrEmpty replaces a nil list by an empty one, so that JSON shows [].
func OrEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
