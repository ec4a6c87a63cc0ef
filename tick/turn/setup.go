package turn

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/sandbox"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// A repository's set-up installs what its code needs to run. It runs on the files of the base, which
// only people with write access change, in a checkout of its own. What git ignores there afterwards
// is kept under a hash of the base's lock files, and every checkout gets a copy. If a change alters a
// lock file, the set-up also runs on the change's files: without a network, and what that makes is
// for this checkout alone. So no code of a change reaches a network by it, or another turn.

// setupKept is how long what a set-up made is used: without lock files nothing else says that there
// is something new to install.
const setupKept = 7 * 24 * time.Hour

// Names below a repository's folder of set-ups.
const (
	setupMade  = "made-" // and the key: what a set-up made, whole
	setupNew   = "new"   // what one is making
	setupFiles = "files" // in both: the copied files
	setupNote  = "note"  // in both: a setupProduct in JSON
)

// setupProduct describes what a set-up made.
type setupProduct struct {
	Paths []string `json:"paths"` // that git ignored, each a file or a whole folder
	Bytes int64    `json:"bytes"`
	Sum   string   `json:"sum"` // files.SumTree of the copied files
}

func readProduct(made string) (p setupProduct, err error) {
	b, err := os.ReadFile(filepath.Join(made, setupNote))
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil {
		return p, fmt.Errorf("read what the set-up made: %w", err)
	}
	return p, nil
}

// failedSetups are the set-ups of bases that failed in this pass. Each is tried once in a pass.
type failedSetups struct {
	mu  sync.Mutex
	all map[string]agent.Tested // by path of what they should have made
}

func (f *failedSetups) get(path string) (agent.Tested, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	res, failed := f.all[path]
	return res, failed
}

func (f *failedSetups) put(path string, res agent.Tested) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = map[string]agent.Tested{}
	}
	f.all[path] = res
}

// setUp gives a restored checkout what the repository's set-up makes, and returns what its agent is
// told; nil: there is none. That it fails is no error: the turn runs and is told. An error means that
// the turn is over, or the pass.
func (p *runner) setUp(ctx context.Context, l *env.Lease, ag agent.Agent, at git.Restore) (*prompts.Setup, error) {
	if len(l.Repo.Settings.Setup) == 0 {
		return nil, p.recordSetup(ctx, l, "")
	}
	if l.Turn.Kind.Document() || l.Turn.Kind == work.KindDesignFeedback {
		return nil, nil //nolint:nilnil // no set-up is an answer
	}
	running, over := p.watch(ctx, l)
	s := setup{runner: p, l: l, agent: ag, at: at, told: prompts.Setup{Command: l.Repo.Settings.Setup}}
	err := s.run(running)
	if why := over(); why != nil {
		return nil, why
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		s.told.Failure = unusable(err)
	}
	if s.told.Failure != "" {
		p.Changed(l, "set-up failed", s.told.Failure)
		p.Log.WarnContext(ctx, "the set-up failed", p.TurnAttrs(l, "failure", s.told.Failure, "output", s.told.Output)...)
	} else {
		p.Changed(l, "set up", cmp.Or(strings.Join(s.told.Made, ", "), "nothing that git ignores"))
	}
	return &s.told, p.recordSetup(ctx, l, s.told.Failure)
}

// recordSetup stores with the item why its set-up failed; "": it did not.
func (p *runner) recordSetup(ctx context.Context, l *env.Lease, failure string) error {
	var f work.SetupFailure
	if failure != "" {
		f = work.SetupFailure{Command: work.CommandLine(l.Repo.Settings.Setup), Why: failure, At: p.Now()}
	} else if l.Item.Setup.Why == "" {
		return nil
	}
	l.Item.Setup = f
	return p.Store.Update(ctx, func(tx *store.Tx) error { return tx.SetSetupFailure(ctx, l.Item.ID, f) })
}

// setup is one set-up of a checkout.
type setup struct {
	*runner
	l     *env.Lease
	agent agent.Agent
	at    git.Restore // the checkout
	told  prompts.Setup
}

