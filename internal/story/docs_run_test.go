//go:build unix

package story

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mergexo/gh-mergexo/cmd"
	"github.com/mergexo/gh-mergexo/cmd/demo"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// fence is a block of code, with what it is said to be.
var fence = regexp.MustCompile("(?m)^ *```(\\w*)\n((?:.*\n)*?) *```$")

// ours is how documents call the program.
var ours = regexp.MustCompile(`^(\$ )?(gh mergexo|\./gh-mergexo)( |$)`)

// Documents name commands and flags that there are.
func TestDocsNameCommandsThatExist(t *testing.T) {
	named := 0
	for page, text := range pages(t) {
		lines := inCode.FindAllStringSubmatch(text, -1)
		for _, block := range fence.FindAllStringSubmatch(text, -1) {
			for line := range strings.Lines(block[2]) {
				lines = append(lines, []string{"", strings.TrimSpace(line)})
			}
		}
		for _, line := range lines {
			if !ours.MatchString(line[1]) {
				continue
			}
			named++
			if wrong := notACommand(line[1]); wrong != "" {
				t.Errorf("%s: %s: %s", page, line[1], wrong)
			}
		}
	}
	if named < 50 {
		t.Errorf("%d commands were read, which cannot be all", named)
	}
}

// notACommand says what is wrong with a command line, as far as its help tells.
func notACommand(line string) string {
	words := strings.Fields(regexp.MustCompile(`( [|>#&]|;).*`).ReplaceAllString(ours.ReplaceAllString(line, ""), ""))
	args, _, _ := cutAt(words, "--")
	help, path := "", args
	for ; ; path = path[:len(path)-1] { // what is no command is an argument
		var ok bool
		if help, ok = helpOf(path); ok {
			break
		}
		if len(path) == 0 {
			return "there is no help"
		}
	}
	if len(path) == 0 && len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		return "there is no command " + args[0]
	}
	for _, word := range args[len(path):] {
		if flag, _, _ := strings.Cut(word, "="); strings.HasPrefix(flag, "-") && !regexp.MustCompile(`(?m)(^|[\s,])`+regexp.QuoteMeta(flag)+`[\s,]`).MatchString(help) {
			return "there is no flag " + flag
		}
	}
	return ""
}

// cutAt cuts words at one of them.
func cutAt(words []string, at string) (before, after []string, found bool) {
	i := slices.Index(words, at)
	if i < 0 {
		return words, nil, false
	}
	return words[:i], words[i+1:], true
}

// helpOf is the help of a command; false when it is the help of one above it.
func helpOf(path []string) (string, bool) {
	if slices.ContainsFunc(path, func(word string) bool { return strings.HasPrefix(word, "-") }) {
		return "", false
	}
	help, code := inProcess(append(slices.Clone(path), "--help")...)
	use := strings.Join(append([]string{"gh mergexo"}, path...), " ")
	return help, code == 0 && regexp.MustCompile(`(?m)^  `+regexp.QuoteMeta(use)+`( [^a-z].*|)$`).MatchString(help)
}

// inProcess runs the program here, and gives what it says.
func inProcess(args ...string) (string, int) {
	var out bytes.Buffer
	code := cmd.Main(cmd.Env{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Version: "v0.0.0-test", Demo: demo.Commands})
	return out.String(), code
}

// The configs that documents show are configs, and so are the keys in their tables.
func TestDocsShowConfigsThatAreRead(t *testing.T) {
	read := 0
	for page, text := range pages(t) {
		for _, block := range fence.FindAllStringSubmatch(text, -1) {
			if block[1] != "toml" {
				continue
			}
			read++
			path := filepath.Join(t.TempDir(), "config.toml")
			if err := os.WriteFile(path, []byte(wholeConfig(block[2])), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, code := inProcess("config", "--config", path); code != 0 {
				t.Errorf("%s: %s\n%s", page, out, block[2])
			}
		}
		for _, table := range regexp.MustCompile("(?m)^\\| key in `\\[(\\w+)\\]` .*\n((?:\\|.*\n)+)").FindAllStringSubmatch(text, -1) {
			for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)`").FindAllStringSubmatch(table[2], -1) {
				if !regexp.MustCompile(`(?m)^(# )?` + row[1] + ` = `).MatchString(config.Example()) {
					t.Errorf("%s: the config's example has no key %s", page, row[1])
				}
			}
		}
	}
	if read < 6 {
		t.Errorf("%d configs were read, which cannot be all", read)
	}
}

