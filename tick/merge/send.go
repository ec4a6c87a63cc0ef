package merge

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// actions handles the actions of a repository, one by one.
func (o round) actions(ctx context.Context, jobs []*job) {
	for _, j := range jobs {
		if o.mustNotSend(ctx) {
			return
		}
		err := o.contain(ctx, "merge "+work.Ref(o.r.Name, j.a.Number), o.r, j.itemID(), o.rep, func() error { return o.sendOrSettle(ctx, j) })
		if err != nil && ctx.Err() == nil {
			o.log.WarnContext(ctx, "a merge action failed", o.attrs(ctx, j.a, "error", err)...)
			o.keepFound(ctx, j, work.Reason{Kind: work.WhyTriedAgain, Local: err.Error()})
		}
	}
}

func (o round) attrs(ctx context.Context, a work.Action, more ...any) []any {
	return o.effects().LogAttrs(ctx, o.r.Row, a, more...)
}

// sendOrSettle looks for the effect of an action. If there is none, the plan chose it, and nothing
// holds it at this moment, carry sends it.
func (o round) sendOrSettle(ctx context.Context, j *job) error {
	a, err := o.effects().SettleWithoutSend(ctx, o.scope(o.r), j.a)
	j.a = a
	if a.State.Settled() || err != nil {
		return o.recordResult(ctx, j, err)
	}
	switch {
	case a.NotBefore.After(o.now()):
		return nil
	case j.gone():
		return voidMoved(ctx, o, j)
	case a.State == work.ActionSent:
		return o.recordUnsent(ctx, j)
	}
	if err := o.stillSame(ctx, o.r, env.SameFor); err != nil {
		return err
	}
	if clean, err := expect(ctx, o, j); err != nil || !clean {
		return err
	}
	// Slow work is done before: the last look sees a comment, freeze or push that comes during it.
	j.a, err = o.effects().ApplyIf(ctx, o.scope(o.r), j.a, func() (bool, error) {
		ready, err := o.prepareSend(ctx, j)
		if err == nil && ready && !o.mustNotSend(ctx) {
			o.log.InfoContext(ctx, "merge sent", o.attrs(ctx, j.a, "head", j.a.Head)...)
			return true, nil
		}
		return false, err
	})
	return o.recordResult(ctx, j, err)
}

// recordUnsent handles a sent action whose effect did not appear in time: it counts as never sent,
// and the next plan decides again.
func (o round) recordUnsent(ctx context.Context, j *job) error {
	o.log.WarnContext(ctx, "a sent merge action had no effect", o.attrs(ctx, j.a, "head", j.a.Head)...)
	err := o.store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.MarkUnsent(ctx, j.a.ID); err != nil {
			return err
		}
		return tx.MarkReviewsChanged(ctx, j.pull.ID)
	})
	if err != nil {
		return err
	}
	return o.storeStage(ctx, j, merging.Void)
}

// prepareSend checks that nothing holds the action, and stores the intent of a merge.
func (o round) prepareSend(ctx context.Context, j *job) (bool, error) {
	choice, err := o.decideAgain(ctx, j)
	if err != nil {
		return false, err
	}
	if choice.item.Pull.MergeBase != j.pull.MergeBase && j.a.Kind != work.ActionDequeue { // another pass read another base since
		choice.Choice = merging.Choice{Why: work.Reason{Kind: work.WhyMergeNotRead, Number: j.a.Number}}
	}
	other := choice.order.Target != j.a.Target || choice.order.Title != j.a.Title || choice.order.Body != j.a.Body // another method or message than planned
	if choice.Ask != askOf(j.a.Kind) || j.a.Kind == work.ActionMerge && other {
		o.log.InfoContext(ctx, "a merge waits after the last check", o.attrs(ctx, j.a, "head", j.a.Head, "why", string(choice.Why.Kind))...)
		why := choice.Why
		if why.None() { // it may be merged, but by another action, method or message than planned
			why = work.Reason{Kind: work.WhyMergeNotRead, Number: j.a.Number}
		}
		o.waits(ctx, j, why)
		if j.a.Kind == work.ActionDequeue {
			_, err := o.effects().Void(ctx, j.a, "nothing is against it any more")
			return false, err
		}
		return false, nil
	}
	o.keepFound(ctx, j, work.Reason{})
	j.row.ItemID = choice.item.ID
	if j.a.Kind == work.ActionUpdateBranch || j.a.Kind == work.ActionDequeue {
		return true, nil
	}
	if tip := choice.item.Landing.Box.BaseTip; tip != j.base && tip != "" { // the base moved since expect looked
		if err := o.r.Git().Fetch(ctx, j.a.Base, tip); err != nil {
			return false, err
		}
		if same, err := sameMergeBase(ctx, o, j, tip); err != nil || !same {
			return false, err
		}
	}
	return o.storeIntent(ctx, j)
}

