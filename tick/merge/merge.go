package merge

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/actions"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
	"github.com/mergexo/gh-mergexo/tick/snapshot"
)

// Merging merges approved pull requests.
type Merging struct {
	needs
	loader *snapshot.Loader
	tell   func(context.Context, *env.Repo, *env.Report) // sends planned comments

	mayApprove MayApprove
	contain    Contain
	nextSecond func(context.Context) // waits until the next second
}

// needs are what merging takes from a pass. All but preflight are required.
type needs struct {
	store     *store.DB
	config    *config.Config
	dirs      folder.Dirs
	secrets   *secrets.Redactor
	log       *slog.Logger
	now       func() time.Time
	accounts  *env.Accounts // those that write for us
	unseen    bool          // nobody sees this pass's output
	preflight func(context.Context) error

	effects    func() *actions.Runner
	scope      func(*env.Repo) actions.Scope
	remoteByID func(repo int64) *env.Repo
	halted     func(context.Context) (folder.Halt, bool)
	tryMerging func(context.Context, work.Repo) (unlock func(), ok bool, err error)
	stillSame  func(context.Context, *env.Repo, time.Duration) error
	readBoxes  func(context.Context, *env.Repo, []env.BoxOf) []github.BoxRead
}

// MayApprove asks GitHub whether the approval of an account counts now. A reviewer's does also if
// allowed_users names them.
type MayApprove func(ctx context.Context, r *env.Repo, who work.Account, reviewer bool) (bool, error)

// Contain does what a merge needs, and stops its item if that panics.
type Contain func(ctx context.Context, doing string, r *env.Repo, item int64, rep *env.Report, do func() error) error

// New returns Merging. It sends comments about merges with tell.
func New(e *env.Env, loader *snapshot.Loader, mayApprove MayApprove, contain Contain, tell func(context.Context, *env.Repo, *env.Report)) *Merging {
	return &Merging{needs{
		store: e.Store, config: e.Config, dirs: e.Dirs, secrets: e.Secrets, log: e.Log, now: e.Now, accounts: &e.Accounts, unseen: e.Unseen, preflight: e.Preflight,
		effects: e.Effects, scope: e.Scope, remoteByID: e.RemoteByID, halted: e.Halted, tryMerging: e.TryMerging, stillSame: e.StillSame, readBoxes: e.ReadBoxes,
	}, loader, tell, mayApprove, contain, nextSecond}
}

func nextSecond(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Second):
	}
}

// Run handles a repository's merging actions. chosen has the tokens that the plan chose; earlier
// merges are checked too. Only the holder of the repository's merge lock does so; other passes skip
// it. If there is nothing to do, Run makes no request.
func (m *Merging) Run(ctx context.Context, r *env.Repo, chosen []string, rep *env.Report) {
	if !r.Ready || r.Removed || m.mustNotSend(ctx) {
		return
	}
	d, err := m.due(ctx, r, chosen)
	if err == nil && d.nothing() {
		return
	}
	if err == nil {
		err = m.locked(ctx, r, chosen, rep)
	}
	if err != nil && ctx.Err() == nil {
		m.log.WarnContext(ctx, "merges wait", "repo_full_name", r.Name.FullName(), "error", err)
	}
	m.tell(ctx, r, rep)
}

// Waiting reports whether Run has work in a repository; true if that cannot be read.
func (m *Merging) Waiting(ctx context.Context, r *env.Repo, chosen []string) bool {
	if !r.Ready || r.Removed {
		return false
	}
	d, err := m.due(ctx, r, chosen)
	return err != nil || !d.nothing()
}

