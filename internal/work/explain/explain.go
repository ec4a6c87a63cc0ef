// Package explain makes words of why something is blocked or waits: the same ones for
// the comment on GitHub, the terminal, a dry run and JSON. Nothing reads them back.
package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/command"
)

// Place is what the words depend on beside the reason.
type Place struct {
	Pull     bool   // the conversation is a pull request's; before there is one, the issue's
	Comments bool   // comments on the issue are acted on: enable_issue_comment_routing
	Label    string // that began the item
	Repo     string // in front of a number, where several repositories are told of
	Ignore   string // the label that pauses it
	Spending bool   // what agents cost may be told here
	Item     string // the item as a terminal names it, where commands are told for its command line; empty: for a comment
}

// Words are a reason in words. The parts begin in lower case, unless they are
// sentences.
type Words struct {
	What   string // is wrong, or is waited for; fit for GitHub
	Local  string // more of it, for this machine alone; empty: nothing
	Whole  string // What and Local in one, where they are not just two sentences; empty: they are
	Fix    string // what a person can do about it; empty: nothing but Resume
	Resume string // how the work resumes; empty: by itself
	Retry  bool   // `/mergexo retry` tries the same again, and Resume does not say so
}

// Next is what comes next, or is to be done.
func (w Words) Next() string {
	switch {
	case w.Fix == "":
		return w.Resume
	case w.Resume == "":
		return w.Fix
	}
	return w.Fix + ", then " + w.Resume
}

// Here is What with what only this machine may be told.
func (w Words) Here() string {
	switch {
	case w.Local == "":
		return w.What
	case w.Whole != "":
		return w.Whole
	}
	return work.Sentence(w.What) + " " + work.Sentence(w.Local)
}

// Command is a command as it is given there.
func (p Place) Command(v command.Verb, args string) string {
	if p.Item == "" {
		return "`" + strings.TrimSpace("/mergexo "+string(v)+" "+args) + "`"
	}
	return strings.TrimSpace("gh mergexo " + string(v) + " " + p.Item + " " + args)
}

// give says how to give it.
func (p Place) give(v command.Verb) string {
	if p.Item == "" {
		return "comment " + p.Command(v, "")
	}
	return "run " + p.Command(v, "")
}

// startOver resumes an item where comments on the issue are not acted on.
func startOver(p Place) string {
	return p.give(command.VerbRetry) + ", or take the label away and set it again"
}

// Reason makes words of a reason. Those of a kind that it does not know are the
// kind's own name and the reason's text.
func Reason(r work.Reason, p Place) Words {
	if r.None() {
		return Words{}
	}
	public := r
	public.Local = ""
	w := again(public.String(), p)
	for _, group := range tables() {
		if explain, ok := group[r.Kind]; ok {
			w = explain(r, p)
		}
	}
	w.Local = r.Local
	return w
}

// table has the words of some kinds.
type table = map[work.ReasonKind]func(work.Reason, Place) Words

func tables() []table {
	return []table{people, turns, branches, machine, repositories, waits, standings, reviews, merging}
}

// Kinds lists all that have words: the values of reasonCode in JSON.
func Kinds() []work.ReasonKind {
	var all []work.ReasonKind
	for _, group := range tables() {
		all = slices.AppendSeq(all, maps.Keys(group))
	}
	slices.Sort(all)
	return all
}

// What is wrong, or is waited for, in words fit for GitHub.
func What(r work.Reason, p Place) string { return Reason(r, p).What }

// again is for what a comment has tried once more.
func again(what string, p Place) Words {
	switch {
	case p.Pull:
		return Words{What: what, Resume: "comment on the pull request to have it tried again", Retry: true}
	case !p.Comments:
		return Words{What: what, Resume: startOver(p)}
	}
	return Words{What: what, Resume: "say more in a comment on the issue, or take the label away and set it again to start over", Retry: true}
}

// fixed is for what a person has to put right first.
func fixed(what, fix string, p Place) Words {
	if !p.Pull && !p.Comments {
		return Words{What: what, Fix: fix, Resume: startOver(p)}
	}
	return Words{What: what, Fix: fix, Resume: "comment to have it tried again", Retry: true}
}

// asked is for what people answer with words: the same again would ask the same.
func asked(what, answer string, p Place) Words {
	switch {
	case p.Pull:
		return Words{What: what, Resume: answer + " in a comment on the pull request"}
	case !p.Comments:
		return Words{What: what, Resume: startOver(p)}
	}
	return Words{What: what, Resume: answer + " in a comment on the issue"}
}

// confirmed is for an issue that nobody has read as it is now. A comment is no
// confirmation: who makes it need not have read it.
func confirmed(what string, p Place) Words {
	return Words{What: what, Resume: fmt.Sprintf("read the issue, then take the label %s away and add it again", p.Label)}
}

// waiting is for what time alone lets go on.
func waiting(what string) Words { return Words{What: what} }
