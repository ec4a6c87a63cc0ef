package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// typeNames name the types of TOML for messages.
var typeNames = map[reflect.Type]string{
	reflect.TypeFor[string](): "text", reflect.TypeFor[int64](): "a whole number", reflect.TypeFor[float64](): "a number with a fraction",
	reflect.TypeFor[bool](): "true or false", reflect.TypeFor[time.Time](): "a date",
	reflect.TypeFor[[]any](): "a list", reflect.TypeFor[map[string]any](): "a table", reflect.TypeFor[[]map[string]any](): "a list of tables",
}

// as returns a value of the file as a type, or what is wrong with it.
func as[T any](v any, want string) (T, string) {
	x, ok := v.(T)
	if !ok {
		return x, "want " + want + ", got " + typeNames[reflect.TypeOf(v)]
	}
	return x, ""
}

// value makes the value of the field of what the file has, and says what is wrong with that; empty: nothing.
// Repositories without a host are on host.
func (k key) value(v any, host string) (x any, wrong string) {
	if q, ok := quantities[k.typ]; ok {
		return k.quantity(q, v)
	}
	switch reflect.Zero(k.typ).Interface().(type) {
	case bool:
		return as[bool](v, "true or false")
	case *regexp.Regexp:
		return pattern(v)
	case work.RepoName:
		return repoName(v, host)
	}
	if k.typ.Kind() == reflect.Slice {
		return k.list(v)
	}
	return k.text(v)
}

// fallback returns the default as the file would have it; nil: there is none.
func (k key) fallback() any {
	text, ok := k.tag.Lookup("default")
	switch {
	case !ok:
		return nil
	case k.typ.Kind() == reflect.Bool, k.tag.Get("flag") != "":
		return text == "true"
	case k.typ.Kind() == reflect.Int:
		n, _ := strconv.ParseInt(text, 10, 64)
		return n
	case k.typ.Kind() == reflect.Float64:
		n, _ := strconv.ParseFloat(text, 64)
		return n
	}
	return text
}

func (k key) text(v any) (string, string) {
	flag := k.tag.Get("flag")
	if b, ok := v.(bool); ok && flag != "" {
		return map[bool]string{true: "true"}[b], ""
	}
	want := flag
	if want == "" {
		want = "text in quotes"
	}
	s, wrong := as[string](v, want)
	switch {
	case wrong != "":
	case flag != "" && (s == "true" || s == "false"):
		wrong = "want " + flag + "; write " + s + " without quotes"
	default:
		wrong = k.chosen(s)
	}
	return s, wrong
}

// chosen says why a text is none of those that the key accepts; empty: it is one.
func (k key) chosen(s string) string {
	few := k.choice()
	if few == nil || slices.Contains(few, s) {
		return ""
	}
	return fmt.Sprintf("want %s, got %q%s%s", quoted(few), s, meant(s, few, "%q"), k.tag.Get("else"))
}

// quoted lists texts as a choice.
func quoted(texts []string) string {
	var all []string
	for _, t := range texts {
		if t != "" {
			all = append(all, strconv.Quote(t))
		}
	}
	last := len(all) - 1
	if last == 0 {
		return all[0]
	}
	return strings.Join(all[:last], ", ") + " or " + all[last]
}

func (k key) list(v any) (any, string) {
	values, wrong := as[[]any](v, `a list: ["text", …]`)
	out := reflect.MakeSlice(k.typ, 0, len(values))
	for i, v := range values {
		s, isText := v.(string)
		if !isText {
			return nil, fmt.Sprintf(`entry %d: want "text", got %s`, i+1, typeNames[reflect.TypeOf(v)])
		}
		if wrong = k.chosen(s); wrong != "" {
			return nil, wrong
		}
		out = reflect.Append(out, reflect.ValueOf(s).Convert(k.typ.Elem()))
	}
	return out.Interface(), wrong
}

// quantity is a kind of numbers in the file.
type quantity struct {
	want string // in words
	read func(v any) (n float64, ok bool)
	text func(n float64) string
	form string  // the regular expression of its texts; empty: it is a number
	most float64 // unless the key has a bound
	none string  // in words, what 0 means where it is below least; empty: it means nothing
}

var quantities = map[reflect.Type]quantity{
	reflect.TypeFor[int]():     {want: "a whole number", text: plain, read: func(v any) (float64, bool) { n, ok := v.(int64); return float64(n), ok }},
	reflect.TypeFor[float64](): {want: "a number", text: plain, read: readNumber},
	reflect.TypeFor[time.Duration](): {
		want: `a time such as "90s", "30m" or "24h"`, read: readTime, text: func(n float64) string { return work.IntervalText(time.Duration(n)) }, most: float64(7 * 24 * time.Hour),
		form: `^([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))*$`,
	},
	reflect.TypeFor[int64](): { // of bytes
		want: `a size such as "8GiB" or "512MiB", or "0" for no limit`, read: readSize, text: sizeText, most: 1 << 50, none: `, or "0" for no limit`,
		form: `^(0|[0-9]+(\.[0-9]+)? ?(B|KiB|MiB|GiB|TiB|KB|MB|GB|TB))$`,
	},
}

