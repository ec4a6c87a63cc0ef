package env

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/actions"
	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
)

// Remote is one configured repository with its clients.
type Remote struct {
	Name     work.RepoName
	Settings config.Repo
	GitHub   GitHub
	Mirror   func(work.Repo) Mirror

	// As returns the GitHub of a reviewer's own account, named in the config. Without a token for
	// it As fails with a BlockedError.
	As func(ctx context.Context, account string) (GitHub, error)
}

// GitHub is the pass's view of GitHub: lists for ingest, single objects read again before effects,
// and the requests of actions.
type GitHub interface {
	Lists
	Objects
	actions.Gateway
}

// Lists is what ingest reads.
type Lists interface {
	hostClock
	hostLimits
	ListIssues(ctx context.Context, p transport.PageRequest) (transport.Page[github.Issue], error)
	ListComments(ctx context.Context, p transport.PageRequest) (transport.Page[github.Comment], error)
	ListReviewComments(ctx context.Context, p transport.PageRequest) (transport.Page[github.ReviewComment], error)
	TimelineOf(ctx context.Context, repo work.RepoName, number int) ([]github.TimelineEvent, error)
	Stamps(ctx context.Context, nodeIDs []string) (map[string]github.RepoStamps, error)
	Sweep(ctx context.Context, repo work.RepoName, nodeIDs []string) (github.Sweep, error)
	Details(ctx context.Context, nodeIDs []string) ([]github.PullDetail, []string, error)
	DetailsSince(ctx context.Context, nodeIDs []string, since map[string]time.Time) ([]github.PullDetail, []string, error)
	Text(ctx context.Context, nodeID string) (github.Text, bool, error)
	Words(ctx context.Context, nodeIDs []string) (map[string]work.Word, error)
	Revisions(ctx context.Context, nodeID string) ([]github.Revision, error)
}

// hostClock is GitHub's clock, learned from its answers.
type hostClock interface {
	// Ahead returns how far this machine's clock is ahead of GitHub's; known is false before the
	// first answer.
	Ahead() (ahead time.Duration, known bool)
	// Assume sets the offset that an earlier pass learned. It holds until an answer comes.
	Assume(ahead time.Duration)
	// Now returns GitHub's time.
	Now() time.Time
}

// hostLimits are the rate limits that GitHub's answers report.
type hostLimits interface {
	// KeepLimits makes each newly reported limit call keep.
	KeepLimits(keep func(transport.Limit))
	// Hold applies a limit that an earlier pass stored.
	Hold(l transport.Limit)
}

// Objects are reads of single objects.
type Objects interface {
	Repository(ctx context.Context, name work.RepoName) (github.Repository, error)
	RepositoryByID(ctx context.Context, host string, id int64) (github.Repository, error)
	Viewer(ctx context.Context, etag string) (work.Account, string, bool, error)
	Issue(ctx context.Context, repo work.RepoName, number int) (github.Issue, bool, error)
	IssueWherever(ctx context.Context, repo work.RepoName, number int) (github.Issue, bool, error)
	BlockedBy(ctx context.Context, repo work.RepoName, number int) ([]work.Blocker, error)
	Pull(ctx context.Context, repo work.RepoName, number int) (github.Pull, bool, error)
	Permission(ctx context.Context, repo work.RepoName, who work.Account) (string, error)
	Comment(ctx context.Context, repo work.RepoName, id int64) (github.Comment, bool, error)
	Attachment(ctx context.Context, address string, most int64) ([]byte, error)
	File(ctx context.Context, repo work.RepoName, path, ref string) ([]byte, bool, error)
	Files(ctx context.Context, repo work.RepoName, folder, ref string) ([]string, bool, error)
	PullFiles(ctx context.Context, repo work.RepoName, number int) ([]string, error)
	PullCommits(ctx context.Context, repo work.RepoName, number int) ([]work.Commit, error)
	Descends(ctx context.Context, repo work.RepoName, head, from string) (yes, known bool, err error)
	checks
	Boxes(ctx context.Context, repo work.RepoName, of []merging.BoxOf) ([]github.BoxRead, error)
	RulesAgain(ctx context.Context, repo work.RepoName, branch string, was merging.Rules) (merging.Rules, error)
	CommitChecks(ctx context.Context, repo work.RepoName, commit string) (checks []merging.Check, known bool, err error)
}

