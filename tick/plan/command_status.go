package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/internal/work/standing"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// status says where the item stands, in a list.
func (r *commander) status() Reply {
	waits, next := r.stands()
	lines := []string{
		fmt.Sprintf("state: `%s` since %s", r.item.State, work.UTC(r.item.Since)),
		"waits for: " + waits,
		"next: " + next,
	}
	if r.item.Branch != "" {
		lines = append(lines, fmt.Sprintf("branch: `%s`", r.item.Branch))
	}
	if r.item.HasPull() {
		lines = append(lines, fmt.Sprintf("pull request: #%d, %s", r.item.Pull.Number, r.item.Pull.State))
	}
	lines = append(lines, "so far: "+spending.Of(r.item.Spent).Describe(r.v.Policy.Budgets, r.v.Policy.Spending))
	return Reply{Said: fmt.Sprintf("This is how #%d stands:\n\n- ", r.item.Number) + strings.Join(lines, "\n- ")}
}

// whereItStands is the same in two sentences.
func (r *commander) whereItStands() string {
	waits, next := r.stands()
	return fmt.Sprintf("It is `%s` and waits for %s. Next: %s.", r.item.State, waits, next)
}

// stands says what the item waits for, and what comes next. What is wrong with the
// machine is the machine's business: GitHub is told that it is.
func (r *commander) stands() (waits, next string) {
	if _, over := r.over(); over {
		return "nothing", r.afterTheEnd()
	}
	s, at := r.standing(), r.v.Place(r.item)
	clean := func(said string) string { return r.v.Policy.Clean(strings.Join(strings.Fields(said), " ")) }
	return strings.TrimRight(clean(s.Says(at, false)), "."), clean(s.Next(at))
}

// standing is why nothing happens for the item, as status on this machine has it.
func (r *commander) standing() standing.Standing {
	item := r.item
	if turn, busy := r.unfinished(); busy {
		item.Turn = &turn
	}
	live := item.Turn != nil && r.alive(*item.Turn)
	return standing.Of(item.Standing(), standing.Around{Now: r.v.Now, Repo: r.v.Repo, Live: live, Waits: r.waits()})
}

// waits is what the plan would say of the item without anybody's commands, as status
// on this machine has it.
func (r *commander) waits() []work.Reason {
	v := r.v
	v.Strays, v.Items = nil, slices.Clone(v.Items)
	own := func(i known.Item) bool { return i.ID == r.item.ID }
	if at := slices.IndexFunc(v.Items, own); at >= 0 {
		v.Items[at] = r.item // as far as this plan has decided
	} else {
		v.Items = append(v.Items, r.item)
	}
	for i := range v.Items {
		v.Items[i].Events = known.Without(v.Items[i].Events, func(e work.Event) bool { return e.Kind == work.EventCommand })
	}
	return For(v).Waits()[r.item.ID]
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
	return r.startsOver()
}
