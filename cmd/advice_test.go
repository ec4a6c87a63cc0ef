package cmd

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/cmd/demo"
	"github.com/spf13/cobra"
)

// Commands that texts of the program tell people to type exist, and so do their flags.
func TestAdvisedCommandsExist(t *testing.T) {
	advised := 0
	eachAdvice(t, true, func(path string, c *cobra.Command, words, args []string) {
		advised++
		checkAdvice(t, path, c, words, args)
	})
	if advised < 80 {
		t.Errorf("%d commands found", advised)
	}
}

// eachAdvice calls found for each command in a text of the program, which words begin; args are behind it.
// Help explains, and advises nothing in a state.
func eachAdvice(t *testing.T, withHelp bool, found func(path string, c *cobra.Command, words, args []string)) {
	t.Helper()
	root := Tree(demo.Commands)
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
			if pair, is := n.(*ast.KeyValueExpr); is {
				if key, is := pair.Key.(*ast.Ident); is && isHelp(key.Name) {
					return withHelp
				}
			}
			if to, is := n.(*ast.AssignStmt); is {
				if field, is := to.Lhs[0].(*ast.SelectorExpr); is && isHelp(field.Sel.Name) {
					return withHelp
				}
			}
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
					found(path, c, words, args)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// isHelp reports whether a field of a command is text of its help.
func isHelp(field string) bool { return slices.Contains([]string{"Example", "Long", "Short"}, field) }

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

// typed are the lines of a story that type a command of ours and expect no failure.
var typed = regexp.MustCompile(`(?m)^(?:exec gh-mergexo|(tick))((?: .*)?)$`)

// unplayed are commands that texts name and no story can type there, each with the reason.
var unplayed = map[string]string{
	"gh mergexo completion":            "the page of help for it; ship/completion plays each shell",
	"gh mergexo completion bash":       "the same",
	"gh mergexo completion fish":       "the same",
	"gh mergexo completion powershell": "the same",
	"gh mergexo completion zsh":        "the same",
	"gh mergexo demo":                  "the notes that the demo leaves; the stories in demo/ play both",
	"gh mergexo demo --serve":          "the same",
	"gh mergexo machines":              "a move of the database waits for a pass on another machine, which no story holds there",
	"gh mergexo schedule remove":       "it is typed on the machine that a state folder came from, and a story has one machine id",
}

// A command that a text of the program tells people to type does there what the text says: some story shows it,
// types it, and continues. A typed command may have more flags than the text names.
func TestAdvisedCommandsArePlayed(t *testing.T) {
	advised, played := map[string]string{}, map[string]bool{}
	eachAdvice(t, false, func(path string, c *cobra.Command, _, args []string) { advised[shapeOf(c, args)] = path })
	stories, err := filepath.Glob(filepath.Join("..", "testdata", "script", "*", "*.txtar"))
	if err != nil || len(stories) < 500 {
		t.Fatalf("%d stories: %v", len(stories), err)
	}
	for _, path := range stories {
		text, err := os.ReadFile(filepath.Clean(path))
		if err != nil {
			t.Fatal(err)
		}
		for shape := range playedIn(string(text)) {
			played[shape] = true
		}
	}
	for shape, path := range advised {
		if why := unplayed[shape]; played[shape] == (why != "") {
			t.Errorf("%s: %q is played in the story that shows it: %t, although: %s", path, shape, played[shape], cmp.Or(why, "a text names it"))
		}
	}
}

// regexpOnly takes out what a pattern has beside the words that it matches.
var regexpOnly = strings.NewReplacer(`\`, "", "$'", "'")

// playedIn returns the shapes of the commands that a story expects in an output and types.
func playedIn(story string) map[string]bool {
	root, shown, all := Tree(demo.Commands), map[string][]string{}, map[string]bool{}
	for _, words := range advisedIn(regexpOnly.Replace(story)) {
		c, args := commandOf(root, words)
		shown[c.CommandPath()] = append(shown[c.CommandPath()], shapeOf(c, args))
	}
	for _, line := range typed.FindAllStringSubmatch(story, -1) {
		c, args := commandOf(root, strings.Fields(line[1]+line[2]))
		has := strings.Fields(shapeOf(c, args))
		for _, shape := range shown[c.CommandPath()] {
			if !slices.ContainsFunc(strings.Fields(shape), func(w string) bool { return !slices.Contains(has, w) }) {
				all[shape] = true
			}
		}
	}
	return all
}

// shapeOf is a command with its flags, without what they and it are given.
func shapeOf(c *cobra.Command, args []string) string {
	var flags []string
	for _, w := range args {
		if w == "--" {
			break // the rest is another program's
		}
		name, _, _ := strings.Cut(w, "=")
		if strings.HasPrefix(name, "--") && name != "--config" {
			flags = append(flags, name)
		}
	}
	slices.Sort(flags)
	return strings.Join(append([]string{c.CommandPath()}, flags...), " ")
}
