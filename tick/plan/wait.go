package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/tick/change"
)

// Nothing waits for ever in silence. A plan stores what an item waits for, and since when. Once that
// has lasted for the time that the table of reasons names, one comment and one notification report
// it to the people who can end it, and status shows it. A stop has its own comment at once.

// age stores what the item waits for by this plan, and tells it if it has lasted for too long.
func (r *itemPlanner) age(o Outlook) {
	s, was := r.standing(o), r.item.Wait
	now := work.Wait{Reason: s.Why}
	stopped := s.Blocked || explain.AfterOf(s.Why.Kind) == explain.AtOnce
	budget := r.item.State == work.StateBlocked && s.Why.Kind == work.WhyItemBudget
	if r.item.HasPull() {
		now.Reason.Head = r.item.Pull.HeadOID
	}
	switch {
	case r.item.Lead != nil, s.Why.None(), explain.AfterOf(s.Why.Kind) == explain.Never, stopped && !budget:
		now = work.Wait{}
	case was.Same(now):
		now = was
	default:
		now.Since = r.v.Now
	}
	now.LookAt = time.Time{}
	switch patience := r.patience(s.Why); {
	case budget: // the config may allow more by now
		now.LookAt = now.Since
	case now.Reason.None(), patience == untold, !now.ToldAt.IsZero():
	case now.Since.Add(patience).After(r.v.Now):
		now.LookAt = now.Since.Add(patience)
	case r.item.SubIssueOf != "" && was.LookAt.After(r.v.Now): // as the next case left it
		now.LookAt = was.LookAt
	case r.toldByTable(now.Reason.Kind):
		now.LookAt = r.v.Now.Add(patience)
	default:
		now.Reason, now.ToldAt = s.Why, r.v.Now
		now.Reason.Head = was.Reason.Head
		r.tell(now, s)
	}
	if !now.Same(was) || !now.Since.Equal(was.Since) || !now.LookAt.Equal(was.LookAt) || !now.ToldAt.Equal(was.ToldAt) {
		r.p.add(change.Wait{Item: r.item.ID, Below: r.item.SubIssueOf != "", Wait: now})
	}
}

// untold is the patience with a wait that no comment tells.
const untold = time.Duration(-1)

// patience returns how long a wait may last before a comment tells it; untold: it may last for ever, or a
// comment told it at once.
func (r *itemPlanner) patience(why work.Reason) time.Duration {
	p := r.v.Policy
	switch after := explain.AfterOf(why.Kind); {
	case p.RemindAfter <= 0, after == explain.Never, after == explain.AtOnce:
		return untold
	case after == explain.Overdue: // people hear it also where checks may take as long as they like
		return min(cmp.Or(p.ChecksTimeout, time.Hour), p.RemindAfter)
	case why.Kind == work.WhyReviewPerson && why.Who == "" && why.Text != "": // whom it waits for cannot end it
		return 0
	}
	return p.RemindAfter
}

// tell plans the comment about a wait. Its token names the head, the reason and the person, so that
// a pass that lost the database does not post it again.
func (r *itemPlanner) tell(w work.Wait, s Standing) {
	number, at := r.item.Number, r.v.Place(r.item)
	if at.Pull {
		number = r.item.Pull.Number
	}
	clean := func(said string) string { return r.v.Policy.Clean(strings.Join(strings.Fields(said), " ")) }
	who := explain.Logins(s.Why)
	if len(who) == 0 && explain.AfterOf(s.Why.Kind) == explain.IfNobodyCan {
		who = r.v.Writers
	}
	body := fmt.Sprintf("%sWaiting since %s: %s\n\n- Next step: %s.", explain.Mention(who), work.UTC(w.Since), work.Sentence(clean(s.Says(at, false))), strings.TrimRight(clean(s.Next(at)), "."))
	token := work.NoticeToken(r.v.Repo.Key(), number, strings.Join([]string{"waits", string(w.Reason.Kind), w.Reason.Who, w.Reason.Head}, " "))
	r.comment(number, token, body, "it waits for too long", fmt.Sprintf("it waits since %s: %s", work.Stamp(w.Since), explain.Reason(s.Why, r.v.Here(r.item)).Here()))
}

// standing returns how the item stands by a plan's outlook.
func (r *itemPlanner) standing(o Outlook) Standing {
	item := r.item
	turn, busy := r.unfinished()
	if busy {
		item.Turn = &turn
	}
	return StandingOf(item, o, Around{Now: r.v.Now, Repo: r.v.Repo, Halted: r.v.Halted, Live: busy && r.alive(turn)})
}

// alive reports whether a running pass works on a turn.
func (r *itemPlanner) alive(t work.Turn) bool {
	return slices.ContainsFunc(r.v.Held, func(h work.Holder) bool { return h.Turn == t.Key })
}
