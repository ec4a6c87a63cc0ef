package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// status says where the item stands, in a list.
func (r *commander) status() Reply {
	lines := []string{
		fmt.Sprintf("state: `%s` since %s", r.item.State, work.UTC(r.item.Since)),
		"waits for: " + r.waitsFor(),
		"next: " + r.comesNext(),
	}
	if r.item.Branch != "" {
		lines = append(lines, fmt.Sprintf("branch: `%s`", r.item.Branch))
	}
	if r.item.HasPull() {
		lines = append(lines, fmt.Sprintf("pull request: #%d, %s", r.item.Pull.Number, r.item.Pull.State))
	}
	lines = append(lines, "so far: "+spending.Of(r.item.Spent).Describe(r.v.Policy.Budgets))
	return Reply{Said: fmt.Sprintf("This is how #%d stands:\n\n- ", r.item.Number) + strings.Join(lines, "\n- ")}
}

// whereItStands is the same in two sentences.
func (r *commander) whereItStands() string {
	return fmt.Sprintf("It is `%s` and waits for %s. Next: %s.", r.item.State, r.waitsFor(), r.comesNext())
}

// waitsFor says what the item waits for. What is wrong with the machine is the
// machine's business: GitHub is told that it is.
func (r *commander) waitsFor() string {
	turn, busy := r.unfinished()
	pause := r.item.Pause
	_, over := r.over()
	switch {
	case over:
		return "nothing"
	case pause != nil:
		return fmt.Sprintf("the end of the pause that %s began at %s", pause.By, work.UTC(pause.Began))
	case r.standsStill(), busy && turn.Blocked:
		return "a person" + r.whyStopped()
	case busy && r.alive(turn):
		return "the agent"
	case busy && turn.NotBefore.After(r.v.Now):
		return fmt.Sprintf("a new attempt, which is made after %s (`gh mergexo show` says why, where it runs)", work.UTC(turn.NotBefore))
	case busy:
		return "a pass with a free slot"
	case r.item.HasPull() && r.item.Pull.NotBefore.After(r.v.Now):
		return "GitHub, which is asked again after " + work.UTC(r.item.Pull.NotBefore)
	case r.item.HasPull() && len(r.waiting()) == 0:
		return fmt.Sprintf("people on #%d", r.item.Pull.Number)
	case r.unanswered():
		return fmt.Sprintf("people on #%d: enable_feedback_loop is false in the config, so comments are not answered", r.item.Pull.Number)
	case r.v.Day.Why != "":
		return "the day's budget: " + r.v.Day.String()
	case r.item.HasPull():
		return "a turn for " + work.Count(len(r.waiting()), "event")
	}
	return "a pass with a free slot"
}

// whyStopped is the reason as the comment that is kept up to date has it.
func (r *commander) whyStopped() string {
	stop := r.item.Stop
	if !stop.Lasts() {
		return ""
	}
	return ": " + strings.TrimRight(r.v.Policy.Clean(strings.Join(strings.Fields(stop.Reason), " ")), ".")
}

// unanswered reports whether what waits are comments, and the config has none
// answered.
func (r *commander) unanswered() bool {
	said := func(e work.Event) bool { return e.Kind.Said() }
	return r.item.HasPull() && !r.v.Policy.FeedbackLoop && slices.ContainsFunc(r.item.Events, said)
}

// waiting are the events that a turn is going to answer.
func (r *commander) waiting() (all []work.Event) {
	for _, e := range r.item.Events {
		if e.Kind.Said() || e.Kind == work.EventCheck || e.Kind == work.EventConflict {
			all = append(all, e)
		}
	}
	return all
}

// comesNext says how the item goes on.
func (r *commander) comesNext() string {
	turn, busy := r.unfinished()
	_, over := r.over()
	switch {
	case over:
		return r.afterTheEnd()
	case r.item.Pause != nil:
		return "`/mergexo resume`, or the label taken away"
	case r.standsStill(), busy && turn.Blocked:
		if r.item.Hint != "" {
			return orRetry(r.v.Policy.Clean(strings.Join(strings.Fields(r.item.Hint), " ")))
		}
		return "a comment, or `/mergexo retry`"
	case busy:
		return "the turn's answer"
	case r.item.HasPull() && len(r.waiting()) == 0:
		return "comment on it, merge it or close it"
	case r.unanswered():
		return "merge it or close it, or set enable_feedback_loop to true"
	case r.item.HasPull():
		return "the answer on the pull request"
	}
	return "the turn that opens a pull request"
}

// orRetry adds to a way on that it may also be tried again as it is.
func orRetry(hint string) string {
	if strings.Contains(hint, "mergexo") {
		return hint
	}
	return hint + ", or `/mergexo retry`"
}

// afterTheEnd says what may follow on an item that is over.
func (r *commander) afterTheEnd() string {
	next := r.item.Followed
	switch {
	case next != nil && next.Pull.Number != 0:
		return fmt.Sprintf("implemented in #%d, which is %s", next.Pull.Number, next.Pull.State)
	case next != nil:
		return fmt.Sprintf("its implementation, which is `%s`", next.State)
	}
	again := r.again()
	if strings.HasPrefix(again, "`") {
		return again
	}
	return strings.ToLower(again[:1]) + again[1:]
}