func (s *setup) run(ctx context.Context) error {
	repo, timeout := s.l.Repo.Row, s.Config.Runtime.SetupTimeout
	base, key, err := s.compare(ctx)
	if err != nil {
		return err
	}
	lock, free, err := s.Dirs.LockSetup(ctx, repo, 2*timeout+time.Minute)
	if err != nil {
		return err
	}
	if !free {
		return errors.New("another turn's set-up did not end")
	}
	defer lock.Unlock()
	defer func() { _ = sandbox.Remove(s.made(setupNew)) }() // a failure does no harm: the next set-up removes it
	from, res, err := s.ofBase(ctx, base, key)
	if err == nil && len(s.told.Altered) > 0 {
		from, res, err = s.ofChange(ctx, from)
	}
	s.told.Failure, s.told.Output = res.Failure, res.Output
	if err != nil || from == "" {
		return err
	}
	return s.give(ctx, from)
}

// compare finds the commit of the base whose lock files the checkout has, and the key of what the
// set-up makes of it. If the checkout has others, it takes the commit where the change left the base.
func (s *setup) compare(ctx context.Context) (commit, key string, err error) {
	m := s.l.Repo.Git()
	own, err := m.FileIDs(ctx, s.at.Treeish(), work.IsLockFile)
	if err != nil {
		return "", "", err
	}
	tip, known, err := m.Head(ctx, s.l.Turn.Base)
	if err == nil && !known {
		err = fmt.Errorf("the base %s is not there", s.l.Turn.Base)
	}
	if err != nil {
		return "", "", err
	}
	fork, related, err := m.MergeBase(ctx, s.l.Turn.Base, s.at.Commit)
	if err != nil {
		return "", "", err
	}
	if !related {
		fork = tip
	}
	var locks []string
	for _, of := range slices.Compact([]string{tip, fork}) { // last the fork, which stays if no one fits
		if locks, err = m.FileIDs(ctx, of, work.IsLockFile); err != nil {
			return "", "", err
		}
		if commit = of; slices.Equal(own, locks) {
			return commit, s.key(locks), nil
		}
	}
	s.told.Altered = differing(own, locks)
	return commit, s.key(locks), nil
}

