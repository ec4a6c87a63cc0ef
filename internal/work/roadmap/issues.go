package roadmap

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// Item is the newest work item on an issue below a roadmap.
type Item struct {
	ID     int64
	Ref    string // of the issue
	State  work.State
	Flow   work.Flow
	Since  time.Time   // when the state began
	Reason work.Reason // why it is blocked
	Wait   work.Reason // what it waits for else, as the last plan of it saw
	Waits  time.Time   // since when passes see it wait for that
	Pull   int         // number of the newest pull request of the issue; 0: none
	Head   string      // of that pull request
}

// waits returns what the item waits for as it is now. The stored wait may be of an earlier time: before
// work began, or of another head.
func (i Item) waits(p Progress) work.Reason {
	switch {
	case p == OfPerson:
		return i.Reason
	case p == Waiting, p == Working && !i.Waits.Before(i.Since), p == Reviewed && i.Wait.Head == i.Head:
		return i.Wait
	}
	return work.Reason{}
}

// Follow returns the issues below a roadmap in GitHub's order, then those that are still to be opened.
// What GitHub lists decides; the document counts for what is not made yet. needs has what GitHub lists
// as blocking, by work item.
func Follow(of Record, nodes []Child, subs []SubIssue, items []Item, needs map[int64][]Need) []Issue {
	home, known := of.Repo, map[string]Item{}
	for _, i := range items {
		if i.Pull == 0 {
			i.Pull = known[strings.ToLower(i.Ref)].Pull
		}
		known[strings.ToLower(i.Ref)] = i
	}
	ids := map[string]Child{}
	var all []Issue
	for _, n := range nodes {
		if n.Number == 0 && (n.Step != Planned || of.State.Over()) {
			continue // it went before it had an issue
		}
		i := Issue{Node: n.Node, Title: n.Title, Position: len(subs) + len(nodes) + n.Position}
		if n.Number != 0 {
			i.Ref = work.Dependency{Repo: home, Number: n.Number}.String()
		}
		ids[n.Node] = n
		all = append(all, i)
	}
	for _, s := range subs {
		at := slices.IndexFunc(all, func(i Issue) bool { return i.Key() == strings.ToLower(s.Ref) })
		if at < 0 {
			all, at = append(all, Issue{Ref: s.Ref}), len(all)
		}
		all[at].Title, all[at].Position = s.Title, s.Position
		all[at].Progress = map[work.DependencyState]Progress{work.DependencyClosed: Done, work.DependencyDropped: Dropped, work.DependencyMissing: TakenOut, work.DependencyRefused: Hidden}[s.State]
	}
	for n := range all {
		i := &all[n]
		node, item := ids[i.Node], known[i.Key()]
		i.Pull = item.Pull
		switch {
		case i.Progress != "":
		case node.Step == Gone:
			i.Progress = TakenOut
		case item.ID == 0 && node.Step == Planned:
			i.Progress = ToOpen
		case item.ID == 0 && node.Step == Made:
			i.Progress = Waiting // for its label
		default:
			i.Progress = progressOf(item)
		}
		if i.Progress == OfPerson && item.Wait.Kind.OfRoadmap() {
			i.Progress = Waiting // a person said that it begins all the same
		}
		i.Waits = item.waits(i.Progress)
		i.Needs = needs[item.ID]
		if i.Node != "" && item.ID == 0 {
			i.Needs = neededBy(node, home, ids)
		}
	}
	over := map[string]bool{}
	for _, i := range all {
		over[i.Key()] = i.Progress.Over()
	}
	for n := range all {
		all[n].Needs = slices.Clone(all[n].Needs)
		for m, need := range all[n].Needs {
			if is, below := over[need.Key()]; below {
				all[n].Needs[m].Open = !is
			}
		}
	}
	sorted.By(all, func(a, b Issue) int { return cmp.Compare(a.Position, b.Position) })
	return all
}

// neededBy returns what a node needs by the document.
func neededBy(n Child, home work.RepoName, ids map[string]Child) (all []Need) {
	for _, id := range n.Needs {
		key := NodeKey(id)
		if number := ids[id].Number; number != 0 {
			key = work.Dependency{Repo: home, Number: number}.String()
		}
		all = append(all, Need{key, true})
	}
	return all
}

// progressOf returns how far work on an open issue has come.
func progressOf(i Item) Progress {
	switch i.State {
	case work.StatePending, work.StateReady:
		return Waiting
	case work.StateRunning, work.StateMerged: // a nested roadmap is merged
		return Working
	case work.StateAwaitingFeedback:
		return Reviewed
	case work.StateBlocked, work.StateAwaitingIssueFollowup:
		return OfPerson
	case work.StateCompleted:
		return Landed
	case work.StateClosed:
	}
	return Idle
}