// Mirror is the pass's view of a repository's mirror.
type Mirror interface {
	actions.Branches
	landed
	Named(account git.Identity) error
	Ensure(ctx context.Context) error
	Heads(ctx context.Context) (map[string]string, error)
	FetchPull(ctx context.Context, number int, key string) (oid string, ok bool, err error)
	Guard(ctx context.Context, commit, trusted string) (git.Guarded, error)
	Obeyed(ctx context.Context, trusted string, paths []string) ([]string, error)
	Submodules(ctx context.Context, trusted string, commits ...string) ([]git.Submodule, error)
	Restore(ctx context.Context, r git.Restore) error
	CommitTree(ctx context.Context, c git.Commit) (git.Committed, error)
	CommitFiles(ctx context.Context, c git.Commit, files map[string][]byte) (git.Committed, error)
	KeepTurn(ctx context.Context, key, oid string) error
	KeepPartial(ctx context.Context, p git.Partial) (string, error)
	Partial(ctx context.Context, key string) (oid string, ok bool, err error)
	PartialFiles(ctx context.Context, oid string) ([]string, error)
	Bundle(ctx context.Context, key string, most int64) (bundle []byte, ok bool, err error)
	Unbundle(ctx context.Context, key, commit string, bundle []byte) error
	KeptTurns(ctx context.Context) ([]git.KeptTurn, error)
	DropTurns(ctx context.Context, keys ...string) error
	Replay(ctx context.Context, oid, onto string) (git.Replayed, error)
	Merge(ctx context.Context, into, other string) (git.Merge, error)
	ChangedFiles(ctx context.Context, from, to string) ([]string, error)
	MergedFiles(ctx context.Context, merged, head string) ([]string, error)
	Changes(ctx context.Context, from, to, trusted string) ([]git.FileChange, error)
	DiffLines(ctx context.Context, from, to string) (git.Lines, error)
	Log(ctx context.Context, from, to string, limit int) ([]git.Entry, error)
	MergeBase(ctx context.Context, branch, head string) (string, bool, error)
	Has(ctx context.Context, oid string) bool
	Pointers(ctx context.Context, commit string) ([]string, error)
	ListFiles(ctx context.Context, commit string) ([]string, error)
	ReadFile(ctx context.Context, commit, path string) ([]byte, bool, error)
	FileIDs(ctx context.Context, treeish string, keep func(path string) bool) ([]string, error)
	IgnoredPaths(ctx context.Context, dir, index string) ([]string, error)
	Close()
}

// landed has the methods of a mirror about our merges: what each should bring to the base, and what
// it brought.
type landed interface {
	ExpectedTree(ctx context.Context, base, head, method string) (tree string, clean bool, err error)
	MergeBases(ctx context.Context, tip, head string) (string, error)
	BringsNoMore(ctx context.Context, mergeBases, tip string) (bool, error)
	Compare(ctx context.Context, landed, head, base string) (git.Landing, error)
	KeepMerged(ctx context.Context, number int, head string, at time.Time) error
	Merged(ctx context.Context, since time.Time) (numbers []int, err error)
	DropMerged(ctx context.Context, before time.Time) error
}

// OnBase returns the commit by which the base contains a head of a pull request, read by git:
// GitHub may lag. Empty: the base does not contain it.
func (r *Repo) OnBase(ctx context.Context, number int, head, base string) (string, error) {
	git := r.Git()
	if err := git.Fetch(ctx, base, head); err != nil {
		return "", err
	}
	tip, ok, err := git.Head(ctx, base)
	if err != nil || !ok {
		return "", err
	}
	found, _, err := git.FindLanded(ctx, "", tip, head, work.MergeToken(r.Row.Key(), number, head))
	return found.OID, err
}

// Agents returns the agents of the config.
type Agents interface {
	// Agent returns an agent for a repository, ready to run. Its name is set even with an error. If
	// the sandbox that the config demands does not work, Agent fails with a *work.BlockedError.
	Agent(ctx context.Context, repo work.Repo, name string) (Hired, error)
	// Used reads the usage of a run whose end no pass saw. began is its start by this machine's
	// clock, counted the usage already counted for its session. False: the program keeps no record.
	Used(run work.Run, counted work.Usage, began time.Time) (agent.Used, bool)
}

