// This file makes the keys of the config from the tags of its structs. Reading, printing, the example,
// the schema and hints about misplaced keys are made of the keys.

package config

import (
	"reflect"
	"strings"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// key is a key of a table: a field of its struct. The tags of the field are:
//
//	toml      the name; ",inline" for a struct whose keys are in the same table
//	words     what it is
//	default   what holds without it, without quotes; none: nothing, or what a rule makes of it
//	show      the value in the example, if that is not the default
//	required  what to write if it is missing
//	least     the least number, size or time
//	most      the greatest number
//	oneof     the texts that it accepts, unless its type has a few
//	else      what the message about another text says, too
//	flag      true and false are accepted beside a text; in words, for messages
type key struct {
	name  string
	index []int // of the field, for reflect.Value.FieldByIndex
	typ   reflect.Type
	tag   reflect.StructTag

	inner reflect.Type // the struct of its table, or of each of its tables; nil: it has a value
	below string       // how the paths of those tables continue that of the key
}

// tagsOf are the tags of structs of other packages, which know nothing of files.
var tagsOf = map[reflect.Type]map[string]reflect.StructTag{
	// The limits exceed what honest work needs, but stay below what an operator would mind overnight.
	reflect.TypeFor[work.Budgets](): {
		"TurnsPerItem": `toml:"max_turns_per_item" default:"30" least:"0" most:"100000" words:"turns of one item; then it waits for a person; 0: no limit"`,
		"CostPerItem":  `toml:"max_cost_per_item_usd" default:"25" most:"100000" words:"cost of one item, as reported or by usd_per_million; 0: no limit"`,
		"CostPerTurn":  `toml:"max_cost_per_turn_usd" default:"20" most:"100000" words:"cost of one turn; then the agent is stopped, and its changes are kept; 0: no limit"`,
		"TurnsPerDay":  `toml:"max_turns_per_day" default:"200" least:"0" most:"100000" words:"turns of all repositories and machines in any 24 hours; then everything waits; 0: no limit"`,
		"CostPerDay":   `toml:"max_cost_per_day_usd" default:"100" most:"100000" words:"cost of all repositories and machines in any 24 hours; then everything waits; 0: no limit"`,
	},
	reflect.TypeFor[spending.Prices](): {
		"Input":     `toml:"input" most:"1000000" required:"input = 1.25" words:"what is read for the first time, and what is written to a cache"`,
		"CacheRead": `toml:"cached" most:"1000000" words:"what is read from a cache; default: as input"`,
		"Output":    `toml:"output" most:"1000000" required:"output = 10" words:"what is written"`,
	},
	reflect.TypeFor[roadmap.Limits](): {
		"Parallel": `toml:"parallel" default:"3" least:"1" most:"100" words:"issues below one roadmap that are under way at a time, those of its nested roadmaps too"`,
		"MaxCost":  `toml:"max_cost" default:"0" most:"1000000" words:"cost of everything below one roadmap, in US dollars; then nothing more of it begins; 0: no limit"`,
	},
}

// choices are the texts of the types that have a few.
var choices = map[reflect.Type][]string{
	reflect.TypeFor[Draft]():           {string(UntilGreen), ""},
	reflect.TypeFor[work.Sandbox]():    names(work.Sandboxes()),
	reflect.TypeFor[merging.Method]():  append(names(merging.Methods()), ""),
	reflect.TypeFor[review.Severity](): names(review.Severities()),
	reflect.TypeFor[work.Flow]():       append(names(work.Flows()), string(work.FlowReview)),
}

func names[T ~string](all []T) []string {
	out := make([]string, len(all))
	for i, x := range all {
		out[i] = string(x)
	}
	return out
}

// choice returns the texts that a key accepts; nil: any.
func (k key) choice() []string {
	if few := k.tag.Get("oneof"); few != "" {
		return strings.Fields(few)
	}
	if k.typ.Kind() == reflect.Slice {
		return choices[k.typ.Elem()]
	}
	return choices[k.typ]
}

// keysOf returns the keys of the table that is read into a struct, in its order.
func keysOf(t reflect.Type) (all []key) {
	if known, ok := keysKnown.Load(t); ok {
		return known.([]key)
	}
	defer func() { keysKnown.Store(t, all) }()
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag
		if beside, ok := tagsOf[t]; ok {
			tag = beside[f.Name]
		}
		name, _, inline := strings.Cut(tag.Get("toml"), ",")
		switch {
		case inline:
			for _, k := range keysOf(f.Type) {
				k.index = append([]int{i}, k.index...)
				all = append(all, k)
			}
		case name != "":
			k := key{name: name, index: []int{i}, typ: f.Type, tag: tag}
			inner := f.Type
			below, holds := holders[inner.Kind()]
			if holds {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct && len(keysOf(inner)) > 0 {
				k.inner, k.below = inner, below
			}
			all = append(all, k)
		}
	}
	return all
}

// keysKnown are the keys of the structs that were asked for: a pass reads a table for each repository.
var keysKnown sync.Map

// holders are the types that hold tables, and how the paths of those continue.
var holders = map[reflect.Kind]string{reflect.Pointer: "", reflect.Slice: "[]", reflect.Map: "." + everyAgent}

// table is a table of the config: its path, with [] behind an array of tables and everyAgent for the
// name of an agent, such as "repo[].review", its words and its keys.
type table struct {
	path, words string
	keys        []key // without those of tables
}

// everyAgent replaces the name of an agent in a path.
const everyAgent = "*"

// tables returns all tables of a config, in the example's order.
var tables = sync.OnceValue(func() []table { return tablesBelow("", reflect.TypeFor[Config]()) })

func tablesBelow(path string, t reflect.Type) (all []table) {
	for _, k := range keysOf(t) {
		if k.inner == nil {
			continue
		}
		at := table{path: join(path, k.name) + k.below, words: k.tag.Get("words")}
		for _, k := range keysOf(k.inner) {
			if k.inner == nil {
				at.keys = append(at.keys, k)
			}
		}
		all = append(append(all, at), tablesBelow(at.path, k.inner)...)
	}
	return all
}

// marked returns a path with a mark in place of each number of a table: "repo[1].review" or "repo[].review".
func marked(path, mark string) string {
	before, number, is := strings.Cut(path, "[")
	if !is {
		return path
	}
	_, rest, _ := strings.Cut(number, "]")
	return before + mark + marked(rest, mark)
}

// ofAll returns a path as those of tables are: without the numbers of tables and names of agents.
func ofAll(path string) string {
	parts := strings.Split(marked(path, "[]"), ".")
	if parts[0] == "agents" && len(parts) > 1 {
		parts[1] = everyAgent
	}
	return strings.Join(parts, ".")
}

// tableName is how people write the table at a path.
func tableName(path string) string {
	name := strings.Replace(marked(path, ""), everyAgent, "NAME", 1)
	if strings.HasSuffix(path, "]") {
		return "[[" + name + "]]"
	}
	return "[" + name + "]"
}

func join(path, part string) string {
	if path == "" {
		return part
	}
	return path + "." + part
}