// Lead is a merged roadmap that has not ended, with how far it has come. It stands for the work item of
// its issue, on which nothing more is worked.
type Lead struct {
	Record
	Over, All, ToOpen int      // how many of its issues are over, how many there are, and how many are still to be opened
	Reopened          []string // numbers of those that hold others although they are merged
}

// LeadOf returns a roadmap with how far its issues have come.
func LeadOf(r Record, issues []Issue) Lead {
	l := Lead{Record: r}
	l.Over, l.All = Tally(issues)
	for _, i := range issues {
		if d, ok := work.ParseDependency(i.Ref, r.Repo); ok && holds(i, issues) {
			l.Reopened = append(l.Reopened, fmt.Sprintf("#%d", d.Number))
		}
		if i.Progress == ToOpen {
			l.ToOpen++
		}
	}
	return l
}

// holds reports whether an issue is open although its work is merged, as if somebody had reopened it, and others wait
// for it.
func holds(i Issue, all []Issue) bool {
	return i.Progress == Landed && slices.ContainsFunc(all, func(o Issue) bool {
		return !o.Progress.Over() && slices.ContainsFunc(o.Needs, func(n Need) bool { return n.Open && n.Key() == i.Key() })
	})
}

// Waits returns what the roadmap waits for, and whether a person must act.
func (l Lead) Waits() (why work.Reason, stopped bool) {
	switch l.State {
	case Stopped:
		return l.Why, true
	case Unfolding, Followed:
		switch {
		case !l.Pause.Began.IsZero():
			return l.Pause.Reason(), false
		case l.Closed:
			return work.Reason{Kind: work.WhyRoadmapClosed}, false
		case len(l.Reopened) > 0:
			return work.Reason{Kind: work.WhyRoadmapReopened, Names: l.Reopened}, false
		}
	case Cancelled, Deleted, Ended:
	}
	switch l.State { //nolint:exhaustive // the others say how far its issues have come
	case Unfolding:
		return work.Reason{Kind: work.WhyRoadmapUnfolding, Text: fmt.Sprintf("%d of %d", l.All-l.ToOpen, l.All)}, false
	case Cancelled, Deleted:
		return work.Reason{Kind: work.WhyRoadmapCancelled, Text: string(l.State)}, false
	}
	return work.Reason{Kind: work.WhyRoadmapFollowed, Text: fmt.Sprintf("%d of %d", l.Over, l.All)}, false
}

// Neglected is an issue below a roadmap that is ready, and on which nobody works, or that holds others although it is
// merged.
type Neglected struct {
	Ref    string
	Since  time.Time // when that was first seen
	ToldAt time.Time // when a comment told it; zero: none did
}

// Shown is what the table of a roadmap is made from.
type Shown struct {
	Record
	Issues []Issue
	Idle   []Neglected
	Last   work.Action // that made the comment; zero: it was never made
}

// Turning names what of the roadmap is written at once. The rest is counting, and may wait for the next edit.
func (s Shown) Turning() string {
	over, all := Tally(s.Issues)
	opened := !slices.ContainsFunc(s.Issues, func(i Issue) bool { return i.Progress == ToOpen })
	return fmt.Sprint(s.State, s.Revision, s.Changing, opened, over > 0, over == all, LeadOf(s.Record, s.Issues).Reopened)
}

// Look returns which issues nobody works on, since when, which of them are to be told now, and when the
// next of them is due. patience is after which time one is told; 0: none is.
func (s Shown) Look(now time.Time, patience time.Duration) (idle, tell []Neglected, next time.Time) {
	for _, i := range s.Issues {
		open := slices.ContainsFunc(i.Needs, func(n Need) bool { return n.Open })
		if ready := i.Progress == Idle && !open; !ready && !holds(i, s.Issues) || patience == 0 || s.State.Over() {
			continue
		}
		n := Neglected{Ref: i.Ref, Since: now}
		if at := slices.IndexFunc(s.Idle, func(o Neglected) bool { return o.Ref == i.Ref }); at >= 0 {
			n = s.Idle[at]
		}
		switch due := n.Since.Add(patience); {
		case !n.ToldAt.IsZero():
		case !due.After(now):
			n.ToldAt = now
			tell = append(tell, n)
		case next.IsZero() || due.Before(next):
			next = due
		}
		idle = append(idle, n)
	}
	return idle, tell, next
}

// Mark is what the marker of the table says.
func (s Shown) Mark() work.NodesMark {
	mark := work.NodesMark{Roadmap: s.Number, Run: s.Run, Nodes: s.numbers()}
	if s.State == Followed { // everything of the document is made
		mark.Made = s.Hash
	}
	return mark
}

// numbers returns the numbers of the issues that were made for nodes of the document.
func (s Shown) numbers() map[string]int {
	all := map[string]int{}
	for _, i := range s.Issues {
		if d, ok := work.ParseDependency(i.Ref, s.Repo); ok && i.Node != "" {
			all[i.Node] = d.Number
		}
	}
	return all
}
