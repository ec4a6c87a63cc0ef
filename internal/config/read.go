// This file reads a document into the config, strictly: every key has a place, and every problem a line.

package config

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// parser reads a config: first all values into their fields, then its rules follow, table by table.
type parser struct {
	*report

	env    environ.Env
	host   string
	config *Config
}

// open reads the values of a document. Invalid TOML is an InvalidError; all other problems are in the
// report.
func open(path, doc string, env environ.Env, host string) (*parser, error) {
	var values map[string]any
	meta, err := toml.Decode(doc, &values)
	if err != nil {
		return nil, syntaxError(path, err)
	}
	p := &parser{report: newReport(path, doc, meta), env: env, host: host, config: &Config{Path: path}}
	p.table("", values, reflect.ValueOf(p.config).Elem())
	return p, nil
}

// table reads a table into a struct.
func (p *parser) table(path string, values map[string]any, to reflect.Value) {
	t, known := p.at(path), []string{}
	for _, k := range keysOf(to.Type()) {
		known = append(known, k.name)
		field := to.FieldByIndex(k.index)
		set := func(v any) string {
			x, wrong := k.value(v, p.host)
			if wrong == "" {
				field.Set(reflect.ValueOf(x).Convert(k.typ))
			}
			return wrong
		}
		if fallback := k.fallback(); fallback != nil {
			set(fallback)
		}
		v, written := values[k.name]
		if k.inner != nil {
			set = func(v any) string { return p.below(k, t.to(k.name), v, field) }
			if !written {
				set(nil)
			}
		}
		switch required := k.tag.Get("required"); {
		case written:
			p.written[t.to(k.name)] = true
			if wrong := set(v); wrong != "" {
				t.bad(k.name, "%s", wrong)
				p.wrong[t.to(k.name)] = true
			}
		case required != "":
			t.missing(k.name, "missing; write "+required)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(known, name) {
			t.unknown(name, values[name], known)
		}
	}
}

// below reads the table of a key, or all of its tables, and says what is wrong with the value; empty:
// nothing. A table that is not written has its defaults.
func (p *parser) below(k key, path string, v any, to reflect.Value) (wrong string) {
	var one map[string]any
	var several []map[string]any
	switch show := k.tag.Get("show"); {
	case v == nil:
	case k.below == "[]":
		several, wrong = as[[]map[string]any](v, tableName(path+k.below)+" in two brackets, as there may be several")
	case show != "":
		one, wrong = as[map[string]any](v, "a table such as "+show)
	default:
		one, wrong = as[map[string]any](v, "a table: "+tableName(path))
	}
	read := func(path string, values map[string]any) reflect.Value {
		x := reflect.New(k.inner)
		p.table(path, values, x.Elem())
		return x
	}
	switch {
	case to.Kind() == reflect.Struct:
		to.Set(read(path, one).Elem())
	case to.Kind() == reflect.Pointer && one != nil:
		to.Set(read(path, one))
	case to.Kind() == reflect.Map:
		to.Set(reflect.MakeMap(k.typ))
		for _, name := range slices.Sorted(maps.Keys(one)) {
			values, not := as[map[string]any](one[name], "a table: ["+join(path, name)+"]")
			if not != "" {
				p.at(path).bad(name, "%s", not)
			}
			to.SetMapIndex(reflect.ValueOf(name), read(join(path, name), values).Elem())
		}
	}
	for i, values := range several {
		to.Set(reflect.Append(to, read(path+"["+strconv.Itoa(i)+"]", values).Elem()))
	}
	return wrong
}

// unknown adds a problem with a key that its table does not have.
func (t place) unknown(name string, value any, known []string) {
	if now := former[ofAll(t.to(name))]; now != "" {
		t.bad(name, "there is no such key any more: %s; remove it", now)
		return
	}
	kind, in := "key "+strconv.Quote(name), " in "+tableName(t.path)
	if t.path == "" {
		in = " outside any table"
		switch value.(type) {
		case map[string]any, []map[string]any:
			kind, in = "table ["+name+"]", ""
		}
	}
	t.add(t.to(name), "unknown %s%s%s", kind, in, t.suggest(name, known))
	if n := work.Nearest(name, known); n != "" {
		t.problems[len(t.problems)-1].meant = t.to(n)
	}
}

// suggest is the end of the message about an unknown key: where a key of that name belongs, or else
// the known one that is nearest.
func (t place) suggest(name string, known []string) string {
	places := belongs(name)
	switch {
	case len(places) > 0:
		return "; " + strings.Join(places, ", or ")
	case t.path != "":
		return meant(name, known, "%q")
	case work.Nearest(name, known) == "repo":
		return "; did you mean [[repo]]?"
	}
	return meant(name, known, "[%s]")
}

// belongs returns, in words, the places of all keys and tables of a name.
func belongs(name string) (places []string) {
	var owners []string
	for _, t := range tables() {
		dot := strings.LastIndex(t.path, ".")
		if strings.TrimSuffix(t.path[dot+1:], "[]") == name {
			below := ""
			if t.path[:max(dot, 0)] == "repo[]" {
				below = ", below its [[repo]]"
			}
			places = append(places, "did you mean "+tableName(t.path)+below+"?")
		}
		if slices.ContainsFunc(t.keys, func(k key) bool { return k.name == name }) {
			owners = append(owners, tableName(t.path))
		}
	}
	if len(owners) > 0 {
		places = append(places, "it belongs to "+strings.Join(owners, " or "))
	}
	return places
}