// differing returns the paths of files that two trees do not share.
func differing(one, other []string) (paths []string) {
	for _, lines := range [][2][]string{{one, other}, {other, one}} {
		for _, line := range lines[0] {
			if path := strings.SplitN(line, " ", 3)[2]; !slices.Contains(lines[1], line) && !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	slices.Sort(paths)
	return paths
}

// key names what a set-up makes. The name of the base is part of it, because who may push to one
// branch need not be allowed to push to another.
func (s *setup) key(locks []string) string {
	b, _ := json.Marshal([]any{runtime.GOOS, runtime.GOARCH, s.l.Turn.Sandbox, s.l.Turn.Base, s.l.Repo.Settings.Setup, locks}) // strings only
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// made returns a folder of what the repository's set-ups made.
func (s *setup) made(name string) string { return filepath.Join(s.Dirs.SetupsDir(s.l.Repo.Row), name) }

// ofBase returns the folder of what the set-up made of a base's commit; it is made if it is missing.
// Only this writes to the kept ones.
func (s *setup) ofBase(ctx context.Context, commit, key string) (made string, res agent.Tested, err error) {
	made = s.made(setupMade + key)
	if isFresh(made, s.Local()) {
		if isWhole(made) {
			return made, res, nil
		}
		s.Log.WarnContext(ctx, "what the set-up made is damaged and is made again", s.TurnAttrs(s.l)...)
	}
	if failed, known := s.setups.get(made); known {
		return "", failed, nil
	}
	fresh := s.made(setupNew)
	res, err = s.execute(ctx, git.Restore{Commit: commit, Branch: "setup", Submodules: s.l.Submodules}, false, "", fresh)
	switch {
	case err != nil:
		return "", res, err
	case res.Failure != "":
		s.setups.put(made, res)
		return "", res, nil
	}
	now := s.Local()
	err = errors.Join(sandbox.Remove(made), os.Chtimes(fresh, now, now))
	if err == nil {
		err = os.Rename(fresh, made)
	}
	if err == nil {
		err = dropOldSetups(filepath.Dir(made), now, s.Config.Runtime.MaxDisk)
	}
	if err != nil {
		return "", res, fmt.Errorf("keep what the set-up made: %w", err)
	}
	return made, res, nil
}

// ofChange runs the set-up on the checkout's own files, with a copy of what the base's made. It
// returns the folder of what it made, or the base's if it failed.
func (s *setup) ofChange(ctx context.Context, base string) (made string, res agent.Tested, err error) {
	if !s.l.Turn.Sandbox.Hides() {
		return base, agent.Tested{Failure: "did not run: without a sandbox it cannot be kept from the network"}, nil
	}
	own := s.made(setupNew)
	at := s.at
	at.Base, at.Change = "", nil
	if res, err = s.execute(ctx, at, true, base, own); err != nil || res.Failure != "" {
		return base, res, err
	}
	return own, res, nil
}

// execute runs the set-up on a tree in its own checkout, where a copy of an earlier one's is, if
// from is not empty, and copies what it made to a folder.
func (s *setup) execute(ctx context.Context, tree git.Restore, offline bool, from, to string) (res agent.Tested, err error) {
	c, m, settings := s.Dirs.SetupCheckout(s.l.Repo.Row), s.l.Repo.Git(), s.l.Repo.Settings
	remove := func() error { // a pass that was killed leaves them
		return errors.Join(sandbox.Remove(c.Dir), sandbox.Remove(sandbox.Around(c.Dir)), sandbox.Remove(c.Index))
	}
	if err := errors.Join(remove(), sandbox.Remove(to)); err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	tree.Dir, tree.Index, tree.Ignored = c.Dir, c.Index, git.RemoveIgnored
	if err := os.MkdirAll(filepath.Dir(c.Dir), 0o700); err != nil {
		return res, err
	}
	if err := m.Restore(ctx, tree); err != nil {
		return res, fmt.Errorf("make a checkout for the set-up: %w", err)
	}
	if from != "" {
		if _, err := copySetup(from, c.Dir); err != nil {
			return res, err
		}
	}
	s.Changed(s.l, "setting up", strings.Join(settings.Setup, " "))
	res, err = s.agent.Test(ctx, agent.Request{
		Turn: s.l.Turn.Key, Mark: s.Mark(s.l.Turn), Kind: s.l.Turn.Kind, Mode: work.ModeWrite, Dir: c.Dir, Wall: s.Config.Runtime.SetupTimeout, Active: s.active(s.l), Offline: offline,
	}, settings.Setup)
	if blocked, ok := errors.AsType[*work.BlockedError](err); ok {
		return agent.Tested{Failure: whySetupBlocked(blocked.Reason)}, nil
	}
	if err != nil || res.Failure != "" {
		return res, err
	}
	paths, err := m.IgnoredPaths(ctx, c.Dir, c.Index)
	if err != nil {
		return res, err
	}
	if err := keepSetup(c.Dir, to, paths, s.Config.Runtime.MaxDisk/2); err != nil {
		res.Failure = unusable(err)
	}
	return res, nil
}

func unusable(err error) string { return "made nothing that can be used: " + err.Error() }

// whySetupBlocked says why the set-up's program could not be started.
func whySetupBlocked(r work.Reason) string {
	if r.Kind == work.WhyShutOut {
		return fmt.Sprintf("did not run: its program %q is not visible in the sandbox", r.Name)
	}
	return fmt.Sprintf("did not run: its program %q is not on this machine, or cannot be started", r.Name)
}

// keepSetup copies what a set-up made, without files that agents obey.
func keepSetup(from, to string, paths []string, most int64) error {
	if err := os.MkdirAll(filepath.Join(to, setupFiles), 0o700); err != nil {
		return err
	}
	n, err := files.CopyTree(from, filepath.Join(to, setupFiles), paths, most, work.IsAgentFile)
	if err != nil {
		return err
	}
	sum, err := files.SumTree(filepath.Join(to, setupFiles))
	if err != nil {
		return err
	}
	b, err := json.Marshal(setupProduct{Paths: paths, Bytes: n, Sum: sum})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, setupNote), b, 0o600)
}

// copySetup copies what a set-up made to a checkout and returns its paths.
func copySetup(from, to string) (paths []string, err error) {
	p, err := readProduct(from)
	if err != nil {
		return nil, err
	}
	paths = slices.DeleteFunc(p.Paths, func(path string) bool { // not copied before, as a pipe is not
		return !files.Exists(filepath.Join(from, setupFiles, filepath.FromSlash(path)))
	})
	_, err = files.CopyTree(filepath.Join(from, setupFiles), to, paths, 0, work.IsAgentFile)
	return paths, err
}

// give copies what a set-up made to the checkout. What the checkout's commit does not ignore is
// undone again, so that nothing of it is committed.
func (s *setup) give(ctx context.Context, from string) error {
	m := s.l.Repo.Git()
	paths, err := copySetup(from, s.at.Dir)
	at := s.at
	if at.Ignored = git.KeepIgnored; err != nil {
		at.Ignored = git.RemoveIgnored // half of it helps nobody
	}
	if err := errors.Join(err, m.Restore(ctx, at)); err != nil {
		return err
	}
	ignored, err := m.IgnoredPaths(ctx, at.Dir, at.Index)
	for _, path := range paths {
		if slices.ContainsFunc(ignored, func(in string) bool { return path == in || strings.HasPrefix(path, in+"/") }) {
			s.told.Made = append(s.told.Made, path)
		}
	}
	return err
}

// isFresh reports whether what a set-up made is there and not too old.
func isFresh(made string, now time.Time) bool {
	info, err := os.Lstat(made)
	return err == nil && now.Sub(info.ModTime()) < setupKept
}

// isWhole reports whether what a set-up made is as it was kept. Nothing of it is synced, which takes
// long for the many files of some: after a power loss, files may be empty or missing.
func isWhole(made string) bool {
	p, err := readProduct(made)
	if err != nil {
		return false
	}
	sum, err := files.SumTree(filepath.Join(made, setupFiles))
	return err == nil && sum == p.Sum
}

// dropOldSetups removes what is too old, or more than most bytes together: the oldest first. The
// caller holds the lock.
func dropOldSetups(dir string, now time.Time, most int64) error {
	all, err := filepath.Glob(filepath.Join(dir, setupMade+"*"))
	if err != nil {
		return err
	}
	age := map[string]time.Time{}
	for _, made := range all {
		if info, err := os.Lstat(made); err == nil {
			age[made] = info.ModTime()
		}
	}
	slices.SortFunc(all, func(a, b string) int { return age[b].Compare(age[a]) })
	var sum int64
	var errs []error
	for _, made := range all {
		p, err := readProduct(made)
		if sum += p.Bytes; err != nil || !isFresh(made, now) || most > 0 && sum > most {
			errs = append(errs, sandbox.Remove(made))
		}
	}
	return errors.Join(errs...)
}

// DropSetups removes what set-ups made that is too old or too much, what killed ones left, and all
// of repositories that the config no longer names.
func (p *restorer) DropSetups(ctx context.Context) error {
	repos := map[string]*env.Repo{}
	for _, r := range p.All {
		repos[p.Dirs.SetupsDir(r.Row)] = r
	}
	dirs, err := filepath.Glob(filepath.Join(p.Dirs.State, "setups", "*", "*"))
	if err != nil {
		return fmt.Errorf("list what set-ups made: %w", err)
	}
	var errs []error
	for _, dir := range dirs {
		r, known := repos[dir]
		if !known {
			errs = append(errs, sandbox.Remove(dir))
			continue
		}
		errs = append(errs, p.dropSetups(ctx, r, dir))
	}
	return errors.Join(errs...)
}

func (p *restorer) dropSetups(ctx context.Context, r *env.Repo, dir string) error {
	lock, free, err := p.Dirs.LockSetup(ctx, r.Row, 0)
	if err != nil || !free { // one runs: the next time
		return err
	}
	defer lock.Unlock()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	errs := []error{dropOldSetups(dir, p.Local(), p.Config.Runtime.MaxDisk)}
	for _, e := range entries {
		if len(r.Settings.Setup) == 0 || !strings.HasPrefix(e.Name(), setupMade) {
			errs = append(errs, sandbox.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}
