package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/notify"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/news"
)

func configChecks() []check {
	return []check{
		{"config", "whether the config is there and valid; settings without effect, or with a name that does not exist", here(readable, settings)},
	}
}

func machineChecks() []check {
	return []check{
		{"git", "whether git is there and new enough", here(gitThere)},
		{"state", "whether the state folder is safe and can be written; whether the home folder can, which turns in a sandbox do not need", here(state, home)},
		{"database", "whether the database is whole and can be written; of a PostgreSQL server also its version, encryption, free connections, durability, clock and who may connect; another machine with the name of this one, and others whose config differs in what they share", here(database, namesake, unlike)},
		{"metrics_file", "whether the folder of `metrics_file` is there and can be written", here(metricsFile)},
		{"disk", "how much room and how many inodes there are for the state", here(disk)},
		{"clock", "the difference between the clocks of this machine and GitHub", here(clock)},
		{"notify", "with --notify: whether the program of each `[[notify]]` takes a test message", messages},
	}
}

func readable(_ context.Context, e *exam) (all []Result) {
	problems, do := e.problems()
	for _, p := range problems {
		all = append(all, fail(p, cmp.Or(do, "correct that, then: gh mergexo config"))...)
	}
	if len(all) > 0 {
		return all
	}
	many := "repositories"
	if len(e.cfg.Repos) == 1 {
		many = "repository"
	}
	return ok(fmt.Sprintf("%s, %d %s", e.cfg.Path, len(e.cfg.Repos), many))
}

func settings(_ context.Context, e *exam) (all []Result) {
	for _, d := range append(config.Doubts(e.cfg), machine.SettingDoubts(e.cfg, e.Environ())...) {
		all = append(all, warn(d, "")...)
	}
	return all
}

func gitThere(ctx context.Context, e *exam) []Result {
	g, err := e.machine.Git(ctx)
	const do = "install git 2.38 or later"
	if _, missing := errors.AsType[*git.NoGitError](err); missing {
		return fail("git is not on PATH", do)
	}
	if err != nil {
		return fail(err.Error(), do)
	}
	return ok("git " + g.Version() + ", " + g.Path())
}

func state(_ context.Context, e *exam) []Result {
	dir := e.cfg.Runtime.StateDir
	switch err := e.machine.TryWholeState(); {
	case err != nil:
		return failure(machine.TroubleOf(err, work.AnotherFolder))
	case !files.Exists(dir):
		return ok(dir + " can be created")
	}
	return ok(dir + " can be written")
}

// home is about turns without a sandbox: in one, agents get a home of their own. What an agent keeps
// in the real one has its own check.
func home(ctx context.Context, e *exam) []Result {
	if e.Environ().Home == "" {
		return nil
	}
	err := machine.TryFolder(e.Environ().Home)
	switch {
	case err == nil:
		return nil
	case slices.ContainsFunc(e.agents(), func(g machine.Agent) bool { return !g.Hides }):
		return warn(err.Error()+": agents without a sandbox may need it", "mount it for writing, set HOME to a folder that you may write to, or give the agents a sandbox")
	}
	return ok(err.Error() + ", and no turn needs it")
}

func metricsFile(_ context.Context, e *exam) []Result {
	dir := filepath.Dir(e.cfg.Runtime.MetricsFile)
	switch err := machine.TryFolder(dir); {
	case e.cfg.Runtime.MetricsFile == "":
		return nil
	case err != nil:
		return fail(err.Error(), "set metrics_file in [runtime] to a file in another folder")
	case !files.Exists(dir):
		return fail(dir+" does not exist", fmt.Sprintf("mkdir -p %q", dir))
	}
	return ok(dir + " can be written")
}

func disk(_ context.Context, e *exam) []Result {
	dir := e.cfg.Runtime.StateDir
	switch left, little, err := e.machine.Room(); {
	case err != nil:
		return failure(machine.TroubleOf(err, machine.MoreRoom))
	case left == "":
		return nil
	case little:
		return warn(fmt.Sprintf("the disk of %s is nearly full: %s left", dir, left), machine.MoreRoom)
	default:
		return ok(left + " left for " + dir)
	}
}

// wrongClock is the clock error from which logins and certificates may be judged wrongly.
const wrongClock = 5 * time.Minute

const synchronize = "for example: sudo timedatectl set-ntp true"

func clock(_ context.Context, e *exam) (all []Result) {
	for _, h := range e.hosts {
		if _ = h.login(); h.client == nil {
			continue
		}
		ahead, known := h.client.Ahead()
		says := fmt.Sprintf("this machine's clock is %s that of %s", away(ahead), h.name)
		switch {
		case !known:
		case ahead.Abs() >= wrongClock:
			all = append(all, fail(says+": passes correct for that, but logins and certificates depend on it", "synchronize it, "+synchronize)...)
		case ahead != 0:
			all = append(all, warn(says+"; passes correct for that", "synchronize it, "+synchronize)...)
		default:
			all = append(all, ok("it agrees with that of "+h.name)...)
		}
	}
	return all
}

// away says how far and in which direction a clock is away from another one.
func away(ahead time.Duration) string {
	how := "ahead of"
	if ahead < 0 {
		how = "behind"
	}
	return terminal.Took(ahead.Abs()) + " " + how
}

// messages sends a test message to each [[notify]], side by side. Nothing of it is recorded.
func messages(ctx context.Context, e *exam) []Result {
	if !e.notify {
		return nil
	}
	if len(e.cfg.Notify) == 0 {
		return fail("the config has no [[notify]]", "gh mergexo config --example shows one")
	}
	sent := make([][]Result, len(e.cfg.Notify))
	var all sync.WaitGroup
	for i, n := range e.cfg.Notify {
		all.Go(func() {
			at := e.Now()
			message := news.Trial(n.Name, at)
			answer := e.machine.Notify(ctx, n.Name, notify.Message{ID: message.ID, Event: string(message.Event), Body: message.JSON(), At: at})
			if answer.Fate == notify.Taken {
				sent[i] = ok("the test message arrived: " + answer.Says)
			} else {
				sent[i] = fail("the test message did not arrive: "+answer.Says, "correct its command in [[notify]]")
			}
			sent[i][0].About = n.Name
		})
	}
	all.Wait()
	return slices.Concat(sent...)
}
