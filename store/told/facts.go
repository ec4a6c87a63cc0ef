package told

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/news"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// place are the columns of where something is; repositories is r.
const place = `r.id, r.name, r.node_id, `

// scanPlace reads place and then item, number, whether it is a pull request, url, title.
func scanPlace(row rows.Row, p *news.Place, more ...any) error {
	var repo work.Repo
	err := row.Scan(append([]any{&repo.ID, rows.NameOf(&repo.Name), &repo.NodeID, rows.RefOf(&p.ItemID), &p.Number, &p.Pull, &p.URL, &p.Title}, more...)...)
	p.RepoID, p.Repo, p.Key = repo.ID, repo.Name, repo.Key()
	return err
}

// ListNewStops gives the work items that wait for a person, since a time or later.
func (t Rows) ListNewStops(ctx context.Context, since time.Time) ([]news.Stop, error) {
	return rows.List(ctx, t.tx, "list stops to tell of", func(row rows.Row) (s news.Stop, err error) {
		return s, scanPlace(row, &s.Place, &s.Token, rows.ReasonOf(&s.Reason), &s.State, rows.TimeOf(&s.Since))
	}, `SELECT `+place+`i.id, s.number, p.id IS NOT NULL, coalesce(p.url, i.url), coalesce(p.title, i.title), s.token, s.reason, i.state, s.since
		FROM stops s JOIN work_items i ON i.id = s.item_id JOIN repositories r ON r.id = i.repo_id
		LEFT JOIN pull_requests p ON p.repo_id = i.repo_id AND p.number = s.number
		WHERE s.ended_at = 0 AND s.attempts > 0 AND s.since >= ? ORDER BY s.since, s.item_id`, rows.Millis(since))
}

// ListNewPulls gives the pull requests of ours that were opened since a time.
func (t Rows) ListNewPulls(ctx context.Context, since time.Time) ([]news.Pull, error) {
	return rows.List(ctx, t.tx, "list pull requests to tell of", scanPull, `SELECT `+place+`p.item_id, p.number, TRUE, p.url, p.title, p.created_at
		FROM pull_requests p JOIN repositories r ON r.id = p.repo_id JOIN work_items i ON i.id = p.item_id
		WHERE p.created_at >= ? AND i.flow <> '`+string(work.FlowReview)+`' ORDER BY p.created_at, p.id`, rows.Millis(since))
}

func scanPull(row rows.Row) (p news.Pull, err error) {
	return p, scanPlace(row, &p.Place, rows.TimeOf(&p.At))
}

// ListNewMerged gives the pull requests of ours that were merged since a time, whoever
// merged them. When one was is what GitHub says of its end or, where it does not tell, when
// that was read. One of whose end nothing was read ended before anybody could be told.
func (t Rows) ListNewMerged(ctx context.Context, since time.Time) ([]news.Pull, error) {
	const at = `coalesce(nullif(o.ended_at, 0), o.read_at)`
	return rows.List(ctx, t.tx, "list merged pull requests to tell of", scanPull, `SELECT `+place+`p.item_id, p.number, TRUE, p.url, p.title, `+at+`
		FROM pull_requests p JOIN repositories r ON r.id = p.repo_id JOIN work_items i ON i.id = p.item_id JOIN pull_outcomes o ON o.pull_id = p.id
		WHERE p.state = 'merged' AND p.updated_at >= ?1 AND `+at+` >= ?1 AND i.flow <> '`+string(work.FlowReview)+`' ORDER BY p.updated_at, p.id`, rows.Millis(since))
}

// ListNewApprovals gives the pull requests that wait for the approval of a person alone,
// since a time or later. They do since the last of their other reviewers approved.
func (t Rows) ListNewApprovals(ctx context.Context, since time.Time) ([]news.Approval, error) {
	const at = `coalesce((SELECT max(v.at) FROM reviews v WHERE v.pull_id = p.id AND v.head = w.head AND v.decision = 'approve'), p.head_since)`
	return rows.List(ctx, t.tx, "list pull requests that people review", func(row rows.Row) (a news.Approval, err error) {
		return a, scanPlace(row, &a.Place, &a.Head, rows.TimeOf(&a.At))
	}, `SELECT `+place+`p.item_id, p.number, TRUE, p.url, p.title, w.head, `+at+`
		FROM pull_reviews w JOIN pull_requests p ON p.id = w.pull_id JOIN repositories r ON r.id = p.repo_id
		WHERE w.state = 'checking_approval' AND w.since >= ?1 AND p.state = 'open' ORDER BY w.since, p.id`, rows.Millis(since))
}

// ListNewHalts gives the repositories into which nothing is merged any more, since a time
// or later.
func (t Rows) ListNewHalts(ctx context.Context, since time.Time) ([]news.Halt, error) {
	return rows.List(ctx, t.tx, "list repositories that are not merged into", func(row rows.Row) (h news.Halt, err error) {
		return h, scanPlace(row, &h.Place, rows.ReasonOf(&h.Reason), rows.TimeOf(&h.At))
	}, `SELECT `+place+`NULL, 0, FALSE, '', '', m.why, m.at FROM repo_merging m JOIN repositories r ON r.id = m.repo_id WHERE m.why <> '' AND m.at >= ? ORDER BY m.at, m.repo_id`, rows.Millis(since))
}
