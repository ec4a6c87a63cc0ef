package cmd

import (
	"os"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// The table in the docs is the one that comments are answered with.
func TestDocsHaveTheCommands(t *testing.T) {
	b, err := os.ReadFile("../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), "\n"+work.HelpTable()+"\n") {
		t.Errorf("docs/commands.md lacks this table:\n%s", work.HelpTable())
	}
}

func TestPlainAnswers(t *testing.T) {
	got := plain("Look at it; `/mergexo unblock --head 1a2b3c4` goes on, or `/mergexo small-job` on #3. The label `agent:ignore` stays.", "octo/app#2")
	if want := "Look at it; gh mergexo unblock octo/app#2 --head 1a2b3c4 goes on, or gh mergexo small-job octo/app#3. The label agent:ignore stays."; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