func (m *Merging) locked(ctx context.Context, r *env.Repo, chosen []string, rep *env.Report) error {
	unlock, ok, err := m.tryMerging(ctx, r.Row)
	if err != nil || !ok {
		return err
	}
	defer unlock()
	var claim store.Claim
	err = m.store.Update(ctx, func(tx *store.Tx) (err error) {
		claim, err = tx.TakeMerging(ctx, r.Row.ID)
		return err
	})
	if err != nil {
		return err
	}
	ctx = store.Under(ctx, claim)
	d, err := m.due(ctx, r, chosen) // another pass may have done it
	if err != nil || d.nothing() {
		return err
	}
	if m.preflight != nil { // a pass without turns has not checked that git exists
		if err := m.preflight(ctx); err != nil {
			return err
		}
	}
	if err := m.stillSame(ctx, r, env.SameFor); err != nil {
		return err
	}
	if err := m.restoreHalts(ctx, r); err != nil {
		return err
	}
	one := round{m, r, rep}
	one.actions(ctx, d.jobs)
	one.checkFollowUps(ctx, d)
	return one.recordLandings(ctx)
}

// mustNotSend reports whether nothing may be sent: everything is paused, or the pass ends.
func (m *Merging) mustNotSend(ctx context.Context) bool {
	_, halted := m.halted(ctx)
	return halted || ctx.Err() != nil
}

// round is one pass over the merges of one repository.
type round struct {
	*Merging
	r   *env.Repo
	rep *env.Report
}

// due is the work in one repository.
type due struct {
	jobs       []*job
	unrecorded []unrecordedMerge // merges that no pass has recorded as landed
	open       []merging.Merge   // merges whose issue may have stayed open
	untold     bool              // the database and the file in the state folder differ in whether merging is stopped
}

func (d due) nothing() bool {
	return len(d.jobs) == 0 && len(d.unrecorded) == 0 && len(d.open) == 0 && !d.untold
}

// job is one merging action with its rows.
type job struct {
	a      work.Action
	pull   work.PullRequest
	row    merging.Merge // zero: none is stored
	chosen bool          // by the plan of this pass
	base   string        // head of the base
	tree   string        // expected tree of the merge
	judged bool          // a blocker is stored for its head that only a person lifts
	looked merging.Box   // by the last look
}

// itemID returns the item of the action.
func (j *job) itemID() int64 { return cmp.Or(j.a.ItemID, j.pull.ItemID) }

// gone reports whether the pull request is closed or has another head than the action's.
func (j *job) gone() bool { return j.pull.State != work.PullOpen || j.pull.HeadOID != j.a.Head }

// due loads the work.
func (m *Merging) due(ctx context.Context, r *env.Repo, chosen []string) (d due, err error) {
	err = m.store.View(ctx, func(tx *store.Tx) error {
		d = due{}
		_, stopped, err := tx.MergingStopped(ctx, r.Row.ID)
		if err != nil {
			return err
		}
		_, kept := m.dirs.MergingStopped(r.Row)
		d.untold = stopped != kept
		all, err := tx.ListMergingActions(ctx, r.Row.ID)
		if err != nil {
			return err
		}
		for _, a := range all {
			j := &job{a: a, chosen: slices.Contains(chosen, a.Token)}
			if err := j.read(ctx, tx); err != nil {
				return err
			}
			if j.needsWork() {
				d.jobs = append(d.jobs, j)
			}
		}
		if d.unrecorded, err = m.unrecordedMerges(ctx, tx, r); err != nil {
			return err
		}
		d.open, err = m.uncheckedIssues(ctx, tx, r)
		return err
	})
	return d, err
}

func (j *job) read(ctx context.Context, tx *store.Tx) (err error) {
	if j.pull, _, err = tx.GetPull(ctx, j.a.RepoID, j.a.Number); err != nil || j.pull.ID == 0 {
		return err
	}
	head, why, err := tx.GetMergeTrouble(ctx, j.pull.ID)
	if err != nil {
		return err
	}
	j.judged = head == j.a.Head && !why.None()
	j.row, _, err = tx.FindMerge(ctx, j.pull.ID, j.a.Head)
	return err
}

// needsWork reports whether this pass must handle the action: the plan chose it, its request may
// have been sent, or its pull request closed or has a new head. Dequeues always need it. A
// half-merged head needs it while no blocker is recorded, or once the pull request closes or moves.
func (j *job) needsWork() bool {
	if j.a.Kind == work.ActionDequeue { // the pass that planned it may have died; the last look decides
		return true
	}
	if j.row.Stage == merging.Half && !j.gone() {
		return !j.judged
	}
	return j.chosen || j.gone() || j.a.State == work.ActionSent
}
