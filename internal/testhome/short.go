package testhome

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// InShort names the tests that go test -short plays in a package whose tests start programs: for the loop
// while writing, what is broken first. A pattern of -run plays all that it names. A TestMain calls it. It
// panics at a name that no file of the package has, also without -short: nobody would miss the test.
func InShort(names ...string) {
	if !flag.Parsed() {
		flag.Parse()
	}
	has := testsHere()
	for _, name := range names {
		if has != "" && !strings.Contains(has, "\nfunc "+name+"(") {
			panic("go test -short is to play " + name + ", and there is no such test")
		}
	}
	run := flag.Lookup("test.run")
	if !testing.Short() || run.Value.String() != "" {
		return
	}
	_ = run.Value.Set("^(" + strings.Join(names, "|") + ")$")
}

// testsHere returns the text of the package's tests: a test runs in its folder. What it starts may run elsewhere:
// then it is empty.
func testsHere() string {
	files, _ := filepath.Glob("*_test.go")
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(filepath.Clean(file))
		if err != nil {
			panic(err)
		}
		all.Write(text)
	}
	return all.String()
}
