// This file parses the commands that people give gh mergexo in comments and on the command
// line, and lists them. It is pure.

package work

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// Command is a person's command to gh mergexo, not to an agent.
type Command struct {
	Verb  Verb
	Head  string // unblock, approve, merge: prefix of the intended commit, in lower case; empty: any commit
	Arg   string // what stands behind the verb without a name, as its row says
	Wrong string // help: why the input is no command, in a sentence; empty: help was requested
}

// String formats the command. Of what a person wrote it contains only hexadecimal digits: an
// argument of several words is an ellipsis.
func (c Command) String() string {
	words := []string{"/mergexo", string(c.Verb)}
	row, _ := FindCommand(c.Verb)
	switch {
	case c.Arg == "":
	case row.Argument.Words:
		words = append(words, "…")
	default:
		words = append(words, c.Arg)
	}
	for _, f := range row.Flags {
		if value := *f.field(&c); value != "" {
			words = append(words, "--"+f.Name, value)
		}
	}
	return strings.Join(words, " ")
}

// Named returns the command as shown to the operator. A command that was not understood is named as
// such, although the answer is the help.
func (c Command) Named() string {
	if c.Wrong != "" {
		return "not understood: " + c.Wrong
	}
	return c.String()
}

// commandLine matches the first line of a command, without what people do not see. A point or colon may follow a word.
var commandLine = lazy.Regexp(`(?i)^/mergexo[:,]?(?: +(.*))?$`)

// headPrefix matches how a commit may be named.
var headPrefix = lazy.Regexp(`^[0-9a-fA-F]{7,40}$`)

// listNumber matches how an entry of a list is named.
var listNumber = lazy.Regexp(`^[1-9][0-9]{0,3}$`)

// plainWord matches a word that may be repeated in an answer.
var plainWord = lazy.Regexp(`^[a-z][a-z-]{0,19}$`)

// ParseCommand parses a comment. A comment is a command if the first line that people see begins
// with the word /mergexo. Then agents get none of it, and the lines below are ignored. A command
// that is not understood is answered with the help.
func ParseCommand(body string) (Command, bool) {
	found := commandLine().FindStringSubmatch(firstLine(Normalise(body)))
	if found == nil {
		return Command{}, false
	}
	words := strings.Fields(found[1])
	if len(words) == 0 {
		return Command{Verb: VerbHelp}, true
	}
	return NewCommand(strings.TrimRight(words[0], ".,:;!?"), words[1:]), true
}

// firstLine returns the first line of a comment that people see, as it looks: empty lines and HTML
// comments before it are skipped, characters without width are removed, and every space is a plain
// one. It is empty if that line is code: indented by four spaces or a tab.
func firstLine(s string) string {
	for {
		shown := strings.TrimLeftFunc(s, blank)
		hidden, found := strings.CutPrefix(shown, "<!--")
		if !found {
			indent := s[:len(s)-len(shown)]
			indent = indent[strings.LastIndexByte(indent, '\n')+1:]
			if plain := indent[:len(indent)-len(strings.TrimLeft(indent, " \t"))]; len(plain) > 3 || strings.Contains(plain, "\t") {
				return ""
			}
			line, _, _ := strings.Cut(shown, "\n")
			return strings.TrimSpace(strings.Map(plainRune, line))
		}
		if _, s, found = strings.Cut(hidden, "-->"); !found {
			return ""
		}
	}
}

// blank reports whether a character shows nothing: a space, a line's end, or one without width.
func blank(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }

// plainRune returns a character as it looks: -1 for one without width.
func plainRune(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.Is(unicode.Cf, r):
		return -1
	}
	return r
}

