package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/change"
)

// replan begins a pull request that changes a merged roadmap. The reason is a person's text: it is
// stored as the text of an event, and only the agent's prompt has it.
func (r *commander) replan(inv invocation) Reply {
	first := r.item.ID
	switch {
	case r.item.Flow != work.FlowRoadmap:
		return refusal("#%d is no roadmap.", r.item.Number)
	case r.item.Replans() && r.item.State == work.StateClosed, r.item.Replans() && r.item.State == work.StateCompleted:
		first = r.item.Parent
	case r.item.Replans() && r.item.HasPull() && inv.onPull:
		return refusal("This pull request changes the roadmap. Comment here what else is to change, without a command, and the agent reads it.")
	case r.item.Replans() && r.item.HasPull():
		return r.passOn(inv)
	case r.item.Replans() && r.item.State == work.StatePending && r.item.Turn == nil:
		return r.addReason(inv, r.item.Parent)
	case r.item.Replans():
		return refusal("The roadmap is being changed already. %s", r.statusSentences())
	case r.item.State.Open() && r.item.HasPull():
		return refusal("The roadmap is not merged yet. Comment on #%d, and it is changed there.", r.item.Pull.Number)
	case r.item.State.Open():
		return refusal("There is no roadmap yet. Comment on the issue, and the agent reads it.")
	}
	if r.roadmapOver(first) {
		return refusal("The roadmap is over. %s.", r.again())
	}
	if r.item.IssueClosed {
		return refusal("The issue is closed. Reopen it, then repeat the command.")
	}
	if slices.ContainsFunc(of[change.Replan](r.p.Decisions), func(c change.Replan) bool { return c.Roadmap == first }) {
		return r.addReason(inv, first)
	}
	r.p.add(change.Replan{Roadmap: first, Source: inv.key, By: inv.account, Why: inv.Arg, URL: inv.url, Words: r.words("replan", "", inv.by+" wants the roadmap to change")})
	rep := reply("An agent changes the document in a pull request of its own, once a slot is free. Until that is merged, sub-issues begin as before.")
	if r.item.Pause != nil {
		rep = reply("The roadmap is paused: after %s an agent changes the document in a pull request of its own.", r.command(work.VerbResume))
	}
	return rep
}

// passOn adds a reason to the open pull request that changes the roadmap, as a comment of ours: people see it there, and
// whoever wants it done says so to the agent.
func (r *commander) passOn(inv invocation) Reply {
	pull := r.item.Pull
	token := work.NoticeToken(r.v.Repo.Key(), pull.Number, "replan "+inv.key)
	body := fmt.Sprintf("%s has a further reason to change the roadmap: %s\n\nTo have the agent do it here, comment what it is to change.", inv.by, r.v.Policy.Clean(inv.Arg))
	rep := reply("The roadmap is being changed in #%d, %s, and your reason is added there. To have the agent do it there, too, comment there.", pull.Number, pull.URL)
	rep.sent = []work.Action{{
		RepoID: r.v.Repo.ID, ItemID: r.item.ID, Kind: work.ActionComment, Need: work.NeedRequired, State: work.ActionPlanned, Token: token,
		Number: pull.Number, Body: r.v.Policy.Mark(body, work.Marks{Token: token}), Why: "a further reason of " + inv.by + " to change the roadmap",
	}}
	return rep
}

// addReason adds a reason to a change that was asked for, and that no agent has begun.
func (r *commander) addReason(inv invocation, first int64) Reply {
	r.p.add(change.Replan{Roadmap: first, Source: inv.key, By: inv.account, Why: inv.Arg, URL: inv.url, Words: r.words("replan", "", inv.by+" has a further reason to change the roadmap")})
	url := ""
	for _, e := range r.item.Events {
		if e.Kind == work.EventReplan {
			url = e.URL
		}
	}
	for _, c := range of[change.Replan](r.p.Decisions) {
		if url == "" && c.Roadmap == first {
			url = c.URL
		}
	}
	return reply("A change of the roadmap is asked for already%s. Its agent is given this reason, too.", strings.TrimSuffix(": "+url, ": "))
}
