// Package command has what people tell this program itself, in comments and on the command
// line: how it is read, and what it is called. Pure rules.
package command

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Command is what somebody told the tool to do, rather than an agent.
type Command struct {
	Verb  Verb
	Head  string // unblock, approve, merge: how the commit begins that is meant, in lower case; empty: whatever is there
	Wrong string // help: why what was written is no command, in a sentence; empty when help was asked for
}

// String is the command as it is best written. It holds nothing of what
// somebody wrote but hexadecimal digits.
func (c Command) String() string {
	s := "/mergexo " + string(c.Verb)
	if c.Head != "" {
		s += " --head " + c.Head
	}
	return s
}

// Named is the command for whoever runs the tool: one that was not understood is
// named as such, though it is answered with the help.
func (c Command) Named() string {
	if c.Wrong != "" {
		return "not understood: " + c.Wrong
	}
	return c.String()
}

// commandLine is the first line of a command. Indented by four spaces it is
// code, behind a > a quotation. People end words with points and colons.
var commandLine = lazy.Regexp(`(?i)^ {0,3}/mergexo[:,]?(?:[ \t]+(.*))?$`)

// headPrefix is how a commit may be named.
var headPrefix = lazy.Regexp(`^[0-9a-fA-F]{7,40}$`)

// plainWord is what may be repeated to whoever wrote it.
var plainWord = lazy.Regexp(`^[a-z][a-z-]{0,19}$`)

// Parse reads a comment. It is a command when its first line that is not
// empty begins with the word /mergexo; nothing of it is feedback then, and
// nothing below that line counts. What is not understood asks for the help.
func Parse(body string) (Command, bool) {
	line, _, _ := strings.Cut(strings.TrimLeft(withoutBlankLines(work.Normalise(body)), "\n"), "\n")
	found := commandLine().FindStringSubmatch(strings.TrimRight(line, " \t"))
	if found == nil {
		return Command{}, false
	}
	words := strings.Fields(found[1])
	if len(words) == 0 {
		return Command{Verb: VerbHelp}, true
	}
	return New(strings.TrimRight(words[0], ".,:;!?"), words[1:]), true
}

// withoutBlankLines takes the empty lines at the beginning away.
func withoutBlankLines(s string) string {
	for {
		line, rest, more := strings.Cut(s, "\n")
		if strings.TrimSpace(line) != "" || !more {
			return s
		}
		s = rest
	}
}

// New makes a command of a verb, in any case, and what follows it.
func New(word string, args []string) Command {
	verb := Verb(strings.ReplaceAll(strings.ToLower(word), "_", "-"))
	row, known := Find(verb)
	switch {
	case known && row.TakesHead:
		return headed(verb, args)
	case known && len(args) > 0 && verb != VerbHelp:
		return Command{Verb: VerbHelp, Wrong: "`" + string(verb) + "` takes no arguments, so nothing was done."}
	case known:
		return Command{Verb: verb}
	case plainWord().MatchString(string(verb)):
		return Command{Verb: VerbHelp, Wrong: noCommand(string(verb))}
	}
	return Command{Verb: VerbHelp, Wrong: "This is none of the commands, so nothing was done."}
}

// noCommand says what a word may have been meant to be.
func noCommand(word string) string {
	var verbs []string
	for _, row := range Table() {
		verbs = append(verbs, string(row.Verb))
	}
	if meant := work.Nearest(word, verbs); meant != "" {
		return "There is no command `" + word + "`; did you mean `" + meant + "`?"
	}
	return "There is no command `" + word + "`, so nothing was done."
}

// headed reads [--head SHA] and [--head=SHA].
func headed(verb Verb, args []string) Command {
	if len(args) == 1 {
		if head, ok := strings.CutPrefix(args[0], "--head="); ok {
			args = []string{"--head", head}
		}
	}
	switch {
	case len(args) == 0:
		return Command{Verb: verb}
	case len(args) != 2 || args[0] != "--head":
		return Command{Verb: VerbHelp, Wrong: "`" + string(verb) + "` takes `--head` and a commit, or nothing at all. Nothing was done."}
	case !headPrefix().MatchString(args[1]):
		return Command{Verb: VerbHelp, Wrong: "What follows `--head` is no commit: it takes 7 to 40 hexadecimal digits. Nothing was done."}
	}
	return Command{Verb: verb, Head: strings.ToLower(args[1])}
}
