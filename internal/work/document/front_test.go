package document

import (
	"cmp"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

var narrow = Bounds{Bytes: 64 << 10, Entries: 200, Depth: 4}

// plainOf returns a value as goccy/go-yaml has it if it reads all texts as texts.
func plainOf(v Value) any {
	switch v.Kind {
	case Text:
		return v.Text
	case List:
		all := []any{}
		for _, e := range v.List {
			all = append(all, plainOf(e))
		}
		return all
	case Mapping:
		all := map[string]any{}
		for _, k := range v.Keys {
			all[k.Name] = plainOf(k.Value)
		}
		return all
	case Empty:
	}
	return nil
}

// What is read is what YAML means.
func TestFrontIsReadAsYAML(t *testing.T) {
	for _, head := range []string{
		"a: b\n", "a: \"b: c\" # remark\n", "a: 'it''s'\n", "a: b # remark\n", "a: b#c\n", "# remark\na: b\n\n  # remark\nc: d\n", "a:\nb: ~\nc: null\n",
		"a: []\nb: {}\n", "a: [x, \"y, z\", 'w']\n", "a: [x,\n  y, # remark\n  z,\n]\n", "a:\n  - x\n  - y\n", "a:\n- x\n- \"y: z\"\nb: c\n", "a:\n  -\n  - ~\n",
		"n:\n  - i: a\n    t: \"b\"\n    x: [c, d]\n  - {i: b, t: c d, x: [a]}\n  -   i: c\n      x:\n        - a\n        - b\n", "a: {b: c, \"d\":e, f: }\n", "\"a b\": c\n'd': e\n",
		"a: \"\\u00e9\\x41\\n\\t\\\\ \\U0001F600\\_\"\n", "a: x:y\n", "a: -x\n", "a: http://b.c/#d\n", "a: [x:y, -z]\n", "a: b-c, d\n", "-x: y\n", "a: b   \n", "a:   [ x ]   # remark\n",
	} {
		v, fault := ReadFront(head, narrow)
		if fault != nil {
			t.Errorf("%q: %s", head, fault)
			continue
		}
		var want any
		if err := yaml.Unmarshal([]byte(head), &want); err != nil {
			t.Fatalf("%q: %v", head, err)
		}
		if got := plainOf(v); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %#v, want %#v", head, got, want)
		}
	}
}

// Numbers and booleans are the texts that are written.
func TestTextsOfFrontAreAsWritten(t *testing.T) {
	v, fault := ReadFront("a: 012\nb: true\nc: 1e3\nd: 0x1f\ne: .inf\nf: 2026-11-28\n", narrow)
	want := map[string]any{"a": "012", "b": "true", "c": "1e3", "d": "0x1f", "e": ".inf", "f": "2026-11-28"}
	if got := plainOf(v); fault != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, fault)
	}
}

func TestEachFaultOfFrontHasItsLine(t *testing.T) {
	for head, want := range map[string]Fault{
		"a: b\ntouch_paths: !!str x\n":        {3, `begins with a YAML tag (!); write the text in quotes, on one line: "touch_paths: !!str x"`},
		"depends_on: !x \n":                   {2, "a YAML tag"},
		"touch_paths: !!seq\n":                {2, "a YAML tag"},
		"!!map\na: b\n":                       {2, "a YAML tag"},
		"a: &x [y]\n":                         {2, "a YAML anchor"},
		"a: *x\n":                             {2, "a YAML alias"},
		"a: [*x]\n":                           {2, "a YAML alias"},
		"a: {b: !c d}\n":                      {2, "a YAML tag"},
		"a: |\n  x\n":                         {2, "a text over several lines"},
		"a: >-\n  x\n":                        {2, "a text over several lines"},
		"a: b\n  c\n":                         {3, "indented unlike"},
		"a: \"b\n  c\"\n":                     {2, "does not end on its line"},
		"a: 'b\n":                             {2, "does not end on its line"},
		"a: \"\\q\"\n":                        {2, "a backslash"},
		"a: \"\\ud83d\"\n":                    {2, "a backslash"},
		"a: b: c\n":                           {2, "has a colon"},
		"a: [b: c]\n":                         {2, "a comma or ] is missing"},
		"a: [b\n":                             {2, "does not end"},
		"a: [b] c\n":                          {2, "behind a list"},
		"a: \"b\" c\n":                        {2, "behind a text"},
		"a: {b}\n":                            {2, "has no colon"},
		"a: - b\n":                            {2, "a list begins on the line of its key"},
		"a: [- b]\n":                          {2, "a list with - is inside of brackets"},
		"a: b\na: c\n":                        {3, `the key "a" twice, first on line 2`},
		"a: {b: c, b: d}\n":                   {2, `the key "b" twice`},
		"<<: {a: b}\n":                        {2, "merges another mapping"},
		"? a\n: b\n":                          {2, "the sign ?"},
		"%YAML 1.2\n":                         {2, "the sign %"},
		"a: @b\n":                             {2, "the sign @"},
		"a: b\nc\n":                           {3, "neither a key"},
		"a: b\n- c\n":                         {3, "belongs to nothing"},
		"a:\n    b: c\n  d: e\n":              {4, "indented unlike"},
		"\ta: b\n":                            {2, "begins with a tab"},
		"a: \x01\n":                           {2, "control character"},
		"a: \xff\n":                           {2, "UTF-8"},
		"a: [[[[b]]]]\n":                      {2, "more than 4 deep"},
		"a:\n - - - - b\n":                    {3, "more than 4 deep"},
		strings.Repeat("a: b\n", 20000):       {1, "bytes"},
		"a: [" + strings.Repeat("b,", 201):    {2, "more than 200 entries"},
		"a:\n" + strings.Repeat("- b\n", 201): {203, "more than 200 entries"},
		strings.Repeat("a", 200) + ": [\n":    {2, "a text of 203 characters"},
	} {
		v, fault := ReadFront(head, narrow)
		if fault == nil || fault.Line != want.Line || !strings.Contains(fault.Says, want.Says) {
			t.Errorf("%.60q: got %v, %v, want %v", head, v, fault, want)
		}
	}
}

