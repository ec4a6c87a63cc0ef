//go:build unix

package crashtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/shard"
)

// moved is what came of two machines that share the repository by --shard.
type moved struct {
	counts counts
	struck bool
	log    string
	err    error
}

// mostRounds is how many passes each machine makes until nothing is left to do. A dead
// machine holds the repository for turn_timeout and some 40 minutes.
const (
	mostRounds  = 30
	roundLength = 10 * 60 // seconds
)

// TestMovedShares kills a pass of either of two machines wherever it can die, while the
// repository moves from the one to the other and back: nothing is done twice, and nothing is
// lost.
func TestMovedShares(t *testing.T) {
	const name = "moved-shares"
	asked, place, one := strings.Cut(mode, "/")
	if !only.MatchString(name) || one && asked != name || mode == "lost" {
		t.Skip("another scenario is asked for")
	}
	var want moved
	withWorld(t, func(w *world) { want = w.moveShares(point{}) })
	if want.err != nil {
		t.Fatalf("with nothing happening to it: %v\n%s", want.err, want.log)
	}
	points, _ := kills(want.counts)
	r := rand.New(rand.NewPCG(*seed, 16))
	switch {
	case one:
		p, err := parsePoint(place)
		if err != nil {
			t.Fatal(err)
		}
		points = []point{p}
	case mode == "sample":
		points = sample(points, 2, r)
	case mode == "ci":
		points = spread(points, mostOfSampled, r)
	}
	for _, p := range points {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			withWorld(t, func(w *world) {
				got := w.moveShares(p)
				if most := want.counts.runs + 1; got.err == nil && got.counts.runs > most {
					got.err = fmt.Errorf("the agent ran %d times, not %d at most", got.counts.runs, most)
				}
				if got.err != nil {
					t.Errorf("script/crash %s/%s (found with --seed %d): %v\n%s\nthe passes said:\n%s", name, p, *seed, got.err, w.story(), got.log)
				}
			})
		})
	}
}

// moveShares has the first machine begin an issue, moves the repository to the second one,
// where people comment, and back, where they comment once more.
func (w *world) moveShares(p point) (m moved) {
	m.err = errors.Join(w.begin(scenario{}), os.WriteFile(w.path("config2.toml"), []byte(strings.Replace(w.config(), w.state(), w.path("state2"), 1)), 0o600))
	if m.err != nil {
		return m
	}
	w.rig.reset(p)
	mine, others := "1/2", "2/2"
	if (shard.Shard{Index: 2, Of: 2}).Takes(w.repo.NodeID()) {
		mine, others = others, mine
	}
	first := map[string]string{"": mine, "2": others}
	second := map[string]string{"": others, "2": mine}
	m.err = steps(
		issue("Crash on start", "agent:bugfix", ""),
		func(w *world) error { return w.passOn("", first) }, // killed in its middle, or done
		shareUntil("2", second, 0), commentOn(pullNumber), shareUntil("2", second, 1),
		shareUntil("", first, 1), commentOn(pullNumber), shareUntil("", first, 2),
		onceEach,
	)(w)
	m.counts, m.struck = w.rig.counts(), w.rig.hasStruck()
	log, _ := os.ReadFile(w.path("log"))
	m.log = string(log)
	return m
}

// passOn makes a pass of one machine; it may be killed. GitHub's time moves on between passes,
// and this machine's does not: a pass that waited by its own clock would wait for ever.
func (w *world) passOn(machine string, shares map[string]string) error {
	w.machine = machine
	if ended, err := w.pass("--now", "--shard", shares[machine]); ended || err != nil {
		return err
	}
	return errors.Join(w.sound(), w.plantLocksOfHere())
}

// plantLocksOfHere is plantLocks where this machine has a mirror.
func (w *world) plantLocksOfHere() error {
	if mirrors, err := filepath.Glob(w.state("repos", "*", "*.git", "HEAD")); err != nil || len(mirrors) == 0 {
		return err
	}
	return w.plantLocks()
}

// shareUntil makes passes of both machines, as time goes by, until its owner has answered so
// many comments, and neither has done anything.
func shareUntil(owner string, shares map[string]string, answers int) func(*world) error {
	return func(w *world) error {
		state := ""
		for range mostRounds {
			was := w.rig.counts()
			for _, machine := range []string{"2", ""} {
				if err := w.passOn(machine, shares); err != nil {
					return err
				}
			}
			w.later.Add(roundLength)
			now := w.rig.counts()
			w.machine = owner
			l, err := w.ledger()
			if err != nil {
				return err
			}
			state = fmt.Sprintf("%d answers\n%s", len(w.answers()), l.text)
			if l.open == 0 && len(w.repo.Pulls()) == 1 && len(w.answers()) >= answers && was.writes == now.writes && was.agents == now.agents && !w.heldBy(otherThan(owner)) {
				return nil
			}
		}
		return fmt.Errorf("not quiet after %d passes of each machine: held by %q, %s", mostRounds, w.held(), state)
	}
}

func otherThan(machine string) string {
	if machine == "" {
		return "2"
	}
	return ""
}

// held is what the ref of the repository says.
func (w *world) held() string {
	text, err := exec.Command(w.programs.git, "-C", w.repo.GitDir(), "log", "-1", "--format=%B", "refs/mergexo/share").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// heldBy reports whether a machine holds the repository.
func (w *world) heldBy(machine string) bool {
	name, err := os.ReadFile(w.path("state"+machine, "installation"))
	return err == nil && strings.Contains(w.held(), strings.TrimSpace(string(name)))
}

// answers are what the operator's account said on the pull request.
func (w *world) answers() (all []githubsim.Comment) {
	for _, c := range w.repo.Comments(pullNumber) {
		if c.Author == operator {
			all = append(all, c)
		}
	}
	return all
}

// onceEach is what holds in the end: one pull request, one word on its issue, and one commit
// and one answer for each comment.
func onceEach(w *world) error {
	var errs []error
	if n := len(w.repo.Pulls()); n != 1 {
		return fmt.Errorf("%d pull requests", n)
	}
	opened := 0
	for _, c := range w.repo.Comments(1) {
		if c.Author == operator {
			opened++
		}
	}
	if opened > 1 {
		errs = append(errs, fmt.Errorf("%d comments on the issue", opened))
	}
	if n := len(w.answers()); n != 2 {
		errs = append(errs, fmt.Errorf("%d answers to 2 comments: %+v", n, w.answers()))
	}
	p, _ := w.repo.Pull(pullNumber)
	log, err := exec.Command(w.programs.git, "-C", w.repo.GitDir(), "log", "--format=%s", "main.."+p.Head).Output()
	if n := strings.Count(string(log), "\n"); err != nil || n != 3 {
		errs = append(errs, fmt.Errorf("%d commits, not one for the issue and one for each comment: %s, %w", n, log, err))
	}
	for _, machine := range []string{"", "2"} {
		w.machine = machine
		errs = append(errs, w.sound())
	}
	return errors.Join(errs...)
}
