package folder

import (
	"path/filepath"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Dirs are the folders of the state.
type Dirs struct{ State string }

func (d Dirs) locks() string { return filepath.Join(d.State, "locks") }

// CheckoutParent is where a repository's checkouts stand.
func (d Dirs) CheckoutParent(r work.Repo) string { return d.of("checkouts", r) }

// HomesDir is where the home folders of a repository's work items stand, which
// agents find in a sandbox, each named by the item's number.
func (d Dirs) HomesDir(r work.Repo) string { return d.of("homes", r) }

// MirrorDir is where a repository's mirror stands.
func (d Dirs) MirrorDir(r work.Repo) string { return d.of("repos", r) + ".git" }

// of is a repository's folder. It goes by host and node id: two repositories that
// have had one name share no file.
func (d Dirs) of(kind string, r work.Repo) string {
	return filepath.Join(d.State, kind, r.Name.Host, r.Folder())
}

// RepoLock is the lock around writes to a repository's mirror.
func (d Dirs) RepoLock(r work.Repo) string { return d.lock("repo", r) }

// NoticesLock is the lock around sending a repository's notices.
func (d Dirs) NoticesLock(r work.Repo) string { return d.lock("notices", r) }

// MergeLock is the lock around merging a repository's pull requests.
func (d Dirs) MergeLock(r work.Repo) string { return d.lock("merge", r) }

// LockTelling takes the lock around sending messages outside of GitHub, if nobody holds it.
func (d Dirs) LockTelling() (FileLock, bool, error) {
	return TryLock(filepath.Join(d.locks(), "notify.lock"))
}

// lock is a repository's lock. Its name survives a lost database, under which
// another pass may still hold it.
func (d Dirs) lock(kind string, r work.Repo) string {
	return filepath.Join(d.locks(), kind+"-"+r.Name.Host+"-"+r.Folder()+".lock")
}