// Hired is an agent for a turn.
type Hired struct {
	agent.Agent
	Name      string       // in the config
	InsteadOf string       // the agent in whose place it works, because that one's provider is out; empty: none
	Sandbox   work.Sandbox // between the agent and the operator's files
	Warning   string       // why the agent can read those files, and the remedy; empty: it cannot
	Remedy    string       // the remedy alone
	Setup     string       // a hash of its login and settings, as far as they are known
}

// Orphans ends processes that the agent of a killed pass left running.
type Orphans interface {
	// EndMarked ends every process with the mark in its environment.
	EndMarked(ctx context.Context, mark string) (int, error)
	// Inside reports whether a process has its working directory in a folder or holds a file of it
	// open.
	Inside(ctx context.Context, dir string) (bool, error)
}

// Repo is a Remote in this pass with its row. Its mirror is opened on first use.
type Repo struct {
	Remote
	Row   work.Repo
	By    string // id of the installation that writes
	epoch string // that this pass gives the repository's planning once it moves something
	Ready bool   // known well enough to plan for it and to write to it

	Ignored map[int]work.Flow // issues that ingest saw and that start once people remove their ignore label

	Removed  bool   // the config no longer names it
	Replaced string // what happened to the repository that had the name before

	same   sync.Mutex // guards sameAt
	sameAt time.Time  // when GitHub last returned this repository for the name, in this pass

	Opening sync.Mutex // guards Opened
	Opened  Mirror
	Sends   sync.Mutex // one sender of this repository's notices per process
}

// Planning returns the claim of the pass that plans for the repository.
func (r *Repo) Planning() store.Claim { return store.PlanningClaim(r.Row, r.epoch) }

// Git returns the repository's mirror and opens it on first use.
func (r *Repo) Git() Mirror {
	r.Opening.Lock()
	defer r.Opening.Unlock()
	if r.Opened == nil {
		r.Opened = r.Mirror(r.Row)
	}
	return r.Opened
}

// Signed returns the id of this installation as the repository's markers have it.
func (r *Repo) Signed() string { return work.SignedIn(r.Row.Key(), r.By) }

// Mark returns a text of ours as it is posted in the repository: with the line that says that a
// program wrote it, and the markers.
func (r *Repo) Mark(text string, m work.Marks) string {
	m.By = r.Signed()
	return prompts.Bounded(text, r.Settings.Voice.Signature(""), m)
}

// Close closes the mirror if it was opened.
func (r *Repo) Close() {
	r.Opening.Lock()
	defer r.Opening.Unlock()
	if r.Opened != nil {
		r.Opened.Close()
	}
}

// OpenRepos loads or creates the rows of the configured repositories.
func (p *Env) OpenRepos(ctx context.Context, tx *store.Tx) error {
	names := make([]work.RepoName, len(p.Remotes))
	for i, r := range p.Remotes {
		names[i] = r.Name
	}
	rows, err := tx.OpenRepos(ctx, names)
	if err != nil {
		return fmt.Errorf("open the repositories: %w", err)
	}
	all := make([]*Repo, len(p.Remotes))
	for i, r := range p.Remotes {
		if row := rows[i]; row.NamedBy != p.ConfigID() && !p.namedElsewhere(row) {
			if err := tx.NameRepo(ctx, row.ID, p.ConfigID()); err != nil {
				return err
			}
			rows[i].NamedBy = p.ConfigID()
		}
		all[i] = &Repo{Remote: r, Row: rows[i], epoch: store.NewEpoch()}
	}
	p.All, p.byRow = all, nil
	return nil
}

// ConfigID names this config among those that use the database: by its path, and by its machine
// where other machines have the database, too.
func (p *Env) ConfigID() string {
	if !p.Store.Shared() {
		return p.Config.Path
	}
	return store.ConfigOf(p.Machine.Name, p.Config.Path)
}

// namedElsewhere reports whether another machine's config names a repository. That one takes it out
// then: a machine whose config does not name it, or not yet, must not.
func (p *Env) namedElsewhere(row work.Repo) bool {
	return p.Store.Shared() && row.NamedBy != "" && row.RemovedAt.IsZero()
}

