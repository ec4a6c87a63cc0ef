package testhome

import (
	"os"
	"sync"
	"testing"
)

// Variable asks for the whole of the tests: MERGEXO_TEST=long. Without it go test leaves out what takes
// minutes or needs other programs.
const Variable = "MERGEXO_TEST"

// Long reports whether the whole of the tests is asked for. Another value than "long" panics: it would
// leave tests out that somebody wanted.
var Long = sync.OnceValue(func() bool {
	switch level := os.Getenv(Variable); level {
	case "":
		return false
	case "long":
		return !testing.Short()
	default:
		panic(Variable + "=" + level + ": only " + Variable + "=long is known")
	}
})

// OnlyLong skips a test unless the whole of the tests is asked for.
func OnlyLong(t testing.TB) {
	t.Helper()
	if !Long() {
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