// A few kilobytes take milliseconds and kilobytes, whatever they are.
func TestHostileFrontIsCheap(t *testing.T) {
	for _, piece := range []string{"[", "{", "- ", "? ", "[a: ", "{a: {", "\"", "'", "!!str ", "&a ", "*a ", "a: ", "#", " #", "|", "\\", "[,", "a:\n ", "-\n ", " ", "\n", "[\n", ": ", "\u00a0"} {
		for _, before := range []string{"", "a: ", "a: [", "a:\n  ", "a: \""} {
			head := before + strings.Repeat(piece, 40<<10/len(piece))
			var m, n runtime.MemStats
			runtime.ReadMemStats(&m)
			began := time.Now()
			_, _ = ReadFront(head, narrow)
			took := time.Since(began)
			runtime.ReadMemStats(&n)
			if room := n.TotalAlloc - m.TotalAlloc; took > time.Second || room > 16<<20 {
				t.Errorf("%q and 40 kB of %q: %s, %d bytes", before, piece, took, room)
			}
		}
	}
}

// FuzzFront: nothing panics, and what the library reads in the same way is read as the library has it.
func FuzzFront(f *testing.F) {
	for _, head := range []string{
		"a: b\n", "touch_paths: !!str x", "depends_on: !x ", "touch_paths: !!seq", "[[[[", "n:\n  - {id: a, needs: [b, c]}\n  - id: b\n", "a: \"\\u00e9\" # x\n", "a: &x [*x]\n", "- - - a\n", "a: [b,\n c]\n",
	} {
		f.Add(head)
	}
	f.Fuzz(func(t *testing.T, head string) {
		if len(head) > 64<<10 {
			return
		}
		began := time.Now()
		v, fault := ReadFront(head, narrow)
		if took := time.Since(began); took > 10*time.Second {
			t.Fatalf("took %s", took)
		}
		if fault != nil {
			if fault.Line < 1 || fault.Line > firstOfFront+strings.Count(head, "\n") || strings.Contains(fault.Says, "\n") || len(fault.Says) > 1000 {
				t.Fatalf("%v is not one short line of the document", fault)
			}
			return
		}
		if again, fault := ReadFront(written(v, 0), narrow); fault != nil || !reflect.DeepEqual(plainOf(again), plainOf(v)) {
			t.Fatalf("%v is written as\n%s\nand read as %v, %v", v, written(v, 0), again, fault)
		}
	})
}

// written returns a value as this program writes front matter.
func written(v Value, indent int) string {
	var b strings.Builder
	switch v.Kind {
	case Empty:
		return "~"
	case Text:
		return Scalar(v.Text)
	case List:
		for i, e := range v.List {
			if i == 0 {
				b.WriteString("[")
			}
			fmt.Fprintf(&b, "%s,", written(e, indent+1))
		}
		return strings.TrimSuffix(cmp.Or(b.String(), "["), ",") + "]"
	case Mapping:
		if indent > 0 || len(v.Keys) == 0 {
			for _, k := range v.Keys {
				fmt.Fprintf(&b, "%s: %s, ", Scalar(k.Name), written(k.Value, indent+1))
			}
			return "{" + b.String() + "}"
		}
		for _, k := range v.Keys {
			fmt.Fprintf(&b, "%s: %s\n", Scalar(k.Name), written(k.Value, indent+1))
		}
	}
	return b.String()
}
