package ingest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store"
)

// storeReviews stores what was read about reviews, after pull requests have their rows. It marks
// reviews whose inputs changed, so that the plan decides them again.
func (h *reading) storeReviews(ctx context.Context, tx *store.Tx, _ time.Time) error {
	if !h.repo.Settings.Review.Enabled {
		return nil
	}
	for _, number := range slices.Sorted(maps.Keys(h.pulls)) {
		if news := h.pulls[number]; news.read != nil {
			if err := h.storeReviewsOf(ctx, tx, *news); err != nil {
				return fmt.Errorf("store the reviews of #%d: %w", number, err)
			}
		}
	}
	return nil
}

func (h *reading) storeReviewsOf(ctx context.Context, tx *store.Tx, news pullNews) error {
	pull, r := news.row, *news.read
	stored, err := tx.GetReviews(ctx, pull.ID)
	if err != nil {
		return err
	}
	if r.old.ID == 0 && !r.over { // GitHub shows what the database may lack
		if stored, err = h.restoreOwnMarks(ctx, tx, news, stored); err != nil {
			return err
		}
		people := h.repo.Settings.Labels.HumanReview
		if people != "" && work.HasLabel(r.Labels, people) && stored.Record.State != review.HumanReview && pull.State == work.PullOpen {
			if err := tx.RenewAction(ctx, review.PeopleLabel(h.row, pull.ItemID, pull.Number, people, false)); err != nil {
				return err
			}
		}
	}
	for _, v := range news.verdicts {
		if err := storeVerdict(ctx, tx, pull, stored, v, news.baseMoved); err != nil {
			return err
		}
	}
	if err := tx.OutdateApprovals(ctx, pull); err != nil {
		return err
	}
	if pull.MergeBase != "" {
		err := tx.MoveVerdicts(ctx, pull, "", pull.BaseChanged)
		for _, from := range news.sameCommits {
			err = cmp.Or(err, tx.MoveVerdicts(ctx, pull, from, time.Time{}))
		}
		if err != nil {
			return err
		}
	}
	if err := h.storeHold(ctx, tx, pull, r, stored.Held); err != nil {
		return err
	}
	for _, c := range r.Checks {
		if !github.IsOurStatus(c) {
			continue
		}
		if err := h.restoreStatus(ctx, tx, pull, shownStatus{strings.ToLower(cmp.Or(c.Conclusion, "pending")), c.Summary, c.EndedAt}); err != nil {
			return err
		}
	}
	if old := r.old; !r.over && old.HeadOID == pull.HeadOID && old.State == pull.State && old.Draft == pull.Draft && old.Rollup == pull.Rollup &&
		old.Mergeable == pull.Mergeable && old.Base == pull.Base && old.MergeBase == pull.MergeBase && old.Author.ID == pull.Author.ID {
		return nil // nothing changed that decisions about its reviews depend on
	}
	if pull.State != work.PullOpen && stored.Record.State == "" { // nobody reviewed it, and idle passes must not look at it
		return tx.ForgetReviews(ctx, pull.ID)
	}
	return tx.MarkReviewsChanged(ctx, pull.ID)
}

func storeVerdict(ctx context.Context, tx *store.Tx, pull work.PullRequest, stored store.Reviews, seen readVerdict, baseMoved bool) error {
	v := seen.Verdict
	v.PullID = pull.ID
	if v.MergeBase == "" && (v.Human || v.KeptFrom != "") {
		v.MergeBase = pull.MergeBase
	}
	if v.Human && v.KeptFrom == "" && baseMoved {
		v.Validity = review.BaseMoved
	}
	known := slices.DeleteFunc(slices.Clone(stored.Verdicts), func(o review.Verdict) bool { return o.ReviewID != v.ReviewID })
	at := slices.IndexFunc(known, func(o review.Verdict) bool { return o.Head == v.Head || o.Human && v.KeptFrom == "" })
	id := int64(0)
	if at >= 0 {
		id = known[at].ID
	} else {
		added, _, err := tx.AddVerdict(ctx, v)
		if err != nil {
			return err
		}
		v.ID, id = added, added
		known = append(known, v)
	}
	for _, v := range known {
		if seen.dismissed && v.Validity != review.Moved { // we dismissed it ourselves, because its head had moved
			if _, err := tx.MarkVerdict(ctx, v.ID, review.TakenBack); err != nil {
				return err
			}
		}
	}
	for i := range seen.findings {
		seen.findings[i].PullID, seen.findings[i].VerdictID = pull.ID, id
	}
	if err := tx.PutFindings(ctx, seen.findings); err != nil || len(seen.resolved) == 0 {
		return err
	}
	return tx.ResolveFindings(ctx, pull.ID, id, seen.resolved)
}