// NewCommand makes a command of a verb, in any case, and its arguments.
func NewCommand(word string, args []string) Command {
	verb := Verb(strings.ReplaceAll(strings.ToLower(word), "_", "-"))
	row, known := FindCommand(verb)
	switch {
	case verb == VerbHelp:
		return Command{Verb: VerbHelp}
	case known:
		return row.parse(args)
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

// parse parses the command's argument, then its flags: --NAME VALUE or --NAME=VALUE, each at most
// once.
func (r CommandSpec) parse(args []string) Command {
	c, wrong := Command{Verb: r.Verb}, Command{Verb: VerbHelp, Wrong: "`" + string(r.Verb) + "` " + r.arguments() + ", so nothing was done."}
	switch {
	case r.All != "" && slices.Equal(args, []string{allArgument}):
		c.Arg, args = allArgument, nil
	case r.Argument.Value == "":
	case len(args) == 0:
		return wrong
	case r.Argument.Words:
		c.Arg, args = strings.Join(args, " "), nil
	case !r.Argument.valid().MatchString(args[0]):
		return wrong
	default:
		c.Arg, args = args[0], args[1:]
	}
	for len(args) > 0 {
		name, value, given := strings.Cut(args[0], "=")
		if args = args[1:]; !given && len(args) > 0 {
			value, args, given = args[0], args[1:], true
		}
		i := slices.IndexFunc(r.Flags, func(f CommandFlag) bool { return "--"+f.Name == name && *f.field(&c) == "" })
		if i < 0 || !given || !r.Flags[i].valid().MatchString(value) {
			return wrong
		}
		*r.Flags[i].field(&c) = strings.ToLower(value)
	}
	return c
}

const allArgument = "--all"

// arguments says which arguments the command takes.
func (r CommandSpec) arguments() string {
	if a := r.Argument; a.Value != "" {
		return "needs `" + a.Value + "` (" + a.takes + ")"
	}
	switch {
	case r.All != "":
		return "takes nothing but `--all`"
	case len(r.Flags) == 0:
		return "takes no arguments"
	}
	var all []string
	for _, f := range r.Flags {
		all = append(all, "`--"+f.Name+" "+f.Value+"` ("+f.takes+")")
	}
	return "takes nothing but " + strings.Join(all, " and ")
}

// Prefixes for ids that GitHub counts separately: a comment, a diff comment and a review of one
// pull request may have the same id.
const (
	reviewSource  = "r"
	summarySource = "v"
)

// AsCommand turns an event that is a command into a command event.
func AsCommand(e Event) Event {
	if !e.Kind.IsComment() {
		return e
	}
	cmd, ok := ParseCommand(e.Body)
	if !ok {
		return e
	}
	// Lines below the command are not part of the hash: editing them does not repeat an old
	// command.
	e.Hash = ContentHash(cmd.String(), cmd.Arg+cmd.Wrong)
	e.State, e.Source, e.Kind = string(e.Kind), CommandSource(e.Kind, e.Source), EventCommand
	e.Key = EventKey(e.Number, e.Kind, e.Source, e.Hash)
	return e
}

// CommandSource returns the id of a command in a comment of a kind.
func CommandSource(kind EventKind, id string) string {
	switch kind {
	case EventReview:
		return reviewSource + id
	case EventSummary:
		return summarySource + id
	case EventIssue, EventSource, EventCheck, EventConflict, EventHead, EventMerged, EventClosed,
		EventReopened, EventLabelled, EventCommand, EventReviewDue, EventFixDue, EventReplan:
	}
	return id
}

// CommandComment returns the id of the comment or review that a command is in; 0: it is in none, or
// is no command.
func CommandComment(e Event) int64 {
	if e.Kind != EventCommand {
		return 0
	}
	e.Source = strings.TrimPrefix(strings.TrimPrefix(e.Source, reviewSource), summarySource)
	return CommentID(e)
}

// Verb is what a command asks for.
type Verb string

// The verbs, as in comments and on the command line.
const (
	VerbHelp     Verb = "help"
	VerbStatus   Verb = "status"
	VerbRetry    Verb = "retry"
	VerbUnblock  Verb = "unblock"
	VerbPause    Verb = "pause"
	VerbResume   Verb = "resume"
	VerbCancel   Verb = "cancel"
	VerbDesign   Verb = "design"
	VerbBugfix   Verb = "bugfix"
	VerbSmallJob Verb = "small-job"
	VerbRoadmap  Verb = "roadmap"
	VerbReplan   Verb = "replan"
	VerbApprove  Verb = "approve"
	VerbHold     Verb = "hold"
	VerbMerge    Verb = "merge"
	VerbFollowup Verb = "followup"
)

// CommandSpec is one command. Comments, the command line, both helps and the docs are made from the
// rows; tick/plan has a function for each verb.
type CommandSpec struct {
	Verb      Verb
	Does      string
	Roadmap   string // what it does besides, on the issue of a merged roadmap; a sentence
	Flow      Flow   // that it starts; empty: none
	Argument  CommandArgument
	Flags     []CommandFlag
	All       string // what it does with the argument --all, for the help of the command line; empty: it takes none
	NeedsItem bool   // refused if no work has started
	OnePull   bool   // acts on one pull request: refused on an issue that has several open ones
	OnMerged  bool   // also answered on the merged pull request of a design; other commands are referred to its issue

	// On the command line:
	OtherForm bool     // it has its own command there
	Also      []string // other words that people try
}

// CommandFlag is a flag with a value, in comments and on the command line.
type CommandFlag struct {
	Name, Value, Example string
	Does                 string // for the help of the command line

	takes string                 // its values, in words
	valid func() *regexp.Regexp  // matches them
	field func(*Command) *string // has the value, in lower case
}

// CommandArgument is what a command needs behind its verb, without a name. The zero value: nothing.
type CommandArgument struct {
	Value, Example string
	Words          bool // all words behind the verb, as they stand

	takes string                // its values, in words
	valid func() *regexp.Regexp // matches one word; nil with Words
}

func headFlag() CommandFlag {
	return CommandFlag{
		"head", "SHA", "1a2b3c4", "Only if the branch is at this `commit`",
		"7 to 40 hexadecimal digits", headPrefix, func(c *Command) *string { return &c.Head },
	}
}

// CommandTable returns all commands in the order of the help.
func CommandTable() []CommandSpec {
	return []CommandSpec{
		{Verb: VerbHelp, Does: "Show this table", OnMerged: true, OtherForm: true},
		{Verb: VerbStatus, Does: "Show the state of the work, what it waits for and what comes next", NeedsItem: true, OnMerged: true, OtherForm: true},
		{
			Verb: VerbRetry, Does: "Retry at once what failed, is blocked or waits; restart reviews that are stopped or on hold",
			NeedsItem: true, OnePull: true, OnMerged: true, Also: []string{"rerun", "restart"},
		},
		{Verb: VerbUnblock, Does: "Resume blocked work on the branch as it is now", Flags: []CommandFlag{headFlag()}, NeedsItem: true, OnePull: true},
		{Verb: VerbPause, Does: "Pause the work; comments made during the pause are never acted on", Also: []string{"stop", "halt", "suspend"}},
		{Verb: VerbResume, Does: "End a pause or a hold", Also: []string{"unhold", "unpause", "continue", "release"}},
		{Verb: VerbApprove, Does: "Approve the pull request as one of its reviewers; it counts like an approving review", Flags: []CommandFlag{headFlag()}, NeedsItem: true, OnePull: true},
		{Verb: VerbHold, Does: "Stop reviews and merge of the pull request until it is resumed; comments are still answered", NeedsItem: true, OnePull: true},
		{Verb: VerbMerge, Does: "Approve this commit for merging; it counts where a person's approval is required", Flags: []CommandFlag{headFlag()}, NeedsItem: true, OnePull: true},
		{
			Verb: VerbFollowup, Does: "Open follow-up N as a sub-issue; N is its number in the list on the pull request",
			Argument: CommandArgument{Value: "N", Example: "1", takes: "its number in the list of follow-ups", valid: listNumber}, NeedsItem: true, OnMerged: true,
		},
		{
			Verb: VerbCancel, Does: "Cancel the work and close its pull request; the branch stays",
			Roadmap:   "On the issue of a merged roadmap it closes, as not planned, the sub-issues that the roadmap opened and on which no work has begun; the issue stays open and loses its label. `--all` does the same for the roadmaps below it",
			All:       "Cancel the roadmaps below it, too",
			NeedsItem: true, OnePull: true, Also: []string{"abort", "close", "kill"},
		},
		{Verb: VerbDesign, Does: "Start with a design document for the issue", Flow: FlowDesign},
		{Verb: VerbBugfix, Does: "Start to fix the bug that the issue describes", Flow: FlowBugfix},
		{Verb: VerbSmallJob, Does: "Start to do the issue as a small job", Flow: FlowSmallJob},
		{Verb: VerbRoadmap, Does: "Start with a plan of the issue as sub-issues", Flow: FlowRoadmap, OtherForm: true},
		{
			Verb: VerbReplan, Does: "Change a merged roadmap for a reason, in its own pull request", NeedsItem: true,
			Argument: CommandArgument{Value: "WHY", Example: "the parser has to come first", Words: true, takes: "the reason"},
		},
	}
}

// FindCommand returns the row of a verb.
func FindCommand(verb Verb) (CommandSpec, bool) {
	all := CommandTable()
	if i := slices.IndexFunc(all, func(r CommandSpec) bool { return r.Verb == verb }); i >= 0 {
		return all[i], true
	}
	return CommandSpec{}, false
}

// Flow returns the flow that a verb starts; false: it starts none.
func (v Verb) Flow() (Flow, bool) {
	row, _ := FindCommand(v)
	return row.Flow, row.Flow != ""
}

// CommandOf returns the command that starts a flow.
func CommandOf(flow Flow) Verb {
	for _, row := range CommandTable() {
		if row.Flow == flow {
			return row.Verb
		}
	}
	return VerbDesign // an implementation starts with its design
}

// CommandHelp returns the help in Markdown, for comments and docs.
func CommandHelp() string {
	var b strings.Builder
	b.WriteString("| command | what it does |\n|---|---|\n")
	for _, row := range CommandTable() {
		b.WriteString("| `/mergexo " + string(row.Verb))
		if row.Argument.Value != "" {
			b.WriteString(" " + row.Argument.Value)
		}
		if row.All != "" {
			b.WriteString(" [" + allArgument + "]")
		}
		for _, f := range row.Flags {
			b.WriteString(" [--" + f.Name + " " + f.Value + "]")
		}
		b.WriteString("` | " + row.Does)
		if row.Roadmap != "" {
			b.WriteString(". " + row.Roadmap)
		}
		b.WriteString(" |\n")
	}
	return b.String()
}