// expect stores in the job the base's head and the tree that the merge must give, and keeps the
// head in the mirror in case its branch is deleted. False: git does not merge it. What leaves the
// queue or is updated needs none of this, so nothing that git says keeps it there.
func expect(ctx context.Context, o round, j *job) (clean bool, err error) {
	if j.a.Kind == work.ActionUpdateBranch || j.a.Kind == work.ActionDequeue {
		return true, nil
	}
	git := o.r.Git()
	tip, ok, err := git.Head(ctx, j.a.Base)
	if err == nil && !ok {
		err = fmt.Errorf("the base branch %s is gone", j.a.Base)
	}
	if err != nil {
		return false, err
	}
	if same, err := sameMergeBase(ctx, o, j, tip); err != nil || !same {
		return false, err
	}
	tree := ""
	if j.a.Kind == work.ActionMerge { // a queue's base is not known yet
		if tree, clean, err = git.ExpectedTree(ctx, tip, j.a.Head, j.a.Target); err != nil {
			return false, err
		}
		if !clean {
			return false, o.unclean(ctx, j)
		}
	}
	j.base, j.tree = tip, tree
	return true, git.KeepMerged(ctx, j.a.Number, j.a.Head, o.now())
}

// sameMergeBase reports whether merging brings the commits for which the database has the verdicts.
// If the base was changed or rewritten, the pull request's details are read again, and the verdicts
// about other commits do not count any more.
func sameMergeBase(ctx context.Context, o round, j *job, tip string) (bool, error) {
	bases, err := o.r.Git().MergeBases(ctx, tip, j.a.Head)
	if err != nil || bases == j.pull.MergeBase {
		return err == nil, err
	}
	o.log.InfoContext(ctx, "merging would bring other commits than those with verdicts", o.attrs(ctx, j.a, "head", j.a.Head, "merge_base", bases, "known", j.pull.MergeBase)...)
	o.waits(ctx, j, work.Reason{Kind: work.WhyMergeNotRead, Number: j.a.Number})
	return false, o.store.Update(ctx, func(tx *store.Tx) error { return tx.ForgetDetails(ctx, j.pull.ID) })
}

// storeIntent stores the intent of a merge.
func (o round) storeIntent(ctx context.Context, j *job) (bool, error) {
	method := j.a.Target
	if j.a.Kind == work.ActionEnqueue {
		method = "" // the queue decides
	}
	j.row.Commit, j.row.BaseOID, j.row.Tree, j.row.Method, j.row.At = "", j.base, j.tree, merging.Method(method), o.now()
	if err := o.storeStage(ctx, j, merging.Intended); err != nil {
		return false, err
	}
	o.log.InfoContext(ctx, "merge intended", o.attrs(ctx, j.a, "head", j.a.Head, "base", j.a.Base, "base_oid", j.base, "tree", j.tree, "method", method)...)
	return true, nil
}

// unclean handles a head that git does not merge although GitHub reports it as mergeable: commits
// that cannot be rebased one by one.
func (o round) unclean(ctx context.Context, j *job) error {
	if merging.Method(j.a.Target) != merging.Rebase {
		o.waits(ctx, j, work.Reason{Kind: work.WhyMergeConflicts, Branch: j.a.Base})
		return nil // GitHub will report the conflict
	}
	return o.recordTrouble(ctx, j, work.Reason{Kind: work.WhyMergeRefused, Text: fmt.Sprintf("its commits cannot be rebased onto %s one by one", j.a.Base)})
}

// storeStage stores the stage of a merge.
func (o round) storeStage(ctx context.Context, j *job, stage merging.Stage) error {
	if j.a.Kind == work.ActionUpdateBranch || j.a.Kind == work.ActionDequeue || stage == merging.Void && j.row.ID == 0 {
		return nil
	}
	if stage == merging.Void {
		j.row.Commit = "" // no commit is known
	}
	return o.writeStage(ctx, j, stage)
}

func (o round) writeStage(ctx context.Context, j *job, stage merging.Stage) error {
	j.row = o.mergeRow(j, stage)
	err := o.store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) (err error) {
		j.row.ID, err = tx.PutMerge(ctx, j.row)
		return err
	})
	if errors.Is(err, store.ErrStale) && stage == merging.Void {
		return nil // it landed since the last look
	}
	return err
}

// mergeRow returns the row of a job's merge at a stage.
func (o round) mergeRow(j *job, stage merging.Stage) merging.Merge {
	m := j.row
	m.RepoID, m.PullID, m.Number, m.Head, m.Base, m.Stage = o.r.Row.ID, j.pull.ID, j.a.Number, j.a.Head, j.a.Base, stage
	if m.ItemID == 0 {
		m.ItemID = j.a.ItemID
	}
	return m
}

