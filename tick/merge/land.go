package merge

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// unrecordedMerge is a merge whose end no pass has recorded, with its action.
type unrecordedMerge struct {
	row  merging.Merge
	a    work.Action
	pull work.PullRequest
}

// unrecordedMerges returns the merges whose end can be recorded now: the action sent for the head
// is settled, it is not in a queue, and no person must act first.
func (m *Merging) unrecordedMerges(ctx context.Context, tx *store.Tx, r *env.Repo) (all []unrecordedMerge, err error) {
	rows, err := tx.ListUnsettledMerges(ctx, r.Row.ID)
	for _, row := range rows {
		if err != nil {
			return nil, err
		}
		l := unrecordedMerge{row: row}
		if l.a, err = sentFor(ctx, tx, r, row.Number, row.Head); err != nil {
			return nil, err
		}
		if l.pull, _, err = tx.GetPull(ctx, r.Row.ID, row.Number); err != nil {
			return nil, err
		}
		waits, err := l.waits(ctx, tx)
		if err != nil {
			return nil, err
		}
		if l.a.State.Settled() && !waits {
			all = append(all, l)
		}
	}
	return all, err
}

// waits reports whether the pull request is in a queue at this head, or a person must act.
func (l unrecordedMerge) waits(ctx context.Context, tx *store.Tx) (bool, error) {
	if l.pull.State != work.PullOpen || l.pull.HeadOID != l.row.Head {
		return false, nil
	}
	if l.row.Stage == merging.Half {
		head, why, err := tx.GetMergeTrouble(ctx, l.row.PullID)
		return head == l.row.Head && !why.None(), err
	}
	box, _, err := tx.GetBox(ctx, l.row.PullID)
	return l.queued() && box.Queue.In, err
}

// queued reports whether the head was put into the merge queue. It reads the action: a killed pass
// may have stored the action's result, but not the merge row's stage.
func (l unrecordedMerge) queued() bool {
	return l.a.Kind == work.ActionEnqueue && l.a.State == work.ActionApplied
}

// sentFor returns the action that merges or enqueues a head: an unsettled one before an applied
// one, and that before others.
func sentFor(ctx context.Context, tx *store.Tx, r *env.Repo, number int, head string) (one work.Action, err error) {
	rank := func(a work.Action) int {
		switch {
		case a.ID == 0:
			return 0
		case !a.State.Settled():
			return 3
		case a.State == work.ActionApplied:
			return 2
		}
		return 1
	}
	for _, token := range []string{work.MergeToken(r.Row.Key(), number, head), work.EnqueueToken(r.Row.Key(), number, head)} {
		a, _, err := tx.GetAction(ctx, token)
		if err != nil {
			return one, err
		}
		if rank(a) > rank(one) {
			one = a
		}
	}
	return one, nil
}

// recordLandings records what landed for merges whose actions are settled.
func (o round) recordLandings(ctx context.Context) error {
	all, err := store.Read(ctx, o.store, func(tx *store.Tx) ([]unrecordedMerge, error) { return o.unrecordedMerges(ctx, tx, o.r) })
	if err != nil {
		return err
	}
	for _, l := range all {
		if o.mustNotSend(ctx) {
			return nil
		}
		if err := o.recordLanding(ctx, l); err != nil && ctx.Err() == nil {
			o.tellUnread(ctx, l.row.Number, "which commit landed", err)
		}
	}
	return nil
}

func (o round) recordLanding(ctx context.Context, l unrecordedMerge) error {
	j := &job{a: l.a, pull: l.pull, row: l.row}
	switch {
	case l.queued():
		return o.leftQueue(ctx, j)
	case l.a.State == work.ActionApplied:
		return o.land(ctx, j, l.a.ResultID)
	}
	return o.storeStage(ctx, j, merging.Void)
}

