package env

import (
	"context"
	"errors"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// Contain is work.Contain for a part of what is done in a repository. The stack of a panic is in the log only.
func (p *Env) Contain(ctx context.Context, doing string, r *Repo, do func() error) error {
	err := work.Contain(doing, do)
	p.LogPanic(ctx, r, err)
	return err
}

// LogPanic logs a panic that was contained; other errors are the caller's to log.
func (p *Env) LogPanic(ctx context.Context, r *Repo, err error) {
	if broken, ok := errors.AsType[*work.PanicError](err); ok {
		p.Log.ErrorContext(ctx, "gh mergexo has a fault", "repo_full_name", r.Name.FullName(), "doing", broken.Doing, "place", broken.Place, "panic", broken.Value, "stack", broken.Stack)
	}
}

// ContainRepo contains what is done for one repository. A panic makes the repository fail, and other
// repositories go on.
func (p *Env) ContainRepo(ctx context.Context, doing string, r *Repo, rep *Report, do func() error) error {
	err := p.Contain(ctx, doing+" "+p.Config.Called(r.Name), r, do)
	if _, broken := errors.AsType[*work.PanicError](err); broken {
		p.RepoFailed(ctx, r, err, rep)
	}
	return err
}

// RepoFailed records that a repository could not be read, or worked on. A rate limit makes it wait and is
// no failure. What a person has to mend waits for no time: each pass looks, so that nobody who changed the
// config, the login or the repository waits. Any other error backs off. None affects other repositories.
func (p *Env) RepoFailed(ctx context.Context, r *Repo, err error, rep *Report) {
	ctx = context.WithoutCancel(ctx)
	shut := p.Accounts.SkipIfShut(r.Name, err)
	now := r.GitHub.Now()
	until, failed := now.Add(work.Backoff(p.Config.Runtime.RetryBase, r.Row.Failures+1)), true
	if wait, ok := errors.AsType[*work.WaitError](err); ok {
		until, failed = wait.Until, false
	}
	if _, person := errors.AsType[*work.BlockedError](err); shut || person {
		until = time.Time{}
	}
	if Future(until, now, work.LongestWait) {
		until = now.Add(work.LongestWait)
	}
	causes := p.Causes(r, err)
	reason := ReasonOf(causes)
	p.Log.WarnContext(ctx, "repository not read", "repo_full_name", r.Name.FullName(), "code", causes[0].Code, "reason", reason, "until", until, "error", err)
	rep.Repo(p.Config.Called(r.Name), func(x *RepoReport) {
		x.Failed, x.Note, x.Causes = failed, reason, causes
		if !failed {
			x.Until = &until
		}
	})
	if failed && shut {
		rep.TellShut(r.Name)
	}
	err = p.Store.Update(ctx, func(tx *store.Tx) error {
		return errors.Join(p.KeepClock(ctx, tx, r), tx.DeferRepo(ctx, r.Row.ID, until, p.StoredReason(causes), failed && !shut))
	})
	if err != nil {
		p.Log.ErrorContext(ctx, "could not record that a repository failed", "repo_full_name", r.Name.FullName(), "error", err)
	}
}
