package known

import (
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// MergeAction returns the action to send for the item's pull request: merge, enqueue, dequeue or
// update its branch. why is used for a dequeue.
func (i Item) MergeAction(v Snapshot, c merging.Choice, why string) work.Action {
	pull, repo := i.Pull, v.Repo
	if v.Policy.Title != nil {
		pull.Title = v.Policy.Title(pull.Title)
	}
	key := repo.Key()
	a := work.Action{
		RepoID: repo.ID, ItemID: i.ID, Need: work.NeedRequired, State: work.ActionPlanned, Number: pull.Number, Head: pull.HeadOID, Base: pull.Base,
	}
	switch c.Ask {
	case merging.AskUpdate:
		a.Kind, a.Token = work.ActionUpdateBranch, work.UpdateToken(key, pull.Number, pull.HeadOID)
		a.Why = fmt.Sprintf("PR #%d is brought up to date with %s: it is next, and all other gates are open", pull.Number, pull.Base)
	case merging.AskEnqueue:
		a.Kind, a.Token, a.Target = work.ActionEnqueue, work.EnqueueToken(key, pull.Number, pull.HeadOID), pull.NodeID
		a.Why = fmt.Sprintf("PR #%d is put into the merge queue of %s: all gates are open", pull.Number, pull.Base)
	case merging.AskDequeue:
		of, _ := i.Queued()
		a.Kind, a.Token, a.Target = work.ActionDequeue, work.DequeueToken(key, pull.Number, pull.HeadOID, of.Renewals), pull.NodeID
		a.Why = fmt.Sprintf("PR #%d is taken out of the merge queue of %s: %s", pull.Number, pull.Base, why)
	case merging.AskMerge, merging.AskNothing:
		a.Kind, a.Token, a.Target = work.ActionMerge, work.MergeToken(key, pull.Number, pull.HeadOID), string(c.Method)
		a.Title, a.Body = merging.Message(c.Method, pull, i.Number, i.Flow != work.FlowDesign, a.Token)
		a.Why = fmt.Sprintf("PR #%d is merged into %s (%s): all gates are open", pull.Number, pull.Base, c.Method)
	}
	return a
}
