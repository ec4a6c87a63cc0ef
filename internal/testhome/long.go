package testhome

import (
	"os"
	"slices"
	"sync"
	"testing"
)

// Variable asks for the whole of the tests: MERGEXO_TEST=long. Without it go test leaves out what takes
// minutes or needs other programs. MERGEXO_TEST=rest leaves out the stories that go test
// plays without the variable: CI runs both, and of the tests those alone that internal/arrows/leveled prints. It
// also leaves out what NotRest names.
const Variable = "MERGEXO_TEST"

// level is what the variable asks for. Another value than those known panics: it would leave tests out
// that somebody wanted.
var level = sync.OnceValue(func() string {
	level := os.Getenv(Variable)
	if !slices.Contains([]string{"", "rest", "long", "all"}, level) {
		panic(Variable + "=" + level + ": only " + Variable + "=long, rest and all are known")
	}
	return level
})

// Long reports whether the whole of the tests is asked for.
func Long() bool { return level() != "" && !testing.Short() }

// Rest reports whether the stories of a run without the variable are left out.
func Rest() bool { return level() == "rest" && !testing.Short() }

// All reports whether sweeps are played whole, which takes hours: MERGEXO_TEST=all, for a night.
func All() bool { return level() == "all" && !testing.Short() }

// OnlyLong skips a test unless the whole of the tests is asked for.
func OnlyLong(t testing.TB) {
	t.Helper()
	if !Long() {
		t.Skip("left out: " + Variable + "=long plays it")
	}
}

// NotRest skips a test that CI leaves to the nightly workflow.
func NotRest(t testing.TB) {
	t.Helper()
	if Rest() {
		t.Skip("left out: " + Variable + "=long plays it")
	}
}

// NotShort skips a test with -short, which is for the loop while writing.
func NotShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short")
	}
}
