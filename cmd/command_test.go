package cmd

import (
	"os"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// The table in the docs is the one that comments are answered with.
func TestDocsHaveTheCommands(t *testing.T) {
	b, err := os.ReadFile("../docs/using.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), "\n"+work.CommandHelp()+"\n") {
		t.Errorf("docs/using.md lacks this table:\n%s", work.CommandHelp())
	}
}