// OtherName returns another name in the config for the same repository; "" if there is none.
func (p *Env) OtherName(r *Repo, nodeID string) string {
	p.rows.Lock()
	defer p.rows.Unlock()
	for _, o := range p.All {
		if o != r && o.Row.NodeID == nodeID && o.Name.Host == r.Name.Host {
			return o.Name.FullName()
		}
	}
	return ""
}

// SetRow replaces the row of a configured repository, under the lock that readers of all rows take. If
// it is another repository, the opened mirror is dropped.
func (p *Env) SetRow(r *Repo, row work.Repo) {
	p.rows.Lock()
	defer p.rows.Unlock()
	if r.Row.ID == row.ID {
		row.PlanningEpoch = r.Row.PlanningEpoch // as it was when this pass got the lock
	} else {
		r.Opening.Lock()
		r.Opened = nil
		r.Opening.Unlock()
	}
	r.Row = row
}

// RemoteByID returns the configured repository of a row; nil: there is none.
func (p *Env) RemoteByID(repoID int64) *Repo {
	p.rows.Lock()
	defer p.rows.Unlock()
	if r := p.byRow[repoID]; r != nil && r.Row.ID == repoID {
		return r
	}
	p.byRow = make(map[int64]*Repo, len(p.All)) // a name got another row
	for _, r := range p.All {
		if p.byRow[r.Row.ID] == nil {
			p.byRow[r.Row.ID] = r
		}
	}
	return p.byRow[repoID]
}

// Selected reports whether this pass plans for r: --repo allows it, and no other machine plans for it.
func (p *Env) Selected(r *Repo) bool {
	return (p.Only == nil || p.Only.Equal(r.Name)) && p.Mine(r.Row.ID)
}

// GitDate returns the date of a turn's commits. It is fixed per turn, so that repeating a commit
// gives the same commit.
func GitDate(t work.Turn) time.Time { return t.ClaimedAt.Truncate(time.Second) }

// HostOf returns the GitHub of a host on which the config names a repository; false: it names none.
func (p *Env) HostOf(r *Repo, host string) (GitHub, bool) {
	if r.Name.Host == host {
		return r.GitHub, true
	}
	for _, o := range p.All {
		if o.Name.Host == host {
			return o.GitHub, true
		}
	}
	return nil, false
}

// checks are the reads about red checks.
type checks interface {
	CheckRun(ctx context.Context, repo work.RepoName, id string) (github.CheckRun, error)
	Annotations(ctx context.Context, repo work.RepoName, id string) ([]github.Annotation, error)
	JobLog(ctx context.Context, repo work.RepoName, job string) (string, error)
	FailedChecks(ctx context.Context, repo work.RepoName, commit string) ([]github.Check, error)
	WorkflowRuns(ctx context.Context, repo work.RepoName, commit string) ([]github.WorkflowRun, error)
}

// Rerunnable returns the red workflow runs that may be run again: those in their first attempt. A
// run that is red after a second attempt is for people. Once the turn has a commit, it returns
// none: the push starts new runs.
func (l *Lease) Rerunnable() []github.WorkflowRun {
	if l.Turn.Commit != "" || l.Committed() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(l.Runs), func(r github.WorkflowRun) bool { return r.Attempt > 1 })
}

// OpenRemovedRepos finds repositories that this config no longer names, and returns those that an
// earlier config still named. A later step still ends their unfinished turns and removes their
// labels.
func (p *Env) OpenRemovedRepos(ctx context.Context, tx *store.Tx) (gone []work.RepoName, err error) {
	known, err := tx.ListRepos(ctx)
	if err != nil {
		return nil, err
	}
	var left []*Repo
	rows, names := map[int64]bool{}, map[string]bool{}
	for _, r := range p.All {
		rows[r.Row.ID], names[strings.ToLower(r.Name.String())] = true, true
	}
	for _, row := range known {
		if row.NodeID == "" || row.NamedBy != p.ConfigID() || rows[row.ID] || names[strings.ToLower(row.Name.String())] {
			continue
		}
		if row.RemovedAt.IsZero() {
			if err := tx.MarkRepoRemoved(ctx, row.ID); err != nil {
				return nil, err
			}
			gone = append(gone, row.Name)
		}
		if hub := p.gitHubOf(row.Name.Host); hub != nil {
			left = append(left, &Repo{Remote: Remote{Name: row.Name, GitHub: hub}, Row: row, epoch: store.NewEpoch(), Removed: true, Ready: true})
		}
	}
	p.Removed = left
	return gone, nil
}

