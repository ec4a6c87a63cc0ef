package work

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// What a comment about a stop carries is read back when the database is gone, whatever
// the reason quotes; what is this machine's business is not in it.
func TestAStopIsReadBackFromItsMarker(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Stop{
			Number: 7,
			Reason: Reason{
				Kind: WhyQuestion, Text: rapid.StringN(0, 300, 900).Draw(t, "text"), Local: "/home/me", Names: rapid.SliceOfN(rapid.String(), 1, 3).Draw(t, "names"),
				Number: rapid.Int().Draw(t, "number"), Name: MaxCostPerItem, Used: 4.5, Limit: 3,
			},
			Attempts: rapid.IntRange(1, 9).Draw(t, "attempts"), Since: time.UnixMilli(rapid.Int64Range(1, 1<<42).Draw(t, "since")).UTC(),
		}
		body := Mark("gh mergexo stopped here", Marks{Token: strings.Repeat("a", 64), Stop: MarkStop(want)})
		if strings.ContainsFunc(body, func(r rune) bool { return r > '~' }) {
			t.Errorf("not ASCII: %q", body)
		}
		marks, _ := ParseMarks(body)
		got, ok := ParseStop(marks.Stop, 7)
		want.Reason.Local, want.Reason.Used, want.Reason.Limit = "", 0, 0
		for i, n := range want.Reason.Names { // JSON has no invalid UTF-8
			want.Reason.Names[i] = strings.ToValidUTF8(n, "\uFFFD")
		}
		want.Reason.Text = strings.ToValidUTF8(want.Reason.Text, "\uFFFD")
		if !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("read %+v, %v of\n%s", got, ok, body)
		}
		if _, ok := ParseStop(marks.Stop, 8); ok {
			t.Error("a paste in another conversation is taken for a stop there")
		}
	})
	for _, other := range []string{"", "e30", "bm90IEpTT04", "!"} {
		if got, ok := ParseStop(other, 0); ok {
			t.Errorf("read %+v of %q", got, other)
		}
	}
}

// However much a reason says, its marker leaves room for what people read.
func TestAMarkersLengthIsBounded(t *testing.T) {
	long := strings.Repeat("<é>", 20000)
	for name, r := range map[string]Reason{
		"text":   {Kind: WhyQuestion, Text: long},
		"name":   {Kind: WhyFlakyTest, Name: long},
		"advice": {Kind: WhyChangeRefused, Text: long, Advice: long},
		"names":  {Kind: WhyNotFixed, Names: slices.Repeat([]string{strings.Repeat("matrix ", 30)}, 400)},
		"bytes":  {Kind: WhyQuestion, Text: strings.Repeat("\xff", 20000)},
	} {
		mark := MarkStop(Stop{Number: 7, Reason: r, Attempts: 1, Since: time.UnixMilli(1)})
		got, ok := ParseStop(mark, 7)
		if !ok || len(mark) > 50000 || got.Reason.Kind != r.Kind {
			t.Errorf("%s: %d characters, read %v", name, len(mark), ok)
		}
		if said := got.Reason; len(said.Text)+len(said.Name) == 0 && name == "text" || name != "bytes" && strings.Contains(said.Text+said.Name, "\uFFFD") {
			t.Errorf("%s: nothing, or half a character, is left of it: %.40q", name, said)
		}
	}
}

// What an agent says is not taken for another part of a reason.
func TestPartsOfAReasonStayApart(t *testing.T) {
	for _, two := range [][2]Reason{
		{{Kind: WhyQuestion, Text: "a\x00b"}, {Kind: WhyQuestion, Text: "a", Who: "b"}},
		{{Kind: WhyNotFixed, Names: []string{"a\x00b"}}, {Kind: WhyNotFixed, Names: []string{"a", "b"}}},
		{{Kind: WhyNotFixed, Names: []string{`a" "b`}}, {Kind: WhyNotFixed, Names: []string{"a", "b"}}},
		{{Kind: WhyQuestion, Text: "a\x00b\x00\x00\x00\x000"}, {Kind: WhyQuestion, Text: "a", Names: []string{"b"}}},
	} {
		if two[0].Same(two[1]) {
			t.Errorf("%#v is taken for %#v", two[0], two[1])
		}
	}
	bytes, stored := Reason{Kind: WhyQuestion, Text: "\xff\xfe?"}, Reason{}
	if b, err := json.Marshal(bytes); err != nil || json.Unmarshal(b, &stored) != nil || !bytes.Same(stored) {
		t.Errorf("%v is another one once it is stored", bytes)
	}
}

// The same reason is the same stop, whatever moves or grows while it lasts.
func TestWhatMovesInAReasonIsNoOtherStop(t *testing.T) {
	r := Reason{Kind: WhyRewritten, Branch: "b", Commit: "c", Head: "1", Used: 1, Count: 1, Local: "x"}
	o := r
	o.Head, o.Used, o.Count, o.Local = "2", 2, 2, "y"
	if !r.Same(o) || r.Equal(o) {
		t.Errorf("%v and %v", r, o)
	}
	for _, other := range []Reason{{Kind: WhyBranchGone, Branch: "b", Commit: "c"}, {Kind: WhyRewritten, Branch: "b", Commit: "d"}, {Kind: WhyRewritten, Branch: "bc"}} {
		if r.Same(other) {
			t.Errorf("%v is taken for %v", other, r)
		}
	}
}
