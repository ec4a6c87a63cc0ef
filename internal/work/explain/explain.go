// Package explain has the table of reasons why something is blocked or waits, and their texts: the
// same for the comment on GitHub, the terminal, a dry run and JSON. No text is parsed back.
package explain

import (
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Place is where a text is shown.
type Place struct {
	Pull     bool   // on a pull request; false: on the issue, before there is a pull request
	Label    string // the label that started the item
	Repo     string // put before a number if the text covers several repositories
	Ignore   string // the label that pauses it
	Spending bool   // agents' costs may be shown here
	Item     string // the item as named in a terminal, if the text shows commands for the command line; empty: for a comment

	ReadAt time.Time // in a terminal, when a pass last read GitHub; for a comment, a pass has just read it
}

// Words is the text of a reason. Parts begin in lower case, unless they are sentences.
type Words struct {
	What   string // what is wrong, or what is waited for; safe for GitHub
	Local  string // more, only for this machine; empty: nothing
	Whole  string // What and Local in one text; empty: What, followed by Local
	Fix    string // what a person can do; empty: only Resume
	Resume string // how the work resumes; empty: by itself
	Retry  bool   // `/mergexo retry` tries again, and Resume does not mention it

	remedies []Remedy // of which Resume is made
}

// Next is what happens next, or what to do.
func (w Words) Next() string {
	switch {
	case w.Fix == "":
		return w.Resume
	case w.Resume == "":
		return w.Fix
	}
	return w.Fix + ", then " + w.Resume
}

// Here is What with the part for this machine only.
func (w Words) Here() string {
	switch {
	case w.Local == "":
		return w.What
	case w.Whole != "":
		return w.Whole
	}
	return work.Sentence(w.What) + " " + work.Sentence(w.Local)
}

// Command formats a command for this place.
func (p Place) Command(v work.Verb, args string) string {
	if p.Item == "" {
		return "`" + strings.TrimSpace("/mergexo "+string(v)+" "+args) + "`"
	}
	return strings.TrimSpace("gh mergexo " + string(v) + " " + p.Item + " " + args)
}

// howToGive returns how a command is given at this place.
func (p Place) howToGive(v work.Verb) string {
	if p.Item == "" {
		return "comment " + p.Command(v, "")
	}
	return "run " + p.Command(v, "")
}

// startOver says how to resume an item if comments on the issue are not acted on.
func (p Place) startOver() string {
	return p.howToGive(work.VerbRetry) + ", or remove the label and set it again"
}

// resumeMerging is the command that ends a halt of merging in a repository.
func (p Place) resumeMerging() string {
	return "`" + strings.TrimSpace("gh mergexo resume --merging "+p.Repo) + "`"
}

// Reason returns the text of a reason. An unknown kind gives the kind's name and the reason's text.
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
	if len(w.remedies) > 0 {
		w.Resume = d.either(w.remedies)
	}
	if one.words != nil {
		w = one.words(r, p, w)
	}
	w.Local = r.Local
	return w
}

// AfterOf returns when a comment tells a reason of this kind.
func AfterOf(kind work.ReasonKind) After {
	one, _ := find(kind)
	return one.after
}

// OfPeople reports whether people end a reason of this kind on the issue or pull request.
func OfPeople(kind work.ReasonKind) bool {
	one, _ := find(kind)
	return one.who == People
}

// Logins returns the people that a reason waits for, as far as they are known.
func Logins(r work.Reason) []string {
	switch r.Kind { //nolint:exhaustive // no other waits for a login
	case work.WhyReviewPerson, work.WhyReviewHeld, work.WhyMergeHeld, work.WhyPaused:
		if r.Who != "" {
			return []string{r.Who}
		}
	case work.WhyMergeChangesAsked:
		return r.Names
	}
	return nil
}

// Mention returns the beginning of a comment that mentions people.
func Mention(logins []string) string {
	if len(logins) == 0 {
		return ""
	}
	return "@" + strings.Join(logins, " @") + " "
}

func find(kind work.ReasonKind) (row, bool) {
	if i := slices.IndexFunc(reasons, func(one row) bool { return one.kind == kind }); i >= 0 {
		return reasons[i], true
	}
	return row{}, false
}

// Kinds lists all values of reasonCode in JSON.
func Kinds() []work.ReasonKind {
	all := make([]work.ReasonKind, 0, len(reasons))
	for _, one := range reasons {
		all = append(all, one.kind)
	}
	slices.Sort(all)
	return all
}

// What returns what is wrong, or what is waited for, in words safe for GitHub.
func What(r work.Reason, p Place) string { return Reason(r, p).What }

// Entry is a reason as the docs show it. Words in capitals are placeholders for details.
type Entry struct {
	Kind  work.ReasonKind
	Who   Who
	After After
	What  string
	Next  string
}

// Entries lists all reasons, in the order of the table.
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
		if one.after == Overdue { // At is a duration
			r.At = time.Hour.Milliseconds()
		}
		w := Reason(r, Place{Pull: true, Label: "LABEL", Ignore: "LABEL"})
		all = append(all, Entry{one.kind, one.who, one.after, w.What, w.Next()})
	}
	return all
}
