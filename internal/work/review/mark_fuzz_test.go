package review

import (
	"encoding/base64"
	"reflect"
	"testing"
)

// What is read of any text is what is written of it.
func FuzzMark(f *testing.F) {
	for _, s := range []string{
		"", `{"v":1,"head":"a","decision":"approve"}`, "[[[[", `{"id":"F1","reviewer":"a","line":1e99}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, mark := range []string{s, base64.RawURLEncoding.EncodeToString([]byte(s))} {
			if v, resolved, found, ok := ParseMark(mark); ok {
				v2, resolved2, found2, ok := ParseMark(Mark(v, resolved, found))
				if !ok || !reflect.DeepEqual(v2, v) || len(resolved2) != len(resolved) || !reflect.DeepEqual(found2, found) {
					t.Fatalf("%+v %q %+v is read back as %+v %q %+v", v, resolved, found, v2, resolved2, found2)
				}
			}
			if x, ok := ParseFinding(mark); ok {
				x.Path, x.Line = "", 0
				if again, ok := ParseFinding(MarkFinding(x)); !ok || !reflect.DeepEqual(again, x) {
					t.Fatalf("%+v is read back as %+v", x, again)
				}
			}
		}
	})
}
