package snapshot

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// reviews reads the state of the reviews of the item's pull request, and today's config for them.
func (r *reading) reviews(ctx context.Context, i *known.Item) (err error) {
	if !i.HasPull() {
		return nil
	}
	s := r.stored[i.Pull.ID]
	i.Reviews = review.Facts{Record: s.Record, Verdicts: s.Verdicts, Findings: s.Findings, Fixes: s.Fixes, Inserted: s.Inserted, NotFixable: i.Flow == work.FlowReview}
	i.HeldBack, i.LabelHead = s.Held, s.LabelHead
	i.Reviews.ReadAt = r.repo.HeartbeatAt
	i.Reviews.Head, i.Reviews.MergeBase = i.Pull.HeadOID, i.Pull.MergeBase
	for _, asked := range s.Requested {
		if asked.Head == i.Reviews.Subject(asked.Reviewer) {
			i.Reviews.Requested = append(i.Reviews.Requested, asked.Reviewer)
		}
	}
	i.Decided = known.DecidedInputs{Pull: i.Pull.ID, Count: s.Look, Policy: r.reviewing}
	i.ReviewsChanged = r.mustDecide(s, i.Pull)
	if i.Reviews.MergedBy, err = r.mergedBy(ctx, *i); err != nil {
		return err
	}
	i.Reviewers, err = r.policyOf(ctx, i.Item, i.Pull)
	return err
}

// … by the rule of store.ListUndecidedReviews.
func (r *reading) mustDecide(s store.Reviews, pull work.PullRequest) bool {
	was := s.Record.State
	kept := s.Policy != "" || !s.Record.Since.IsZero() // there is a row
	changed := s.Look > 0 || kept && s.Policy != r.reviewing && !was.Ended()
	return changed && (pull.State == work.PullOpen || was != "" && !was.Ended())
}

// policyOf returns the config for the reviews of one pull request. A person's login counts for the
// first account seen with it.
func (r *reading) policyOf(ctx context.Context, item work.Item, pull work.PullRequest) (review.Policy, error) {
	p := r.settings.ReviewPolicy(item.Flow)
	p.Author = pull.Author.Login
	for i := range p.Order {
		if err := r.pin(ctx, &p.Order[i]); err != nil {
			return p, err
		}
	}
	for name, who := range p.Pool {
		if err := r.pin(ctx, &who); err != nil {
			return p, err
		}
		p.Pool[name] = who
	}
	return p, nil
}

func (r *reading) pin(ctx context.Context, who *review.Reviewer) error {
	if !who.Human {
		return nil
	}
	if level, asked := r.levels[strings.ToLower(who.Login)]; asked && !work.MayWrite(level.Level) && !r.settings.Allows(who.Login) {
		who.Level = level.Level
	}
	if who.LoginID != 0 {
		return nil
	}
	id, _, err := r.tx.PinnedAccount(ctx, r.repo.ID, who.Login)
	who.LoginID = id
	return err
}

// policyName returns a hash of the config for reviews. If it changes, reviews are decided again.
func policyName(settings config.Repo) (string, error) {
	if !settings.Review.Enabled {
		return "off", nil
	}
	b, err := json.Marshal([]any{settings.Review, settings.Reviewers})
	return work.ContentHash(string(b)), err
}

// Board reads a repository for people, with all its open items or, with ended, all items. It asks
// neither GitHub nor git, and counts the slots in use by unfinished turns.
func Board(ctx context.Context, tx *store.Tx, cfg *config.Config, repo work.Repo, today spending.Day, now time.Time, ended bool) (known.Snapshot, error) {
	settings, _ := cfg.Repo(repo.Name)
	p := New(&env.Env{Config: cfg, Now: func() time.Time { return now }, Day: today})
	r := &env.Repo{Remote: env.Remote{Name: repo.Name, Settings: settings}, Row: repo}
	w := open
	if ended {
		w = all
	}
	v, err := p.read(ctx, tx, r, w)
	if err != nil {
		return v, err
	}
	pulls := map[int][]int{} // the open ones, by issue
	for _, i := range v.Items {
		if i.Pull.State == work.PullOpen && i.State != work.StateClosed {
			pulls[i.Number] = append(pulls[i.Number], i.Pull.Number)
		}
	}
	for n := range v.Items {
		v.Items[n].Open = pulls[v.Items[n].Number]
	}
	turns, err := tx.ListUnfinishedTurns(ctx)
	for _, t := range turns {
		if !t.Blocked && !t.Waits(now) {
			v.Free = max(0, v.Free-1)
		}
	}
	return v, err
}