// wholeConfig adds what a part of a config needs to be one.
func wholeConfig(part string) string {
	if !strings.Contains(part, "[runtime]") {
		part += "\n[runtime]\nagent = \"codex\"\n"
	}
	if !strings.Contains(part, "[[repo]]") {
		part += "\n[[repo]]\nname = \"owner/name\"\n"
	}
	return part
}

// What documents show in a block of sh is run, page by page and as it stands,
// on a machine where an issue has its pull request. What installs something is
// not run, and nothing else is left out.
func TestDocsRun(t *testing.T) {
	testhome.OnlyLong(t)
	dir, commands := t.TempDir(), 0
	for page, text := range pages(t) {
		story := strings.Builder{}
		for _, block := range fence.FindAllStringSubmatch(text, -1) {
			for line := range strings.Lines(block[2]) {
				line = strings.TrimSpace(line)
				switch {
				case block[1] != "sh", line == "":
				case ours.MatchString(line) && !strings.HasPrefix(line, "./"), strings.HasPrefix(line, "mkdir "):
					commands++
					fmt.Fprintf(&story, "exec sh -c '%s'\n", strings.ReplaceAll(inStory(line), "'", "''"))
				default:
					runsElsewhere(t, page, line)
				}
			}
		}
		if story.Len() > 0 {
			writeStory(t, dir, page, story.String())
		}
	}
	if commands < 20 {
		t.Errorf("%d commands were read, which cannot be all", commands)
	}
	p := params(t)
	p.Dir, p.WorkdirRoot, p.UpdateScripts = dir, testhome.Memory(t), false
	testscript.Run(t, p)
}

// inStory names what there is in place of what documents name: #1 has its pull
// request, #3 has none yet, so that there is a prompt to begin it.
func inStory(line string) string {
	item := "octo/app#1"
	if strings.Contains(line, "prompts show") {
		item = "octo/app#3"
	}
	return strings.ReplaceAll(strings.ReplaceAll(line, "owner/name#12", item), "owner/name", "octo/app")
}

func writeStory(t *testing.T, dir, page, commands string) {
	t.Helper()
	const before = `mkdir $WORK/bin
cp shim bin/gh
chmod 755 bin/gh
env PATH=$WORK/bin:$PATH
env HOME=$WORK/home
hub issue ann 'Crash on start' --label agent:bugfix
exec gh-mergexo tick
hub issue ann 'Crash on exit' --label agent:bugfix
config notify:chat command '["true"]'
`
	const after = `exec gh-mergexo resume --all
-- shim --
#!/bin/sh
test "$1" = --version && echo "gh version 2.62.0 (2024-11-14)" && exit
test "$1" = mergexo && shift && exec gh-mergexo "$@"
`
	name := strings.TrimSuffix(strings.ReplaceAll(page, "/", "_"), ".md") + ".txtar"
	if err := os.WriteFile(filepath.Join(dir, name), []byte("# "+page+"\n"+before+commands+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

// elsewhere begins what other tests run, or what installs something: programs of
// this repository have to be there.
var elsewhere = regexp.MustCompile(`^(\./gh-mergexo|script/\S+|\.ci/run|(MERGEXO_TEST=long )?go test|git clone|gh auth login|gh extension install|npm install -g)\b`)

func runsElsewhere(t *testing.T, page, line string) {
	t.Helper()
	program := elsewhere.FindString(line)
	if program == "" {
		t.Errorf("%s: nobody knows how to run %q", page, line)
	}
	if strings.Contains(program, "/") {
		if _, err := os.Stat(filepath.Join("../..", program)); err != nil {
			t.Errorf("%s: %s: %v", page, line, err)
		}
	}
}
