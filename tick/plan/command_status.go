package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// status returns the item's state as a list.
func (r *commander) status() Reply {
	s, waits, next := r.waitAndNext()
	lines := []string{
		fmt.Sprintf("state: `%s` since %s", s.State, work.UTC(s.Since)),
		"waits for: " + waits,
		"next: " + next,
	}
	if r.item.Branch != "" {
		lines = append(lines, fmt.Sprintf("branch: `%s`", r.item.Branch))
	}
	if r.item.HasPull() {
		lines = append(lines, fmt.Sprintf("pull request: #%d, %s", r.item.Pull.Number, r.item.Pull.State))
		for _, name := range r.openBeside() {
			lines = append(lines, fmt.Sprintf("another pull request of this issue: %s, open", name))
		}
	}
	lines = append(lines, "so far: "+spending.Of(r.item.Spent).Describe(r.v.Policy.Budgets, false))
	return Reply{Said: fmt.Sprintf("State of #%d:\n\n- ", r.item.Number) + strings.Join(lines, "\n- ")}
}

// statusSentences says in two sentences what the item waits for and what happens next.
func (r *commander) statusSentences() string {
	s, waits, next := r.waitAndNext()
	return fmt.Sprintf("It is `%s` and waits for: %s. Next: %s.", s.State, waits, next)
}

// waitAndNext returns the item's standing, and in words why it waits and what happens next. Details of
// this machine's problems are not published.
func (r *commander) waitAndNext() (s Standing, waits, next string) {
	s = r.standing(r.outlook())
	if _, over := r.over(); over && r.item.Lead == nil {
		return s, "nothing", r.afterTheEnd()
	}
	at, clean := r.v.Place(r.item), func(said string) string { return r.v.Policy.Clean(strings.Join(strings.Fields(said), " ")) }
	return s, strings.TrimRight(clean(s.Says(at, false)), "."), clean(s.Next(at))
}

// outlook returns what a plan without commands would say about the item, as status on this machine
// shows it.
func (r *commander) outlook() Outlook {
	v := r.v
	v.Untracked, v.Items = nil, slices.Clone(v.Items)
	own := func(i known.Item) bool { return i.ID == r.item.ID }
	if at := slices.IndexFunc(v.Items, own); at >= 0 {
		v.Items[at] = r.item // with this plan's decisions so far
	} else {
		v.Items = append(v.Items, r.item)
	}
	for i := range v.Items {
		if own(v.Items[i]) {
			v.Items[i].ReviewsChanged = true // the pass that has the command decides about its item
		}
		v.Items[i].Events = known.Without(v.Items[i].Events, func(e work.Event) bool { return e.Kind == work.EventCommand })
	}
	return For(v).Outlooks(v)(r.item)
}

// afterTheEnd returns what may follow a finished item.
func (r *commander) afterTheEnd() string {
	next := r.item.Followed
	switch {
	case next != nil && next.Pull.Number != 0:
		return fmt.Sprintf("implemented in #%d, which is %s", next.Pull.Number, next.Pull.State)
	case next != nil:
		return fmt.Sprintf("its implementation, which is `%s`", next.State)
	}
	return r.startsOver()
}
