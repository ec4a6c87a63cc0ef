package review

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// notices plans the commit status of the head, and the label that says that people must review.
func (i Item) notices(s Step, c Choice) []work.Action {
	var all []work.Action
	if says, told := i.Status(c, "", ""); told && (s.Moves() || s.Before.Head != s.Record.Head || relabel(s.Before) != relabel(s.Record)) {
		all = append(all, says)
	}
	human := s.Record.State == HumanReview
	recalled := s.Before.Head == "" // nothing has read what GitHub shows
	if label := i.Labels.HumanReview; label != "" && (human && recalled || human != (s.Before.State == HumanReview)) {
		all = append(all, PeopleLabel(i.Repo, i.ID, i.Pull.Number, label, human))
	}
	return all
}

// Status plans the commit status of the head; false: none is set. stopped is why the merge of the
// pull request is stopped, and next what to do about that; empty: nothing stops it. That changes the
// text alone: where GitHub requires the status, another state would keep people from merging or
// queueing it themselves, and our own merge from being tried again.
func (i Item) Status(c Choice, stopped, next string) (work.Action, bool) {
	says, told := statusOf(c)
	if stopped != "" {
		says.text = notMerged(stopped, next)
	}
	return work.Action{
		RepoID: i.Repo.ID, ItemID: i.ID, Kind: work.ActionStatus, Need: work.NeedCosmetic, State: work.ActionPlanned,
		Token: work.StatusToken(i.Repo.Key(), i.Pull.HeadOID), Number: i.Pull.Number, Head: i.Pull.HeadOID, Target: says.state, Body: says.text,
		Base: i.Pull.URL, Why: "the reviews: " + strings.ReplaceAll(string(c.State), "_", " "),
	}, told && i.Pull.State == work.PullOpen
}

// relabel reports whether the reviews wait for the label of somebody else's pull request.
func relabel(r Record) bool { return r.Why.Kind == work.WhyReviewRelabel }

// status is a commit status on GitHub.
type status struct{ state, text string }

// mostStatus is the maximum length of a commit status's text.
const mostStatus = 140

// leastWhy is how much of such a text at least says why a merge is stopped.
const leastWhy = 30

// notMerged returns the text of a commit status of a head whose merge is stopped. A next step that
// does not fit is in the comment about the stop.
func notMerged(stopped, next string) string {
	line := func(s string) string { return strings.Join(strings.Fields(strings.ReplaceAll(s, "`", "")), " ") }
	const before, between = "Not merged: ", " Next: "
	room := mostStatus - len(before) - len(between) - len(".")
	if next = line(next); utf8.RuneCountInString(next) > room-leastWhy {
		next = "see the comment about it"
	}
	why := cut(strings.TrimSuffix(line(stopped), "."), room-utf8.RuneCountInString(next))
	if !strings.HasSuffix(why, "…") {
		why += "."
	}
	return before + why + between + next
}

// cut shortens a text to a number of characters.
func cut(s string, most int) string {
	if text := []rune(s); len(text) > most {
		return strings.TrimRight(string(text[:most-1]), " ,;:.") + "…"
	}
	return s
}

// statusOf returns the commit status of the head; false: none is set. It stays pending until
// everybody approved, even if the reviews are stopped: a red status would hide checks that turn red
// later, in GitHub's combined state. A merge does not end it: the commit may be the head of another
// pull request, which nobody reviewed.
func statusOf(c Choice) (status, bool) {
	s := status{"pending", ""}
	switch c.State {
	case Pending, Reviewing:
		switch {
		case c.Why.Kind == work.WhyReviewRelabel:
			s.text = "Waits for the label: it may have been set before the last push"
		case c.State == Pending:
			s.text = "Not reviewed yet"
		default:
			s.text = "Waits for the review of " + c.Reviewer.Name
		}
	case Checking:
		s.text = "Waits for the approval of a person"
	case Fixing:
		s.text = "Changes requested by " + c.Reviewer.Name
	case Approved:
		s = status{"success", "Approved by " + ReviewerNames(c.Line)}
	case HumanReview:
		s.text = "Requires human review"
	case Failed:
		s.text = fmt.Sprintf("The review of %s failed", c.Reviewer.Name)
	case Merged, Closed, "":
		return status{}, false
	}
	s.text = cut(s.text, mostStatus)
	return s, true
}

// ReviewerNames returns the names of reviewers, for people.
func ReviewerNames(line []Reviewer) string {
	names := make([]string, len(line))
	for i, r := range line {
		names[i] = r.Name
	}
	if len(names) == 0 {
		return "a person"
	}
	return strings.Join(names, ", ")
}

// Request plans to request a person's review of this head. It returns false for the author, whose
// review GitHub does not accept: they use the command.
func (i Item) Request(who Reviewer) (work.Action, bool) {
	extra := ""
	if n := i.facts().again(who.Name); n > 0 {
		extra = strconv.Itoa(n)
	}
	return work.Action{
		RepoID: i.Repo.ID, ItemID: i.ID, Kind: work.ActionReviewRequest, Extra: extra, Need: work.NeedRequired, State: work.ActionPlanned,
		Token: work.RequestToken(i.Repo.Key(), i.Pull.Number, who.Name, i.Subject(who.Name)), Number: i.Pull.Number, Head: i.Pull.HeadOID, Target: who.Login,
		Why: "reviewer " + who.Name + " is next",
	}, !strings.EqualFold(who.Login, i.Policy.Author)
}

// Trigger returns the event for a key that asks for a turn.
func (i Item) Trigger(key string) work.Event {
	e, _ := work.EventOfKey(key)
	e.RepoID, e.ItemID, e.URL = i.Repo.ID, i.ID, i.Pull.URL
	e.CreatedAt, e.UpdatedAt, e.SeenAt = i.Now, i.Now, i.Now
	return e
}

// HoldLabel plans to set or remove the label that holds the reviews.
func (i Item) HoldLabel(held bool) work.Action {
	l := work.Labelling{Without: []string{i.Labels.Hold}}
	if held {
		l = work.Labelling{With: []work.Label{work.HoldLabel(i.Labels.Hold)}}
	}
	a := l.Action(i.Repo, i.ID, i.Pull.Number, "hold")
	a.Need = work.NeedRequired
	return a
}
