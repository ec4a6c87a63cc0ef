package env

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// LoadInstallations finds out which installations use the database, and has the pass skip the repositories in
// which another one works under our account. remembered is what the state folder has of them. The rows of
// the repositories are known.
func (p *Env) LoadInstallations(ctx context.Context, tx *store.Tx, remembered []work.Installation) error {
	stored, signs, err := readInstallations(ctx, tx)
	if err != nil {
		return err
	}
	p.Ours = work.InstallationsOf(stored, remembered, folder.InstallationID(p.Config.Runtime.Machine, p.Config.Path), p.Store.Shared(), p.Now())
	for _, i := range p.Ours.All {
		if !slices.ContainsFunc(stored, func(k work.Installation) bool { return k.ID == i.ID }) {
			if err := tx.PutInstallation(ctx, i); err != nil {
				return err
			}
		}
	}
	for _, r := range p.All {
		r.By = p.Ours.As
		if s, meets := Beside(p.Ours, signs, r.Row.ID); meets {
			_ = p.Accounts.SkipHost(wholeName(r.Name), p.besides(r, s))
		}
	}
	return nil
}

func readInstallations(ctx context.Context, tx *store.Tx) (ours []work.Installation, signs []store.KnownSign, err error) {
	if ours, err = tx.ListInstallations(ctx); err == nil {
		signs, err = tx.ListSigns(ctx)
	}
	return ours, signs, err
}

// Beside returns the newest sign that another installation works in a repository; false: none does.
func Beside(ours work.Installations, signs []store.KnownSign, repoID int64) (work.Sign, bool) {
	at := slices.IndexFunc(signs, func(s store.KnownSign) bool { return s.RepoID == repoID && ours.Meets(s.Sign, s.Gone) })
	if at < 0 {
		return work.Sign{}, false
	}
	return signs[at].Sign, true
}

// MeetSign stores the sign of another installation. If it shows that this one is at work, the pass skips
// the repository, and the error says why.
func (p *Env) MeetSign(ctx context.Context, r *Repo, s work.Sign) error {
	s.RepoID = r.Row.ID
	var signs []store.KnownSign
	err := p.Store.Update(ctx, func(tx *store.Tx) (err error) {
		if err = tx.PutSign(ctx, s); err == nil {
			signs, err = tx.ListSigns(ctx)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("store a sign of another installation: %w", err)
	}
	if s, meets := Beside(p.Ours, signs, r.Row.ID); meets {
		return p.Accounts.SkipHost(wholeName(r.Name), p.besides(r, s))
	}
	return nil
}

// BesideUs returns why the pass skips a repository in which another installation works under our account;
// nil: it knows of none.
func (p *Env) BesideUs(r *Repo) error { return p.Accounts.HostSkipped(wholeName(r.Name)) }

func (p *Env) besides(r *Repo, s work.Sign) error {
	return &work.BlockedError{Reason: OtherInstallation(r.Name, p.Ours.As, s)}
}

// OtherInstallation is why a repository is skipped in which another installation than ours, as here, works
// under our account.
func OtherInstallation(repo work.RepoName, here string, s work.Sign) work.Reason {
	where := "on another machine"
	if work.SameMachine(here, s.ID) {
		where = "on this machine, with another config"
	}
	return work.Reason{
		Kind: work.WhyOtherInstallation, Name: repo.FullName(), Who: s.ID,
		Text: fmt.Sprintf("%s %s, last sign of life at %s: %s", s.ID, where, work.Stamp(s.At), s.URL),
	}
}
