package ingest

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// GitHub's own agents may work on a pull request of ours. That Copilot is assigned is in the list of
// issues; whether Agent Merge is on is asked only where Copilot was assigned or has pushed.

// agentMergeLife is the time after which an Agent Merge that is on is asked about again.
const agentMergeLife = 30 * time.Minute

// beside is what this pass learned of GitHub's own agents on a pull request.
type beside struct {
	pull int64
	work.Beside
}

// besideOf returns what is known of GitHub's own agents on an open pull request.
func (h *reading) besideOf(pull store.OpenPull) beside {
	if b, read := h.besides[pull.Number]; read {
		return b
	}
	return beside{pull.ID, pull.Beside}
}

// noteAssigned records whether Copilot is assigned to a listed pull request.
func (h *reading) noteAssigned(ctx context.Context, pull work.PullRequest, is github.Issue) {
	b := h.besideOf(store.OpenPullOf(pull))
	assigned := slices.ContainsFunc(is.Assignees, func(a work.Account) bool { return work.IsCopilot(a.Login) })
	if assigned == b.Assigned || pull.ID == 0 || h.itemOfPull(ctx, pull).Flow == work.FlowReview { // its author's agents are not our concern
		return
	}
	if b.Assigned = assigned; assigned {
		b.LookAt = h.now()
	}
	h.learnBeside(pull.Number, b)
}

// mayBeCopilots reports whether Copilot may have pushed to a pull request, and nobody asked about its agents since.
func (h *reading) mayBeCopilots(r pullRead) bool {
	return r.pushed && r.old.ID != 0 && h.besideOf(store.OpenPullOf(r.old)).LookAt.IsZero()
}

// noteAgents has GitHub asked about Agent Merge if Copilot made commits that are new on an open pull
// request, or if it was on when the details of the pull request changed.
func (h *reading) noteAgents(r pullRead) {
	b, fresh := h.besideOf(store.OpenPullOf(r.old)), r.commits
	if at := slices.IndexFunc(fresh, func(c work.Commit) bool { return c.OID == r.old.HeadOID }); at >= 0 {
		fresh = fresh[at+1:]
	}
	made := func(c work.Commit) bool { return work.IsCopilot(c.Author.Login) || work.IsCopilot(c.Committer.Login) }
	if r.old.ID == 0 || h.mayBeCopilots(r) && !slices.ContainsFunc(fresh, made) || !h.mayBeCopilots(r) && !b.Merges {
		return
	}
	b.LookAt = h.now()
	h.learnBeside(r.Number, b)
}

// readAgentMerge asks GitHub whether Agent Merge is on, for the pull requests that are due.
func (h *reading) readAgentMerge(ctx context.Context) error {
	for _, n := range slices.Sorted(maps.Keys(h.openPulls)) {
		b := h.besideOf(h.openPulls[n])
		if b.LookAt.IsZero() || b.LookAt.After(h.now()) {
			continue
		}
		on, err := h.repo.GitHub.AgentMerge(ctx, h.row.Current, n)
		if err == nil { // else it stays due
			b.Merges, b.LookAt = on, time.Time{}
			if on {
				b.LookAt = h.now().Add(agentMergeLife)
			}
			h.learnBeside(n, b)
		}
		if err := h.deferOne(err, "read whether Agent Merge is on for #%d", n); err != nil {
			return err
		}
	}
	return nil
}

// learnBeside notes what was learned of GitHub's own agents on a pull request.
func (h *reading) learnBeside(number int, b beside) {
	h.besides[number] = b
	h.put(func(ctx context.Context, tx *store.Tx, _ time.Time) error { return tx.SetBeside(ctx, b.pull, b.Beside) })
}