// gitHubOf returns the GitHub of a host that gh is logged in to; nil: there is none.
func (p *Env) gitHubOf(host string) GitHub {
	for _, r := range p.All {
		if r.Name.Host == host {
			return r.GitHub
		}
	}
	if p.Host == nil {
		return nil
	}
	return p.Host(host)
}

// ShownAt returns the repository where GitHub shows an item, one that the config no longer names
// included; nil: none.
func (p *Env) ShownAt(repoID int64) *Repo {
	if r := p.RemoteByID(repoID); r != nil {
		return r
	}
	if at := slices.IndexFunc(p.Removed, func(r *Repo) bool { return r.Row.ID == repoID }); at >= 0 && p.Removed[at].Settings.Labels.Working != "" {
		return p.Removed[at]
	}
	return nil
}

// SameFor is how long an answer about which repository a name stands for, and which is its default branch, is valid.
const SameFor = time.Minute

// Confirm records that GitHub just returned this repository, with this default branch, for its name.
func (r *Repo) Confirm(at time.Time) {
	r.same.Lock()
	defer r.same.Unlock()
	r.sameAt = at
}

// Confirmed reports whether GitHub returned this repository for its name within the given time.
func (r *Repo) Confirmed(now time.Time, within time.Duration) bool {
	r.same.Lock()
	defer r.same.Unlock()
	return now.Sub(r.sameAt).Abs() < within
}

// StillSame checks, right before a write or before content reaches an agent, that the name still
// stands for this repository. An answer younger than within is enough. It returns a WaitError if
// the repository is gone or replaced.
func (p *Env) StillSame(ctx context.Context, r *Repo, within time.Duration) error {
	now := r.GitHub.Now()
	if r.Confirmed(now, within) {
		return nil
	}
	seen, err := r.GitHub.Repository(ctx, r.Row.Current)
	switch {
	case github.IsStatus(err, 404):
		return &work.WaitError{Until: now.Add(SameFor), Reason: work.Reason{Kind: work.WhyRepoMissing, Name: r.Name.FullName()}}
	case err != nil:
		return fmt.Errorf("read which repository %s is: %w", r.Name.FullName(), err)
	case seen.NodeID != r.Row.NodeID:
		return &work.WaitError{Until: now.Add(SameFor), Reason: work.Reason{Kind: work.WhyRepoReplaced, Name: r.Name.FullName()}}
	}
	if seen.DefaultBranch == r.Row.DefaultBranch { // else who begins work reads it
		r.Confirm(now)
	}
	return nil
}

// HoldLimits applies the rate limits that earlier passes stored and stores new ones: the next pass
// is another process, and GitHub may ban clients that keep asking while limited.
func (p *Env) HoldLimits(ctx context.Context, limits []work.Limit) {
	for _, r := range p.All {
		for _, l := range limits {
			if l.Host == r.Name.Host && !Future(l.NotBefore, r.GitHub.Now(), work.LongestWait) {
				r.GitHub.Hold(transport.Limit{Resource: l.Resource, Until: l.NotBefore, Reason: l.Reason})
			}
		}
	}
	for _, r := range p.All { // last, so that limits already held are not stored again
		host := r.Name.Host
		r.GitHub.KeepLimits(func(l transport.Limit) { p.keepLimit(ctx, host, l) })
	}
}

func (p *Env) keepLimit(ctx context.Context, host string, l transport.Limit) {
	ctx = context.WithoutCancel(ctx)
	err := p.Store.Update(ctx, func(tx *store.Tx) error {
		return tx.SetLimit(ctx, work.Limit{Host: host, Resource: l.Resource, NotBefore: l.Until, Reason: l.Reason})
	})
	if err != nil {
		p.Log.ErrorContext(ctx, "could not record a limit of GitHub's", "host", host, "error", err)
	}
}