// plain formats a number without an exponent.
func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func readNumber(v any) (float64, bool) {
	whole, isWhole := v.(int64)
	n, ok := v.(float64)
	return n + float64(whole), ok || isWhole
}

func readTime(v any) (float64, bool) {
	text, _ := v.(string)
	d, err := time.ParseDuration(text)
	return float64(d), err == nil
}

// units are the units of sizes, in bytes.
var units = map[string]float64{
	"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
}

var sizeParts = lazy.Regexp(`^([0-9]+(?:\.[0-9]+)?) ?([KMGT]?i?B)$`)

func readSize(v any) (float64, bool) {
	text, _ := v.(string)
	m := sizeParts().FindStringSubmatch(text)
	if m == nil || units[m[2]] == 0 {
		return 0, text == "0"
	}
	n, _ := strconv.ParseFloat(m[1], 64) // digits always parse; too many are infinite
	return n * units[m[2]], true
}

func (k key) quantity(q quantity, v any) (x any, wrong string) {
	given := typeNames[reflect.TypeOf(v)]
	if text, ok := v.(string); ok && q.form != "" {
		given = strconv.Quote(text)
	}
	n, ok := q.read(v)
	if !ok {
		return nil, "want " + q.want + ", got " + given
	}
	if least, most := k.bound("least", q), cmp.Or(k.bound("most", q), q.most); !(n >= least && n <= most) && (n != 0 || q.none == "") { // written so that NaN fails, too
		if q.form == "" {
			given = plain(n)
		}
		return nil, "want " + q.text(least) + " to " + q.text(most) + q.none + ", got " + given
	}
	return reflect.ValueOf(n).Convert(k.typ).Interface(), ""
}

// bound returns a bound of the key; 0: it has none.
func (k key) bound(name string, q quantity) float64 {
	n, isText := q.read(k.tag.Get(name))
	if !isText {
		n, _ = strconv.ParseFloat(k.tag.Get(name), 64)
	}
	return n
}

func pattern(v any) (form *regexp.Regexp, wrong string) {
	s, wrong := as[string](v, "text in quotes")
	if s == "" {
		return nil, wrong
	}
	form, err := regexp.Compile(s)
	if err != nil {
		wrong = fmt.Sprintf("%q is no regular expression: %s", s, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return form, wrong
}

func repoName(v any, host string) (name work.RepoName, wrong string) {
	s, wrong := as[string](v, "text in quotes")
	if wrong != "" {
		return name, wrong
	}
	name, err := work.ParseRepoName(s, host)
	switch bare, address := strings.CutSuffix(s, ".git"); {
	case err != nil:
		wrong = fmt.Sprintf("%q is no repository; want owner/name or host/owner/name", s)
	case address:
		wrong = fmt.Sprintf("%q ends in .git, as addresses do; write %q", s, bare)
	}
	return name, wrong
}

// print returns the value of the field as the file has it.
func (k key) print(v reflect.Value) any {
	if q := quantities[k.typ]; q.form != "" {
		return q.text(float64(v.Int()))
	}
	switch x := v.Interface().(type) {
	case *regexp.Regexp:
		if x == nil {
			return ""
		}
		return x.String()
	case work.RepoName:
		return x.String()
	}
	switch {
	case v.Kind() == reflect.Slice && v.IsNil(): // which TOML would omit
		return []string{}
	case k.tag.Get("flag") != "" && (v.String() == "" || v.String() == "true"):
		return v.String() == "true"
	}
	return v.Interface()
}

// printedDefault returns the default as the file has it, or the zero value.
func (k key) printedDefault() any {
	x := reflect.New(k.typ).Elem()
	if v := k.fallback(); v != nil {
		got, _ := k.value(v, "")
		x.Set(reflect.ValueOf(got).Convert(k.typ))
	}
	return k.print(x)
}

// sizeText formats a size as in the config.
func sizeText(n float64) string {
	if n == 0 {
		return "0"
	}
	return strings.NewReplacer(" ", "", "bytes", "B").Replace(work.SizeText(int64(n)))
}

// schema returns the JSON Schema of the value.
func (k key) schema() *jsonschema.Schema {
	s := &jsonschema.Schema{Description: k.tag.Get("words"), Type: "string"}
	texts := s
	q, counts := quantities[k.typ]
	switch s.Pattern = q.form; {
	case counts && q.form == "":
		s.Minimum, s.Maximum = new(k.bound("least", q)), new(k.bound("most", q))
		s.Type = map[reflect.Kind]string{reflect.Int: "integer", reflect.Float64: "number"}[k.typ.Kind()]
	case k.typ.Kind() == reflect.Bool:
		s.Type = "boolean"
	case k.typ.Kind() == reflect.Slice:
		texts = &jsonschema.Schema{Type: "string"}
		s.Type, s.Items = "array", texts
	case k.tag.Get("flag") != "":
		s.Type, s.Types = "", []string{"boolean", "string"}
	}
	for _, c := range k.choice() {
		texts.Enum = append(texts.Enum, c)
	}
	if k.fallback() != nil {
		s.Default, _ = json.Marshal(k.printedDefault()) // texts, numbers and flags always encode
	}
	return s
}
