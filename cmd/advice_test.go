package cmd

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Commands that texts of the program tell people to type exist, and so do their flags.
func TestAdvisedCommandsExist(t *testing.T) {
	advised, root := 0, Tree()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "reference" || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			for _, words := range advisedIn(text) {
				if c, args := commandOf(root, words); c != root {
					advised++
					checkAdvice(t, path, c, words, args)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || advised < 80 {
		t.Errorf("%d commands found: %v", advised, err)
	}
}

var (
	advice = regexp.MustCompile("gh mergexo((?: [^\\s`\"',;:()]+)+)")
	ended  = regexp.MustCompile(`\.$|\.\.\.$|…$`)
)

// advisedIn returns the words of the commands in a text.
func advisedIn(text string) (all [][]string) {
	for _, found := range advice.FindAllStringSubmatch(text, -1) {
		var words []string
		for w := range strings.FieldsSeq(found[1]) {
			words = append(words, ended.ReplaceAllString(w, ""))
			if ended.MatchString(w) {
				break
			}
		}
		all = append(all, words)
	}
	return all
}

// commandOf finds the command that words begin with, and the words behind it. Prose begins with none.
func commandOf(root *cobra.Command, words []string) (*cobra.Command, []string) {
	c := root
	for len(words) > 0 {
		next := c
		for _, sub := range c.Commands() {
			if sub.Name() == words[0] || sub.HasAlias(words[0]) {
				next = sub
			}
		}
		if next == c {
			break
		}
		c, words = next, words[1:]
	}
	return c, words
}

func checkAdvice(t *testing.T, path string, c *cobra.Command, words, args []string) {
	t.Helper()
	c.InheritedFlags() // merges them
	if at := slices.Index(args, "--"); at >= 0 {
		args = args[:at] // the rest is another program's
	}
	for _, w := range args {
		name, is := strings.CutPrefix(w, "--")
		if name, _, _ = strings.Cut(name, "="); !is || strings.ContainsAny(name, "%{") {
			continue
		}
		if c.Flags().Lookup(name) == nil && c.InheritedFlags().Lookup(name) == nil && name != "help" && name != "version" {
			t.Errorf("%s: gh mergexo %s: %s has no flag --%s", path, strings.Join(words, " "), c.CommandPath(), name)
		}
	}
	if c.HasSubCommands() && !c.Runnable() && len(args) > 0 && !strings.HasPrefix(args[0], "-") && !strings.Contains(args[0], "%") {
		t.Errorf("%s: gh mergexo %s: %s has no command %s", path, strings.Join(words, " "), c.CommandPath(), args[0])
	}
}
