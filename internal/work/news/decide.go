package news

import (
	"fmt"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// MostAge is how old a message may be that is still sent: the machine may have slept.
const MostAge = 24 * time.Hour

// fact is something that may be told, whoever wants it.
type fact struct {
	What
	Place
	key    string // without what it is
	at     time.Time
	reason work.Reason
	says   string // in place of the reason's words
	do     string
	waits  bool // the reason's words are what is waited for
	before bool // it lasts, and nobody knows since when: what is so when a target is new is no news to it
}

// Decide gives the messages that are due to the targets, as far as they were not told of
// it before, which their keys say. known is since when each target is told each thing; of
// what it has no entry for, nothing is told. Standing are the keys of what lasts already
// while it had none.
func Decide(f Facts, targets []Target, known []Known) []Entry {
	since := map[[2]string]time.Time{}
	for _, k := range known {
		since[[2]string{k.Target, string(k.What)}] = k.Since
	}
	facts := happened(f)
	var all []Entry
	for _, t := range targets {
		for _, x := range append(facts, passes(f, t)...) {
			asked := x.What
			if asked == Recovered {
				asked = PassFailing
			}
			from, told := since[[2]string{t.Name, string(asked)}]
			if !t.Wants(asked) || !told || x.at.Before(from.Truncate(time.Second)) || f.Now.Sub(x.at) > MostAge {
				continue
			}
			all = append(all, x.entry(t.Name))
		}
	}
	return all
}

// Standing are the messages that would be due to targets for what lasts now, and of which
// nobody knows since when: no news to a target that is new.
func Standing(f Facts, fresh []Known) []Entry {
	var all []Entry
	for _, x := range happened(f) {
		for _, k := range fresh {
			if x.before && k.What == x.What {
				e := x.entry(k.Target)
				e.State, e.SettledAt, e.LastError = Dropped, f.Now, "it was so before this target was told"
				all = append(all, e)
			}
		}
	}
	return all
}

// happened is all that may be told of what happened.
func happened(f Facts) []fact {
	var all []fact
	for _, s := range f.Stops {
		all = append(all, fact{What: whatStopped(s), Place: s.Place, key: s.Token + " " + millis(s.Since), at: s.Since, reason: s.Reason})
	}
	for _, p := range f.Approvals {
		all = append(all, fact{What: HumanReview, Place: p.Place, key: p.Head, at: p.At, reason: work.Reason{Kind: work.WhyReviewPerson}, waits: true})
	}
	for _, p := range f.Opened {
		all = append(all, fact{What: PullOpened, Place: p.Place, at: p.At, says: "a pull request was opened"})
	}
	for _, p := range f.Merged {
		all = append(all, fact{What: Merged, Place: p.Place, at: p.At, says: "the pull request was merged"})
	}
	for _, h := range f.Halts {
		why := h.Reason
		why.Kind = work.WhyMergeHalted
		all = append(all, fact{
			What: Blocked, Place: h.Place, key: "merging " + millis(h.At), at: h.At, reason: why,
			do: "look at what landed, then run gh mergexo resume-merging " + h.Repo.FullName(), before: true,
		})
	}
	if b := f.Budget; !b.None() {
		all = append(all, fact{What: BudgetSpent, key: b.Name + " " + f.Now.UTC().Format(time.DateOnly), at: f.Now, reason: b, before: true})
	}
	return all
}

// whatStopped says as what a stop is told.
func whatStopped(s Stop) What {
	if state, ok := review.StateOf(s.Reason); ok && state == review.HumanReview {
		return HumanReview
	}
	if s.Reason.Kind == work.WhyQuestion {
		return Question
	}
	return Blocked
}

// failingPasses is how many passes in a row have to fail before that is told.
const failingPasses = 3

// passes is what a target is told of passes that fail, and that they do no more.
func passes(f Facts, t Target) []fact {
	failing, told := f.Failing[t.Name]
	switch l := f.Last; {
	case !f.LastKnown:
	case l.Failures >= failingPasses:
		return []fact{{
			What: PassFailing, key: millis(l.GoodAt), at: f.Now, says: fmt.Sprintf("%s: %s", inARow(l.Failures), short(l.Why, mostSays)),
			do: "run gh mergexo tick on the machine where it runs, and see what it says",
		}}
	case l.Failures == 0 && told:
		return []fact{{What: Recovered, key: Subject(failing.Key), at: f.Now, says: "a pass succeeded again"}}
	}
	return nil
}

func inARow(n int) string {
	if n == 1 {
		return "the last pass failed"
	}
	return fmt.Sprintf("the last %d passes failed", n)
}

// Subject is what a key is about, without what happened to it.
func Subject(key string) string {
	for i := range key {
		if key[i] == ' ' {
			return key[i+1:]
		}
	}
	return ""
}

func (x fact) entry(target string) Entry {
	key := string(x.What)
	if x.Key != "" {
		key += " " + string(x.Key) + " #" + strconv.Itoa(x.Number)
	}
	if x.key != "" {
		key += " " + x.key
	}
	return Entry{
		Target: target, Key: key, What: x.What, RepoID: x.RepoID, ItemID: x.ItemID, Number: x.Number, At: x.at, State: Planned,
		Body: x.message(Delivery(target, key)).JSON(),
	}
}

func millis(t time.Time) string {
	if t.IsZero() {
		return "0"
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}

// words are what a fact says, and what is to be done about it.
func (x fact) words() (says, do string) {
	if x.says != "" {
		return x.says, x.do
	}
	w := explain.Reason(x.reason, explain.Place{Pull: x.Pull, Comments: true, Spending: true})
	do = w.Next()
	if x.do != "" {
		do = x.do
	}
	if x.waits {
		return "it waits for " + w.What, do
	}
	return w.What, do
}
