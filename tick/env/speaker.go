package env

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// Speaker is the account with which a reviewer writes in a repository.
type Speaker struct {
	GitHub     GitHub
	Who        work.Account // ID 0: GitHub does not say whose token it is
	MayApprove bool         // its approval counts: it has write access and is not an app

	reviewer, account, host string
}

// speaking is a host with an account that the config names there.
type speaking struct{ host, account string }

// Speakers finds the accounts of reviewers.
type Speakers struct{ *Env }

// Of returns the account with which a reviewer speaks: the one that the config names for it, else
// gh's own. The account's permission is read each time. If the reviewer cannot speak at all, Of
// fails with a BlockedError that names the reviewer.
func (p Speakers) Of(ctx context.Context, r *Repo, reviewer string) (Speaker, error) {
	s, err := p.find(ctx, r, reviewer)
	if err != nil || s.Who.ID == 0 || s.Who.Bot {
		return s, err
	}
	level, err := r.GitHub.Permission(ctx, r.Row.Current, s.Who)
	if err != nil {
		return s, fmt.Errorf("ask whether reviewer %q may approve: %w", reviewer, err)
	}
	if level == "none" && s.account != "" {
		return s, s.accountError(fmt.Sprintf("it has no access to %s", r.Row.Current.FullName()),
			"give it at least read access, with write access its approval counts; or take account out of the config", nil)
	}
	s.MayApprove = work.MayWrite(level)
	return s, nil
}

// find does the same without the permission.
func (p Speakers) find(ctx context.Context, r *Repo, reviewer string) (Speaker, error) {
	x, _ := r.Settings.Reviewer(reviewer)
	host := r.Name.Host
	s := Speaker{GitHub: r.GitHub, reviewer: reviewer, host: host}
	if x.Account != "" && !strings.EqualFold(x.Account, p.Accounts.Operator(host)) {
		s.account = x.Account
	}
	p.Accounts.asking.Lock()
	defer p.Accounts.asking.Unlock()
	at := speaking{host, strings.ToLower(s.account)}
	if known, ok := p.Accounts.speakers[at]; ok {
		s.Who = known.Who
		if s.account != "" {
			s.GitHub = known.GitHub
		}
		return s, nil
	}
	if err := p.introduce(ctx, r, &s); err != nil {
		return s, err
	}
	if p.Accounts.speakers == nil {
		p.Accounts.speakers = map[speaking]Speaker{}
	}
	p.Accounts.speakers[at] = s
	return s, nil
}

// introduce reads who an account is and records it.
func (p Speakers) introduce(ctx context.Context, r *Repo, s *Speaker) (err error) {
	if s.account == "" {
		s.Who, _, _, err = r.GitHub.Viewer(ctx, "")
		if github.IsStatus(err, 403) { // an app's token
			return nil
		}
		return err
	}
	s.GitHub, err = r.As(ctx, s.account)
	if blocked, ok := errors.AsType[*work.BlockedError](err); ok {
		return s.accountError(blocked.Reason.Text, blocked.Reason.Advice, blocked)
	}
	if err != nil {
		return err
	}
	if s.Who, _, _, err = s.GitHub.Viewer(ctx, ""); err != nil {
		return s.ExplainRefusal(err)
	}
	if !strings.EqualFold(s.Who.Login, s.account) {
		return s.accountError(fmt.Sprintf("gh's token for it is that of %s", s.Who.Login), "log in with it again: gh auth login --hostname "+s.host, nil)
	}
	return p.record(ctx, s.host, s.Who)
}

// ExplainRefusal returns the error of a request sent as the speaker. If GitHub refuses the
// reviewer's own account, that is a BlockedError that names both; any other error is returned
// unchanged.
func (s Speaker) ExplainRefusal(err error) error {
	if _, waits := errors.AsType[*work.WaitError](err); waits || s.account == "" {
		return err
	}
	switch {
	case github.IsStatus(err, 401):
		return s.accountError(github.Troubles(s.host, err)[0].Cause, "log in with it again: gh auth login --hostname "+s.host, err)
	case github.IsStatus(err, 403), github.IsStatus(err, 404):
		return s.accountError(github.Troubles(s.host, err)[0].Cause, "give it access to the repository again, or take account out of the config", err)
	}
	return err
}

// accountError returns why a reviewer cannot use its account.
func (s Speaker) accountError(why, advice string, err error) error {
	return &work.BlockedError{
		Reason: work.Reason{Kind: work.WhyReviewerAccount, Name: s.reviewer, Who: s.account, Text: why, Advice: advice}, Err: err,
	}
}

// RecordReviewers records the accounts of a repository's reviewers that the database lacks: without
// the account their reviews count as anybody's. A reviewer that cannot speak today writes no
// review, so RecordReviewers only logs it; its turns report why.
func (p Speakers) RecordReviewers(ctx context.Context, r *Repo) error {
	if !r.Settings.Review.Enabled || r.As == nil {
		return nil
	}
	for _, x := range r.Settings.Reviewers {
		if x.Account == "" || p.Accounts.knows(r.Name.Host, x.Account) {
			continue
		}
		_, err := p.find(ctx, r, x.Name)
		if blocked, ok := errors.AsType[*work.BlockedError](err); ok {
			p.Log.WarnContext(ctx, "a reviewer cannot use its account", "reviewer", x.Name, "account", x.Account,
				"repo_full_name", r.Name.FullName(), "code", string(blocked.Reason.Kind), "reason", blocked.Reason.Text, "next", blocked.Reason.Advice)
			continue
		}
		if err != nil {
			return fmt.Errorf("find out who %s is: %w", x.Account, err)
		}
	}
	return nil
}

// record stores a reviewer's account before anything is written as it: otherwise its writing would
// be read as feedback.
func (p Speakers) record(ctx context.Context, host string, who work.Account) error {
	a := &p.Accounts
	a.recording.Lock()
	defer a.recording.Unlock()
	a.mu.Lock()
	known := slices.Contains(a.reviewers[host], who)
	a.mu.Unlock()
	if known {
		return nil
	}
	if err := p.Store.Update(ctx, func(tx *store.Tx) error { return tx.AddAccount(ctx, host, who, work.RoleReviewer) }); err != nil {
		return fmt.Errorf("record the account of a reviewer: %w", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.reviewers == nil {
		a.reviewers = map[string][]work.Account{}
	}
	a.reviewers[host] = append(a.reviewers[host], who)
	return nil
}
