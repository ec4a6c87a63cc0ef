package config

import (
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
	switch reflect.Zero(k.typ).Interface().(type) {
	case bool:
		return as[bool](v, "true or false")
	case int:
		return k.count(v)
	case int64:
		return k.size(v)
	case float64:
		return k.number(v)
	case time.Duration:
		return k.duration(v)
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

func (k key) count(v any) (int, string) {
	n, wrong := as[int64](v, "a whole number")
	if least, most := k.bound("least"), k.bound("most"); wrong == "" && (float64(n) < least || float64(n) > most) {
		wrong = fmt.Sprintf("want %.0f to %.0f, got %d", least, most, n)
	}
	return int(n), wrong
}

// bound returns a bound of a number.
func (k key) bound(name string) float64 {
	n, _ := strconv.ParseFloat(k.tag.Get(name), 64)
	return n
}

// number reads a number from 0.
func (k key) number(v any) (float64, string) {
	if whole, ok := v.(int64); ok {
		v = float64(whole)
	}
	n, wrong := as[float64](v, "a number")
	if most := k.bound("most"); wrong == "" && !(n >= 0 && n <= most) { // written so that NaN fails, too
		text := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) } // without an exponent
		wrong = fmt.Sprintf("want 0 to %s, got %s", text(most), text(n))
	}
	return n, wrong
}

// mostTime is the longest time that a key accepts.
const mostTime = 7 * 24 * time.Hour

func (k key) duration(v any) (time.Duration, string) {
	const want = `a time such as "90s", "30m" or "24h"`
	s, wrong := as[string](v, want)
	if wrong != "" {
		return 0, wrong
	}
	d, err := time.ParseDuration(s)
	least, _ := time.ParseDuration(k.tag.Get("least"))
	switch {
	case err != nil:
		wrong = fmt.Sprintf("want %s, got %q", want, s)
	case d < least || d > mostTime:
		wrong = fmt.Sprintf("want %s to %s, got %q", least, mostTime, s)
	}
	return d, wrong
}

// The regular expressions of times and sizes, for the schema.
const (
	timeForm = `^([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))*$`
	sizeForm = `^(0|[0-9]+(\.[0-9]+)? ?(B|KiB|MiB|GiB|TiB|KB|MB|GB|TB))$`
)

// units are the units of sizes, in bytes.
var units = map[string]float64{
	"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
}

var sizeParts = lazy.Regexp(`^([0-9]+(?:\.[0-9]+)?) ?([KMGT]?i?B)$`)

// size reads a size such as "8GiB" as bytes. "0" means no limit.
func (k key) size(v any) (int64, string) {
	const (
		most = 1 << 50
		want = `a size such as "8GiB" or "512MiB", or "0" for no limit`
	)
	s, wrong := as[string](v, want)
	if wrong != "" || s == "0" {
		return 0, wrong
	}
	n, known := bytesOf(s)
	least, _ := bytesOf(k.tag.Get("least"))
	switch {
	case !known:
		wrong = fmt.Sprintf("want %s; got %q", want, s)
	case n > most:
		wrong = fmt.Sprintf(`want at most %s, or "0" for no limit; got %q`, work.SizeText(most), s)
	case n < least:
		wrong = fmt.Sprintf(`want at least %s, or "0" for no limit; got %q`, work.SizeText(int64(least)), s)
	}
	return int64(n), wrong
}

func bytesOf(s string) (n float64, known bool) {
	m := sizeParts().FindStringSubmatch(s)
	if m == nil || units[m[2]] == 0 {
		return 0, false
	}
	n, _ = strconv.ParseFloat(m[1], 64) // digits always parse; too many are infinite
	return n * units[m[2]], true
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
	switch x := v.Interface().(type) {
	case time.Duration:
		return short(x)
	case int64:
		return sizeText(x)
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
func sizeText(n int64) string {
	if n == 0 {
		return "0"
	}
	return strings.NewReplacer(" ", "", "bytes", "B").Replace(work.SizeText(n))
}

// short formats a duration for people: 30m, not 30m0s.
func short(d time.Duration) string {
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}

// schema returns the JSON Schema of the value.
func (k key) schema() *jsonschema.Schema {
	s := &jsonschema.Schema{Description: k.tag.Get("words"), Type: "string"}
	texts := s
	switch reflect.Zero(k.typ).Interface().(type) {
	case bool:
		s.Type = "boolean"
	case int:
		s.Type, s.Minimum, s.Maximum = "integer", new(k.bound("least")), new(k.bound("most"))
	case float64:
		s.Type, s.Minimum, s.Maximum = "number", new(0.0), new(k.bound("most"))
	case time.Duration:
		s.Pattern = timeForm
	case int64:
		s.Pattern = sizeForm
	}
	switch {
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