// storeHold stores a hold by the label that holds reviews, and its end without the label. A command
// begins a hold before we set its label, and ends one before we remove it.
func (h *reading) storeHold(ctx context.Context, tx *store.Tx, pull work.PullRequest, r pullRead, held *review.Held) error {
	label := h.repo.Settings.Labels.Hold
	on := work.HasLabel(r.Labels, label)
	if r.over || !on && held == nil {
		return nil
	}
	by, since := "somebody", r.UpdatedAt
	if set, shown := lastEvent(r.timeline, "labeled", label); shown && r.relabelled() {
		by, since = set.Actor.Login, set.CreatedAt
	}
	own := review.Item{Repo: h.row, ID: pull.ItemID, Pull: pull, Labels: h.repo.Settings.Labels}.HoldLabel(true)
	sent, known, err := tx.GetAction(ctx, own.Token)
	if err != nil {
		return err
	}
	ours := known && (sent.Target != "") == (held != nil) // the action is about the stored hold, or its end
	switch {
	case on && held == nil:
		if ours && !sent.State.Settled() {
			return nil // we remove the label
		}
		return tx.SetHold(ctx, pull.ID, review.Held{By: by, At: since, Labelled: true})
	case on && !held.Labelled:
		return tx.SetHold(ctx, pull.ID, review.Held{By: held.By, At: held.At, Labelled: true})
	case !on && (held.Labelled || ours && sent.State == work.ActionApplied):
		return tx.SetHold(ctx, pull.ID, review.Held{})
	}
	return nil
}

// restoreOwnMarks restores from the marks in our texts on GitHub what a lost database lacks: fixes,
// the number of restarts of the reviews, and approvals and merge approvals by command.
func (h *reading) restoreOwnMarks(ctx context.Context, tx *store.Tx, news pullNews, stored store.Reviews) (store.Reviews, error) {
	pull, epoch := news.row, 0
	own := slices.DeleteFunc(slices.Clone(h.judged.own), func(e work.Event) bool { return e.Number != pull.Number })
	for _, e := range own {
		marks, _ := work.ParseMarks(e.Body)
		n, _ := strconv.Atoi(marks.Epoch)
		epoch = max(epoch, n)
	}
	if epoch > stored.Record.Epoch {
		now := review.Record{PullID: pull.ID, Epoch: epoch} // people restarted the reviews, which ended an earlier stop even if its comment is still there
		if err := ignoreStale(tx.PutReviewState(ctx, stored.Record, now)); err != nil {
			return stored, err
		}
	}
	for _, e := range own {
		if e.Kind == work.EventIssue {
			if err := h.restoreApprovals(ctx, tx, pull, e); err != nil {
				return stored, err
			}
		}
	}
	done := maps.Clone(h.handled)
	pushed := map[string]bool{} // keys that commits of ours name: trailers of others prove nothing, and replies come after the push
	for _, c := range news.read.commits {
		_, keys := work.TrailersOf(c.Message)
		for _, key := range keys {
			done[key], pushed[key] = true, true
		}
	}
	for key := range done {
		e, ok := work.EventOfKey(key)
		due, isFix := review.FixDueOf(e)
		if !ok || !isFix || e.Number != pull.Number {
			continue
		}
		f := review.Fix{PullID: pull.ID, ReviewID: due.ReviewID, Epoch: due.Epoch, Cycle: due.Cycle, Outcome: review.FixUnchanged}
		if at := slices.IndexFunc(news.verdicts, func(v readVerdict) bool { return v.ReviewID == due.ReviewID }); at >= 0 {
			f.Reviewer = news.verdicts[at].Reviewer
		}
		if pushed[key] {
			f.Outcome = review.FixPushed
		}
		if err := tx.PutFix(ctx, f); err != nil {
			return stored, err
		}
	}
	return tx.GetReviews(ctx, pull.ID)
}

// restoreApprovals restores the approvals that one of our answers to commands records.
func (h *reading) restoreApprovals(ctx context.Context, tx *store.Tx, pull work.PullRequest, answer work.Event) error {
	marks, _ := work.ParseMarks(answer.Body)
	v, _, _, approves := review.ParseMark(marks.Review)
	for _, key := range marks.Handled {
		given, ok := work.EventOfKey(key)
		id := work.CommandComment(given)
		if !ok || id == 0 {
			continue
		}
		// The answer, or a later edit of the command, may have come after a change of the base that its author did not
		// know: the answer's time counts only if the comment is gone.
		by, url, at := work.Account{}, "", answer.CreatedAt
		for _, c := range h.events {
			if c.event.Number == pull.Number && work.CommandComment(c.event) == id {
				by, url, at = c.event.Author, c.event.URL, c.event.CreatedAt
			}
		}
		if approves {
			v.PullID, v.CommentID, v.Human, v.By, v.URL, v.At = pull.ID, id, true, by, url, at
			if _, _, err := tx.AddVerdict(ctx, v); err != nil {
				return err
			}
		}
		if marks.Merge != "" {
			w := merging.MergeApproval{PullID: pull.ID, Head: marks.Merge, CommentID: id, By: by, URL: url, At: at}
			if _, err := tx.AddMergeApproval(ctx, w); err != nil {
				return err
			}
		}
	}
	return nil
}
