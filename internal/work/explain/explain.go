// Package explain has the table of reasons why something is blocked or waits, and makes their
// words: the same ones for the comment on GitHub, the terminal, a dry run and JSON. Nothing
// reads them back.
package explain

import (
	"slices"
	"strings"
	"time"

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
func (p Place) startOver() string {
	return p.give(command.VerbRetry) + ", or remove the label and set it again"
}

// resumeMerging is the command that lets gh mergexo merge into a repository again.
func (p Place) resumeMerging() string {
	return "`" + strings.TrimSpace("gh mergexo resume-merging "+p.Repo) + "`"
}

// Reason makes words of a reason. Those of an unknown kind are the kind's name and the
// reason's text.
func Reason(r work.Reason, p Place) Words {
	if r.None() {
		return Words{}
	}
	public := r
	public.Local = ""
	one, ok := find(r.Kind)
	if !ok {
		one, r.Text = row{what: "{text}", next: again}, public.String()
	}
	var w Words
	if one.next != nil {
		w = one.next(p)
	}
	d := details{r, p}
	w.What, w.Fix, w.Resume = d.fill(one.what), d.fill(w.Fix), d.fill(w.Resume)
	if one.words != nil {
		w = one.words(r, p, w)
	}
	w.Local = r.Local
	return w
}

func find(kind work.ReasonKind) (row, bool) {
	if i := slices.IndexFunc(reasons, func(one row) bool { return one.kind == kind }); i >= 0 {
		return reasons[i], true
	}
	return row{}, false
}

// Kinds are all values of reasonCode in JSON.
func Kinds() []work.ReasonKind {
	all := make([]work.ReasonKind, 0, len(reasons))
	for _, one := range reasons {
		all = append(all, one.kind)
	}
	slices.Sort(all)
	return all
}

// What is wrong, or is waited for, in words fit for GitHub.
func What(r work.Reason, p Place) string { return Reason(r, p).What }

// Entry is a reason as a page of the docs has it. Words in capitals stand for details.
type Entry struct {
	Kind work.ReasonKind
	Who  Who
	Told Told
	What string
	Next string
}

// Entries are all reasons, in the order of the table.
func Entries() []Entry {
	var all []Entry
	for _, one := range reasons {
		r := work.Reason{
			Kind: one.kind, Text: "TEXT", Advice: "ADVICE", Who: "WHO", Name: "NAME", Branch: "BRANCH", Commit: "COMMIT", Head: "HEAD", Number: 7, Count: 2, Begun: 2,
			Names: []string{"ONE", "TWO"}, At: 1234567890000,
		}
		if strings.Contains(one.what, "{budget}") {
			r.Name = "BUDGET"
		}
		if one.told == Overdue { // its time is how long it lasts
			r.At = time.Hour.Milliseconds()
		}
		w := Reason(r, Place{Pull: true, Comments: true, Label: "LABEL", Ignore: "LABEL"})
		all = append(all, Entry{one.kind, one.who, one.told, w.What, w.Next()})
	}
	return all
}