// placeOf returns the place where texts about a job are read.
func placeOf(o round) explain.Place {
	return explain.Place{Repo: o.config.Called(o.r.Name), Pull: true}
}

// report adds the result of a job to the pass's report.
func (o round) report(j *job, outcome env.MergeOutcome, why work.Reason) {
	m := env.MergeReport{
		Repo: o.config.Called(o.r.Name), Number: j.a.Number, Outcome: outcome, Head: j.a.Head, Base: j.a.Base, Code: why.Kind, URL: j.pull.URL,
	}
	if outcome == env.MergeDone {
		m.Method, m.Commit, m.Differs = string(j.row.Method), j.row.Commit, j.row.Differs
	}
	if !why.None() {
		m.Reason = explain.What(why, placeOf(o))
	}
	o.rep.AddMerge(m)
}

// waits reports that a job waits, and stores why.
func (o round) waits(ctx context.Context, j *job, why work.Reason) {
	o.report(j, env.MergeWaits, why)
	o.keepFound(ctx, j, why)
}

// keepFound stores what kept a merge from being sent, although the plan chose it, or that nothing
// does any more: status says it until the next look.
func (o round) keepFound(ctx context.Context, j *job, why work.Reason) {
	err := o.store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		box, read, err := tx.GetBox(ctx, j.pull.ID)
		if err != nil || !read || box.Head != j.a.Head || box.Found.Equal(why) {
			return err
		}
		if now := j.looked; now.Counted(j.pull) && box.From != now.From { // the plan judges by this itself
			box.Change, why = now.Change, work.Reason{}
		}
		box.Found = why
		return tx.PutBox(ctx, j.pull.ID, box)
	})
	if err != nil && ctx.Err() == nil {
		o.log.WarnContext(ctx, "could not store why a merge waits", o.attrs(ctx, j.a, "error", err)...)
	}
}

// recordDequeue stores that we removed a pull request from its base's merge queue. Its merge is
// void without a reason, so that it is queued again once all gates are open.
func recordDequeue(ctx context.Context, o round, j *job) error {
	o.report(j, env.MergeLeft, work.Reason{})
	return o.store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		row, meant, err := tx.FindMerge(ctx, j.pull.ID, j.a.Head)
		if err == nil && meant && (row.Stage == merging.Queued || row.Stage == merging.Intended) {
			row.Stage = merging.Void
			_, err = tx.PutMerge(ctx, row)
		}
		if err != nil {
			return err
		}
		box, read, err := tx.GetBox(ctx, j.pull.ID)
		if err != nil || !read || box.Head != j.a.Head {
			return err
		}
		box.Queue = merging.Queue{Required: box.Queue.Required}
		return tx.PutBox(ctx, j.pull.ID, box)
	})
}

// wasDequeuedByUs reports whether we removed the pull request that action put has queued.
func wasDequeuedByUs(ctx context.Context, o round, put work.Action) (out bool, err error) {
	err = o.store.View(ctx, func(tx *store.Tx) error {
		a, known, err := tx.GetAction(ctx, work.DequeueToken(o.r.Row.Key(), put.Number, put.Head, put.Renewals))
		out = known && (a.State == work.ActionApplied || a.State == work.ActionSent)
		return err
	})
	return out, err
}

// checkIssue checks once whether GitHub closed the issue with the pull request. If GitHub did not,
// checkIssue plans a comment.
func (o round) checkIssue(ctx context.Context, row merging.Merge) error {
	item, err := store.Read(ctx, o.store, func(tx *store.Tx) (work.Item, error) { return tx.GetItem(ctx, row.ItemID) })
	if err != nil {
		return err
	}
	is, ok, err := o.r.GitHub.Issue(ctx, o.r.Row.Current, item.Number)
	if err != nil {
		return err
	}
	a := o.comment(&job{row: row}, item.Number, "merged "+row.Commit, o.openText(row))
	if !ok || is.State != "open" {
		a.State, a.LastError = work.ActionVoid, "the issue was closed"
	}
	return o.store.Update(ctx, func(tx *store.Tx) error {
		return tx.PlanAction(ctx, a)
	})
}

func (o round) openText(row merging.Merge) string {
	why := "the pull request's text does not say any more that it fixes this issue, or GitHub did not act on it"
	if row.Base != o.r.Row.DefaultBranch {
		why = fmt.Sprintf("`%s` is not the default branch, and GitHub closes issues only for that one", row.Base)
	}
	return fmt.Sprintf("#%d is merged into `%s` as %s, and GitHub did not close this issue: %s. Close it if nothing is left to do.", row.Number, row.Base, work.Short(row.Commit), why)
}
