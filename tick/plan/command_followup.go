package plan

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// followup opens a follow-up that an agent proposed, as a sub-issue of the item's issue. Nothing
// begins: the new issue has no label. Asked again, it names the issue that is there.
func (r *commander) followup(inv invocation) Reply {
	n, _ := strconv.Atoi(inv.Arg) // the parser has checked it
	all := r.item.Proposals
	at := slices.IndexFunc(all, func(p work.Proposal) bool { return p.Number == n })
	switch {
	case len(all) == 0:
		return refusal("#%d has no follow-ups. If its pull request lists some, the database that knew them was lost: open the issue by hand.", r.item.Number)
	case at < 0:
		return refusal("There is no follow-up %d on #%d, so nothing was done. The last one is %d.", n, r.item.Number, all[len(all)-1].Number)
	}
	p := all[at]
	child := r.child(inv, p)
	rep := reply("Follow-up %d (%s) is %s", n, r.v.Policy.Clean(p.Title), work.ResultOf(child.Token))
	rep.Unsent = fmt.Sprintf("Follow-up %d is opened as an issue by the next pass.", n)
	rep.sent = []work.Action{child}
	return rep
}

// child returns the action that opens a follow-up. Its token names the issue and the number, so that
// there is one issue for each.
func (r *commander) child(inv invocation, p work.Proposal) work.Action {
	from := ""
	if r.item.HasPull() {
		from = fmt.Sprintf(" (#%d)", r.item.Pull.Number)
	}
	body := fmt.Sprintf("Proposed by an agent that worked on #%d%s: %s\n\nOpened for %s. Nobody works on it until it has a label.",
		r.item.Number, from, r.v.Policy.Clean(p.Why), inv.by)
	token := work.FollowupToken(r.v.Repo.Key(), r.item.Number, p.Number)
	return work.Action{
		RepoID: r.v.Repo.ID, ItemID: r.item.ID, Kind: work.ActionChild, Need: work.NeedRequired, Token: token, State: work.ActionPlanned,
		Number: r.item.Number, Title: r.v.Policy.Title(p.Title), Body: r.v.Policy.Mark(body, work.Marks{Token: token}), Why: inv.given(),
	}
}
