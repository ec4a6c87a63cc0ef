// This file parses the commands that people give gh mergexo in comments and on the command
// line, and lists them. It is pure.

package work

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// Command is a person's command to gh mergexo, not to an agent.
type Command struct {
	Verb  Verb
	Head  string // unblock, approve, merge: prefix of the intended commit, in lower case; empty: any commit
	Wrong string // help: why the input is no command, in a sentence; empty: help was requested
}

// String formats the command. Of what a person wrote it contains only hexadecimal digits.
func (c Command) String() string {
	s := "/mergexo " + string(c.Verb)
	if c.Head != "" {
		s += " --head " + c.Head
	}
	return s
}

// Named returns the command as shown to the operator. A command that was not understood is named as
// such, although the answer is the help.
func (c Command) Named() string {
	if c.Wrong != "" {
		return "not understood: " + c.Wrong
	}
	return c.String()
}

// commandLine matches the first line of a command. A line indented by four spaces is code, a line
// after > is a quotation. A point or colon may follow a word.
var commandLine = lazy.Regexp(`(?i)^ {0,3}/mergexo[:,]?(?:[ \t]+(.*))?$`)

// headPrefix matches how a commit may be named.
var headPrefix = lazy.Regexp(`^[0-9a-fA-F]{7,40}$`)

// plainWord matches a word that may be repeated in an answer.
var plainWord = lazy.Regexp(`^[a-z][a-z-]{0,19}$`)

// ParseCommand parses a comment. A comment is a command if its first non-empty line begins with the
// word /mergexo. Then agents get none of it, and the lines below are ignored. A command that is not
// understood is answered with the help.
func ParseCommand(body string) (Command, bool) {
	line, _, _ := strings.Cut(strings.TrimLeft(withoutBlankLines(Normalise(body)), "\n"), "\n")
	found := commandLine().FindStringSubmatch(strings.TrimRight(line, " \t"))
	if found == nil {
		return Command{}, false
	}
	words := strings.Fields(found[1])
	if len(words) == 0 {
		return Command{Verb: VerbHelp}, true
	}
	return NewCommand(strings.TrimRight(words[0], ".,:;!?"), words[1:]), true
}

// withoutBlankLines removes empty lines at the beginning.
func withoutBlankLines(s string) string {
	for {
		line, rest, more := strings.Cut(s, "\n")
		if strings.TrimSpace(line) != "" || !more {
			return s
		}
		s = rest
	}
}

// NewCommand makes a command of a verb, in any case, and its arguments.
func NewCommand(word string, args []string) Command {
	verb := Verb(strings.ReplaceAll(strings.ToLower(word), "_", "-"))
	row, known := FindCommand(verb)
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

// noCommand says which command the word may have been meant to be.
func noCommand(word string) string {
	var verbs []string
	for _, row := range CommandTable() {
		verbs = append(verbs, string(row.Verb))
	}
	if meant := Nearest(word, verbs); meant != "" {
		return "There is no command `" + word + "`; did you mean `" + meant + "`?"
	}
	return "There is no command `" + word + "`, so nothing was done."
}

// headed parses [--head SHA] and [--head=SHA].
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
