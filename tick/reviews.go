package tick

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/reviewing"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/notice"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// moveReviews stores what the plan decided about reviews, and gives what nobody was told
// of yet. It comes before the items' moves: what GitHub shows of a stop depends on it.
func moveReviews(ctx context.Context, tx *store.Tx, plan plan.Plan) ([]store.ReviewLog, error) {
	for _, v := range plan.Verdicts {
		if _, _, err := tx.AddVerdict(ctx, v); err != nil {
			return nil, err
		}
		if err := tx.SetLook(ctx, v.PullID); err != nil {
			return nil, err
		}
	}
	for _, h := range plan.Holds {
		held := review.Held{}
		if h.Held != nil {
			held = *h.Held
		}
		if err := tx.SetHold(ctx, h.Pull, held); err != nil {
			return nil, err
		}
	}
	for _, r := range plan.Requests {
		if _, err := tx.AddRequest(ctx, store.ReviewRequest{PullID: r.Pull, Reviewer: r.Reviewer, Head: r.Head}); err != nil {
			return nil, err
		}
	}
	var news []store.ReviewLog
	for _, m := range plan.Reviews {
		fresh, err := moveReview(ctx, tx, plan.Repo, m)
		if err != nil && !errors.Is(err, store.ErrStale) { // by then something else was decided
			return nil, fmt.Errorf("move the reviews of #%d: %w", m.Number, err)
		}
		news = append(news, fresh...)
	}
	return news, nil
}

func moveReview(ctx context.Context, tx *store.Tx, repo work.Repo, m plan.ReviewMove) (news []store.ReviewLog, err error) {
	if err := tx.PutReviewState(ctx, m.Before, m.Record); err != nil {
		return nil, err
	}
	for _, in := range m.Inserted {
		if _, err := tx.AddInsertion(ctx, in); err != nil {
			return nil, err
		}
	}
	if m.Moves() {
		detail := string(m.Record.State)
		if m.Record.Reviewer != "" {
			detail += ": " + m.Record.Reviewer
		}
		if err := tx.AddHistory(ctx, work.History{RepoID: repo.ID, ItemID: m.Item, Number: m.Number, What: "review", Detail: detail}); err != nil {
			return nil, err
		}
	}
	for _, l := range append(m.Logged, moved(m)...) {
		n := newsOf(repo, m.Item, m.Number, l)
		fresh, err := tx.AddReviewLog(ctx, n)
		if err != nil {
			return nil, err
		}
		if fresh {
			news = append(news, n)
		}
	}
	return news, nil
}

// moved is that the reviews went from one state or reviewer to another, if they did. The
// same way taken again is another one: the state that it leaves began later.
func moved(m plan.ReviewMove) []reviewing.Logged {
	if !m.Moves() {
		return nil
	}
	return []reviewing.Logged{{
		Key:  fmt.Sprintf("review_state:%d:%d:%s:%s:%s", m.Number, m.Before.Since.UnixMilli(), m.Record.State, m.Record.Reviewer, m.Record.Head),
		What: "review_state",
		Data: map[string]any{
			"from": string(m.Before.State), "to": string(m.Record.State), "reviewer": m.Record.Reviewer, "head": m.Record.Head, "cycle": m.Record.Cycle,
		},
	}}
}

// newsOf is one thing that happened, known by its key.
func newsOf(repo work.Repo, item int64, number int, l reviewing.Logged) store.ReviewLog {
	b, err := json.Marshal(l.Data)
	if err != nil {
		panic(err) // plain values
	}
	return store.ReviewLog{RepoID: repo.ID, ItemID: item, Number: number, Key: l.Key, What: l.What, Data: string(b)}
}

// fixBegun notes that what a reviewer asks for is being done.
func fixBegun(ctx context.Context, tx *store.Tx, l *env.Lease) (news []store.ReviewLog, err error) {
	for _, e := range l.Events {
		d, ok := review.FixDueOf(e)
		if !ok {
			continue
		}
		n := newsOf(l.Repo.Row, l.Item.ID, l.Turn.Number, reviewing.Logged{
			Key: "review_fix_created:" + e.Key, What: "review_fix_created",
			Data: map[string]any{"reviewer": l.Turn.Reviewer, "review": d.ReviewID, "cycle": d.Cycle, "head": l.Turn.Head},
		})
		fresh, err := tx.AddReviewLog(ctx, n)
		if err != nil {
			return nil, err
		}
		if fresh {
			news = append(news, n)
		}
	}
	return news, nil
}

// tellReviews tells what nobody was told of, once it is stored.
func tellReviews(ctx context.Context, p *Pass, repo work.Repo, news []store.ReviewLog) {
	r := p.RemoteByID(repo.ID)
	for _, n := range news {
		notice.TellReview(ctx, p.Log, n, "repo_full_name", r.Name.FullName(), "work_item_id", n.ItemID, "pr_number", n.Number)
	}
}

// lookedAt notes by what the reviews were decided, so that an idle pass has nothing to
// decide. It comes last: what changed since is looked at again.
func lookedAt(ctx context.Context, tx *store.Tx, plan plan.Plan) error {
	for _, l := range plan.Looked {
		if err := tx.Looked(ctx, l.Pull, l.Count, l.Policy); err != nil {
			return err
		}
	}
	return nil
}