// land compares the landed commit with the approved head and stores the result with the comment
// that says that they differ.
func (o round) land(ctx context.Context, j *job, commit string) error {
	landed, err := o.compare(ctx, j, commit)
	if err != nil {
		return err
	}
	j.row.Commit, j.row.Parent, j.row.Landed, j.row.Differs = landed.OID, landed.Parent, landed.Got, describeMismatch(landed)
	j.row.LandedAt = o.now()
	halted := false
	var stop merging.Halt
	err = o.store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		if halted, err = tx.LandMerge(ctx, j.row, halt(j)); err != nil {
			return err
		}
		if stop, _, err = tx.MergingStopped(ctx, o.r.Row.ID); err != nil {
			return err
		}
		if j.row.Differs == "" {
			return nil
		}
		return tx.PlanAction(ctx, o.comment(j, j.row.Number, "landed "+j.row.Commit, o.differsText(j, halted)))
	})
	if errors.Is(err, store.ErrStale) {
		return nil // another pass has stored it
	}
	if err != nil {
		return fmt.Errorf("store what landed: %w", err)
	}
	o.tell(ctx, j, landed, halted)
	if halted {
		return o.dirs.StopMerging(o.r.Row, stop) // the file survives the loss of the database
	}
	return nil
}

// compare compares the landed commit with what merging the approved head gives there.
func (o round) compare(ctx context.Context, j *job, commit string) (git.Landing, error) {
	mirror := o.r.Git()
	if err := mirror.Fetch(ctx, j.row.Base, commit, j.row.Head); err != nil {
		return git.Landing{}, err
	}
	return mirror.Compare(ctx, commit, j.row.Head, j.row.BaseOID)
}

// halt is the reason for which merging halts if this is the second landed merge in a row that
// differs from the approved one.
func halt(j *job) work.Reason {
	return work.Reason{Kind: work.WhyMergeDiffers, Number: j.row.Number, Commit: j.row.Commit, Head: j.row.Head, Text: j.row.Differs}
}

// tell logs and reports the landed commit.
func (o round) tell(ctx context.Context, j *job, landed git.Landing, halted bool) {
	attrs := o.attrs(ctx, j.a, "head", j.row.Head, "base", j.row.Base, "base_oid", j.row.BaseOID, "method", landed.Method,
		"commit", j.row.Commit, "parent", j.row.Parent, "tree", j.row.Landed, "tree_expected", landed.Want)
	if j.row.Method == "" {
		j.row.Method = merging.Method(landed.Method)
	}
	o.report(j, env.MergeDone, work.Reason{})
	if landed.Same {
		o.log.InfoContext(ctx, "merge landed", attrs...)
		return
	}
	o.log.ErrorContext(ctx, "the landed commit differs from the approved one", append(attrs, "difference", landed.Why, "paths", landed.Paths, "merging_stopped", halted)...)
}

// mostNamed is how many names a sentence lists.
const mostNamed = 5

// longestName is the longest name, in characters.
const longestName = 200

// describeMismatch describes how a landed commit differs from the approved one; empty: it does not.
func describeMismatch(l git.Landing) string {
	if l.Same {
		return ""
	}
	switch l.Why {
	case git.OtherBase:
		return "its parent is not the base at the time of the merge request"
	case git.OtherHead:
		return "it is a merge of another commit"
	case git.NotMergeable:
		return "the approved commit conflicts with the commit on which it landed, so somebody or something resolved that" + inPaths(l.Paths)
	case git.OtherSeries:
		return "its commits are not those that were approved, one by one" + inPaths(l.Paths)
	}
	return "the files are others than merging the approved commit gives" + inPaths(l.Paths)
}

func inPaths(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return ": " + named(paths, "other file")
}

// named lists untrusted names as code, each on one line and shortened, and counts those beyond
// mostNamed.
func named(names []string, noun string) string {
	some := make([]string, 0, mostNamed)
	for _, n := range names[:min(len(names), mostNamed)] {
		n = strings.Join(strings.Fields(strings.ReplaceAll(n, "`", "'")), " ")
		if r := []rune(n); len(r) > longestName {
			n = string(r[:longestName]) + "…"
		}
		some = append(some, "`"+n+"`")
	}
	text := strings.Join(some, ", ")
	if more := len(names) - len(some); more > 0 {
		text += " and " + work.Count(more, noun)
	}
	return text
}
