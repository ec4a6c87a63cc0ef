package tick

import (
	"context"
	"errors"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// Preview is what a pass would do.
type Preview struct {
	Repos     []env.RepoReport
	Recovered []Recovered // turns that would be resumed
	Plans     []plan.Plan
}

// Recovered is an unfinished turn that a pass would resume.
type Recovered struct {
	Repo string
	change.Line
}

// DryRun plans as a pass would, in a temporary store. It takes no lock, and its GitHub is
// read-only.
func (p *Pass) DryRun(ctx context.Context) (*Preview, error) {
	p.assemble()
	for i := range p.Remotes {
		p.Remotes[i].GitHub = readOnly{p.Remotes[i].GitHub}
		p.Remotes[i].As = readOnlyAs(p.Remotes[i].As)
	}
	if err := p.begin(ctx); err != nil {
		return nil, err
	}
	var err error
	if p.Held, err = p.Dirs.HeldSlots(); err != nil {
		return nil, err
	}
	preview := &Preview{}
	if err := p.previewRecovery(ctx, preview); err != nil {
		return nil, err
	}
	rep := env.NewReport(p.Now())
	ready := p.ingest.ReadAll(ctx, rep)
	preview.Repos = rep.Repos()
	if preview.Plans, err = p.route(ctx, ready); err != nil {
		return nil, err
	}
	for i := range preview.Plans {
		if err := p.previewLabels(ctx, &preview.Plans[i]); err != nil {
			return nil, err
		}
	}
	return preview, ctx.Err()
}

func (p *Pass) previewRecovery(ctx context.Context, preview *Preview) error {
	var resumed []*env.Lease
	err := p.Store.View(ctx, func(tx *store.Tx) error {
		unfinished, err := tx.ListUnfinishedTurns(ctx)
		for _, t := range unfinished {
			if !p.resumable(ctx, t) {
				continue
			}
			item, err := tx.GetItem(ctx, t.ItemID)
			if err != nil {
				return err
			}
			resumed = append(resumed, &env.Lease{Turn: t, Item: item})
		}
		return err
	})
	for _, l := range resumed {
		line := change.Line{Number: l.Turn.Number, Kind: l.Turn.Kind, What: "resume", Reason: "left at step " + string(l.Turn.Step)}
		taken := p.turns.LastLook.RequireNotPaused(ctx, l)
		if off, ok := errors.AsType[*work.SupersededError](taken); ok {
			line.What, line.Reason = "cancel", off.Reason
		} else if taken != nil {
			return taken
		} else if line, err = p.previewRun(ctx, l, line); err != nil {
			return err
		}
		preview.Recovered = append(preview.Recovered, Recovered{p.Config.Called(p.RemoteByID(l.Turn.RepoID).Name), line})
	}
	return err
}

// previewRun returns the line of a resumed turn: what prevents its agent from running, if anything.
func (p *Pass) previewRun(ctx context.Context, l *env.Lease, line change.Line) (change.Line, error) {
	if l.Turn.Step != work.StepClaimed {
		return line, nil
	}
	err := p.turns.LastLook.MayRun(ctx, l)
	var wait *work.WaitError
	var blocked *work.BlockedError
	var why work.Reason
	switch {
	case errors.As(err, &wait):
		line.What, why = "wait", wait.Reason
	case errors.As(err, &blocked):
		line.What, why = "block", blocked.Reason
	default:
		return line, err
	}
	line.Reason, line.Code, line.Why = explain.Reason(why, explain.Place{Pull: !l.Turn.Kind.Start(), Spending: true}).Here(), why.Kind, []work.Reason{why}
	return line, nil
}

// reader is the read-only part of GitHub.
type reader interface {
	env.Lists
	env.Objects
	CommentsOf(ctx context.Context, repo work.RepoName, number int, since time.Time) ([]github.Comment, error)
	ReviewCommentsOf(ctx context.Context, repo work.RepoName, pull int, since time.Time) ([]github.ReviewComment, error)
	PullsByHead(ctx context.Context, repo work.RepoName, branch string) ([]github.Pull, error)
	OwnPendingReview(ctx context.Context, repo work.RepoName, pull int) (bool, error)
	ReviewComment(ctx context.Context, repo work.RepoName, id int64) (github.ReviewComment, bool, error)
	IssuesSince(ctx context.Context, repo work.RepoName, since time.Time) ([]github.Issue, error)
	WorkflowRun(ctx context.Context, repo work.RepoName, id string) (github.WorkflowRun, error)
	LabelsOf(ctx context.Context, repo work.RepoName, number int) ([]string, error)
	RepoLabels(ctx context.Context, repo work.RepoName) ([]string, error)
	HasLabel(ctx context.Context, repo work.RepoName, name string) (bool, error)
	Reviews(ctx context.Context, repo work.RepoName, pull int) ([]github.Review, error)
	CommentsOfReview(ctx context.Context, repo work.RepoName, pull int, id int64) ([]github.ReviewComment, error)
	RequestedReviewers(ctx context.Context, repo work.RepoName, pull int) ([]work.Account, error)
	Statuses(ctx context.Context, repo work.RepoName, sha string) ([]github.Status, error)
}

// readOnly embeds only reader: a new write does not compile until somebody decides what a dry run
// does with it.
type readOnly struct{ reader }

func readOnlyAs(as func(context.Context, string) (env.GitHub, error)) func(context.Context, string) (env.GitHub, error) {
	if as == nil {
		return nil
	}
	return func(ctx context.Context, account string) (env.GitHub, error) {
		g, err := as(ctx, account)
		return readOnly{g}, err
	}
}

var errDryRun = errors.New("a dry run writes nothing")

func (readOnly) CreateComment(context.Context, work.RepoName, int, string) (github.Comment, error) {
	return github.Comment{}, errDryRun
}

func (readOnly) UpdateComment(context.Context, work.RepoName, int64, string) error { return errDryRun }

func (readOnly) DeleteComment(context.Context, work.RepoName, int64) error { return errDryRun }

func (readOnly) Reply(context.Context, work.RepoName, int, int64, string) (github.ReviewComment, error) {
	return github.ReviewComment{}, errDryRun
}

func (readOnly) DeleteReviewComment(context.Context, work.RepoName, int64) error { return errDryRun }

func (readOnly) ResolveThread(context.Context, string) error { return errDryRun }

func (readOnly) CreatePull(context.Context, work.RepoName, github.NewPull) (github.Pull, error) {
	return github.Pull{}, errDryRun
}

func (readOnly) React(context.Context, work.RepoName, github.ReactionTarget, int64, string) error {
	return errDryRun
}

func (readOnly) CreateIssue(context.Context, work.RepoName, string, string) (github.Issue, error) {
	return github.Issue{}, errDryRun
}

func (readOnly) RerunFailedJobs(context.Context, work.RepoName, string) error { return errDryRun }

func (readOnly) CreateLabel(context.Context, work.RepoName, work.Label) error { return errDryRun }

func (readOnly) AddLabels(context.Context, work.RepoName, int, []string) error { return errDryRun }

func (readOnly) RemoveLabel(context.Context, work.RepoName, int, string) error { return errDryRun }

func (readOnly) ClosePull(context.Context, work.RepoName, int) (github.Pull, error) {
	return github.Pull{}, errDryRun
}

func (readOnly) CreateReview(context.Context, work.RepoName, int, github.NewReview) (github.Review, error) {
	return github.Review{}, errDryRun
}

func (readOnly) EditReview(context.Context, work.RepoName, int, int64, string) (github.Review, error) {
	return github.Review{}, errDryRun
}

func (readOnly) DismissReview(context.Context, work.RepoName, int, int64, string) (github.Review, error) {
	return github.Review{}, errDryRun
}

func (readOnly) RequestReviewers(context.Context, work.RepoName, int, ...string) error {
	return errDryRun
}

func (readOnly) SetStatus(context.Context, work.RepoName, string, github.Status) error {
	return errDryRun
}

func (readOnly) Merge(context.Context, work.RepoName, int, github.MergeOrder) (string, error) {
	return "", errDryRun
}

func (readOnly) Enqueue(context.Context, string, string) (merging.Queue, error) {
	return merging.Queue{}, errDryRun
}

func (readOnly) Dequeue(context.Context, string) error { return errDryRun }

func (readOnly) UpdateBranch(context.Context, work.RepoName, int, string) error { return errDryRun }

var _ env.GitHub = readOnly{}
