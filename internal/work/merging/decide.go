package merging

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// Ask is what to do about a pull request.
type Ask string

// The values of Ask.
const (
	AskNothing Ask = ""        // it waits, or we do not merge it
	AskMerge   Ask = "merge"   // merge it at its head
	AskEnqueue Ask = "enqueue" // its base has a merge queue
	AskDequeue Ask = "dequeue" // remove it from the queue, because it must not land now
	AskUpdate  Ask = "update"  // update its branch from the base
)

// Choice is the decision about one pull request.
type Choice struct {
	Ask    Ask
	Method Method
	Gates  []Gate
	Why    work.Reason // why it waits; zero: it does not
	Stop   bool        // a person must act
}

// Holds returns the closed gate to report: stops first, then the merge queue (GitHub merges from
// it regardless), then gates only a person can open, then the rest, so that nobody waits for CI
// and then learns that an approval is missing.
func Holds(all []Gate) (Gate, bool) {
	for _, first := range []func(Gate) bool{
		func(g Gate) bool { return g.Stop },
		func(g Gate) bool { return g.Code == gateQueue },
		func(g Gate) bool { return g.Code.has(people) || g.Why.Kind == work.WhyMergeHalted },
		func(Gate) bool { return true },
	} {
		if i := slices.IndexFunc(all, func(g Gate) bool { return !g.Open && first(g) }); i >= 0 {
			return all[i], true
		}
	}
	return Gate{}, false
}

// Decide decides about one pull request, without regard to others.
func Decide(f Facts, p Policy) Choice {
	if !p.Auto || f.Pull.State != work.PullOpen {
		return Choice{}
	}
	c := Choice{Gates: Gates(f, p)}
	c.Method, _ = methodOf(f.Box, p)
	held, closed := Holds(c.Gates)
	leaves, out := f.leaves(c.Gates)
	switch {
	case out:
		c.Ask, c.Why = AskDequeue, leaves.Why
	case !closed && f.Box.Queue.Required:
		c.Ask = AskEnqueue
	case !closed:
		c.Ask = AskMerge
	case onlyClosed(c.Gates, func(c Code) bool { return c == gateBehind }):
		c.Ask, c.Why = AskUpdate, held.Why
	default:
		c.Why, c.Stop = held.Why, held.Stop
	}
	return c
}

// leaves returns the closed gate for which a pull request that we queued is dequeued. Only gates
// that GitHub does not know count: people's decisions and our own state. GitHub and its queue
// enforce the others.
func (f Facts) leaves(all []Gate) (Gate, bool) {
	if !f.Queued || !f.Box.Queue.In {
		return Gate{}, false
	}
	for _, g := range all {
		against := g.Code == gateReview && len(f.Against) > 0 // GitHub minds it only if its rules require reviews
		if !g.Open && (g.Code.has(ours) || against || g.Code == gateMerging && (f.Halt != nil || f.Answers)) {
			return g, true
		}
	}
	return Gate{}, false
}

// onlyClosed reports whether every closed gate is of this kind and no stop.
func onlyClosed(all []Gate, kind func(Code) bool) bool {
	return !slices.ContainsFunc(all, func(g Gate) bool { return !g.Open && (g.Stop || !kind(g.Code)) })
}

// allowed returns the methods by which GitHub may merge into the base.
func allowed(b Box) []Method {
	return slices.DeleteFunc(Methods(), func(m Method) bool {
		rules := b.Rules
		return !slices.Contains(b.Methods, m) || len(rules.Methods) > 0 && !slices.Contains(rules.Methods, m) || rules.Linear && m == MergeCommit
	})
}

// methodOf returns the merge method. It returns false if the config's method, or every method, is
// not allowed.
func methodOf(b Box, p Policy) (Method, bool) {
	all := allowed(b)
	switch {
	case p.Method != "":
		return p.Method, slices.Contains(all, p.Method)
	case len(all) == 0:
		return "", false
	}
	return all[0], true
}

func names(all []Method) []string {
	out := make([]string, len(all))
	for i, m := range all {
		out[i] = string(m)
	}
	return out
}

// Candidate is one of several pull requests that may be merged.
type Candidate struct {
	Number  int
	Base    string
	Updated time.Time // when we last updated its branch
	Sent    bool      // a merge or an update of it was sent
	Choice  Choice
}

// Next chooses the pull requests to handle now, one for each base: the oldest one that is ready. A
// pull request whose branch was just updated keeps its turn while its checks run, because merging
// another one would move its base again. waits has the number that each other one waits for.
func Next(all []Candidate, now time.Time, patience time.Duration) (chosen []int, waits map[int]int) {
	all = slices.Clone(all)
	sorted.By(all, func(a, b Candidate) int { return a.Number - b.Number })
	waits = map[int]int{}
	taken := map[string]int{} // by base: the number of the pull request that has its turn
	for _, c := range all {
		if c.Sent {
			taken[c.Base] = c.Number
		}
	}
	for _, c := range all {
		if by, over := taken[c.Base]; !over && c.settles(now, patience) {
			taken[c.Base] = c.Number
		} else if over && by != c.Number && c.settles(now, patience) {
			waits[c.Number] = by
		}
	}
	for _, c := range all {
		if c.Choice.Ask == AskNothing || c.Sent {
			continue
		}
		if by, over := taken[c.Base]; over && by != c.Number && c.Choice.Ask != AskEnqueue {
			waits[c.Number] = by
			continue
		}
		delete(waits, c.Number)
		chosen = append(chosen, c.Number)
		if c.Choice.Ask != AskEnqueue { // a queue takes any number
			taken[c.Base] = c.Number
		}
	}
	return chosen, waits
}

// settles reports whether a pull request's branch was updated less than patience ago, and it waits
// only for results of that update.
func (c Candidate) settles(now time.Time, patience time.Duration) bool {
	fresh := !c.Updated.IsZero() && now.Sub(c.Updated) < patience
	return fresh && c.Choice.Ask == AskNothing && len(c.Choice.Gates) > 0 &&
		onlyClosed(c.Choice.Gates, func(c Code) bool { return c.has(settles) })
}

// Trailer starts the last line of a merge commit's message.
const Trailer = "Mergexo-Action: "

// Message returns the title and message of a merge commit. The message ends with the token, by
// which a squash is found on the base.
func Message(m Method, pull work.PullRequest, issue int, fixes bool, token string) (title, message string) {
	switch m {
	case Rebase:
		return "", "" // GitHub keeps the messages of the commits
	case MergeCommit:
		title = fmt.Sprintf("Merge pull request #%d from %s", pull.Number, pull.Branch)
		message = pull.Title + "\n\n"
	case Squash:
		title = fmt.Sprintf("%s (#%d)", strings.TrimSpace(pull.Title), pull.Number)
	}
	word := "Refs"
	if fixes {
		word = "Fixes"
	}
	return title, fmt.Sprintf("%s%s #%d\n\n%s%s", message, word, issue, Trailer, token)
}
