package work

import (
	"errors"
	"strings"
	"testing"
)

// TestContain: a panic is an error with its place in this program, whatever panics and in whichever goroutine.
func TestContain(t *testing.T) {
	var none []int
	at := 3
	for name, do := range map[string]func() error{
		"a value":            func() error { panic("no") },
		"an index":           func() error { return errors.New(string(rune(none[at]))) },
		"a library":          func() error { return errors.New(strings.Repeat("x", at-4)) },
		"another goroutine":  func() error { var g Group; g.Go(func() { panic("no") }); g.Wait(); return nil },
		"one of a goroutine": func() error { return Contain("inner", func() error { panic("no") }) },
	} {
		err := Contain("do it", do)
		e, ok := errors.AsType[*PanicError](err)
		if !ok || !strings.HasPrefix(e.Place, "internal/work/contain_test.go:") || e.Value == "" || e.Stack == "" {
			t.Errorf("%s: %+v", name, err)
		}
	}
	if err := Contain("do it", func() error { return nil }); err != nil {
		t.Error(err)
	}
	if own := errors.New("own"); Contain("do it", func() error { return own }) != own { //nolint:errorlint // the same
		t.Error("the function's own error is returned as it is")
	}
}
