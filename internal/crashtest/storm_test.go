//go:build unix

package crashtest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// The storm: five machines on one database tick by themselves, people do anything in some repositories,
// and all sorts of faults strike, at random times. Then it is calm, everything settles, and what must hold
// of every history of the model is looked at in each repository.
//
//	script/storm [MINUTES]                      so long; the seed is printed, and given with --seed
//	go test ./internal/crashtest -run Storm     nothing without MERGEXO_STORM, which has the minutes
//
// The seed determines what people do and what strikes, not when passes meet it.

// storm is one that is played.
type storm struct {
	*world
	lives  []*life
	random *rand.Rand // of people and faults

	mu      sync.Mutex
	passes  map[string]map[*exec.Cmd]<-chan struct{} // that run, by machine
	ended   map[string]int                           // by machine
	codes   map[int]int                              // how passes ended; -1: killed
	struck  map[string]int
	trouble []error
	away    map[string]bool // machines that are stopped or cut off until they come back
	left    []leftTurn      // what machines had under way when they went away or lost their name

	started sync.Mutex // one at a time asks the server or starts it
}

const mostInStorm = 40 // issues in a repository

// stormRepos are the repositories beside the world's own.
const stormRepos = 2

// moreRepos is what the config says of a storm's other repositories.
func (w *world) moreRepos() (text string) {
	if !w.scenario.storm {
		return ""
	}
	for i := range stormRepos {
		r := w.hub.Repo(repoName + strconv.Itoa(i+2))
		text += fmt.Sprintf("[[repo]]\nname = %q\nremote_url = %q\n[repo.review]\nenabled = false\n", r.FullName(), r.GitDir())
	}
	return text
}

func (w *world) makeMoreRepos() error {
	if !w.scenario.storm {
		return nil
	}
	for _, resource := range []string{"core", "graphql"} { // passes follow each other without a pause: in an hour they ask more than cron's do in a week
		if err := w.hub.SetLimit(operator, resource, 1_000_000); err != nil {
			return err
		}
	}
	for i := range stormRepos {
		r, err := w.hub.AddRepo(repoName+strconv.Itoa(i+2), map[string]string{"README.md": "# App\n", "src/app.txt": "one\ntwo\nthree\n"})
		if err != nil {
			return err
		}
		for login, level := range map[string]string{operator: "admin", "ann": "write", "bob": "write"} {
			if err := r.SetPermission(login, level); err != nil {
				return err
			}
		}
		for _, label := range workLabels {
			r.MakeLabel(label, "ededed", "")
		}
	}
	return nil
}

// TestStorm plays a storm of MERGEXO_STORM minutes.
func TestStorm(t *testing.T) {
	minutes, err := strconv.ParseFloat(cmp.Or(os.Getenv("MERGEXO_STORM"), "0"), 64)
	if err != nil {
		t.Fatalf("MERGEXO_STORM: %v", err)
	}
	if minutes == 0 {
		t.Skip("it takes minutes: script/storm plays it")
	}
	if serverPrograms() == "" {
		t.Skip("no PostgreSQL: on Debian apt-get install postgresql")
	}
	fmt.Printf("storm of %g minutes, --seed %d\n", minutes, *seed)
	withWorld(t, func(w *world) {
		s := &storm{world: w, random: rand.New(rand.NewPCG(*seed, 1)), passes: map[string]map[*exec.Cmd]<-chan struct{}{}, ended: map[string]int{}, codes: map[int]int{}, struck: map[string]int{}, away: map[string]bool{}}
		err := s.play(time.Duration(minutes * float64(time.Minute)))
		s.letAllEnd()
		fmt.Print(s.table())
		if err != nil {
			t.Errorf("%v\n--seed %d", err, *seed)
			if dir := os.Getenv("MERGEXO_STORM_KEEP"); dir != "" {
				out, err := exec.Command("cp", "-r", w.dir, dir).CombinedOutput()
				t.Logf("kept in %s: %v %s", dir, err, out)
				notes := ""
				for _, l := range s.lives {
					notes += l.repo.FullName() + "\n  " + strings.Join(l.notes, "\n  ") + "\n"
				}
				_ = os.WriteFile(dir+"/notes", []byte(notes), 0o600)
				_ = os.WriteFile(dir+"/said", []byte(strings.Join(w.rig.said, "\n")), 0o600)
				_ = os.WriteFile(dir+"/dump", []byte(w.hub.Dump()), 0o600)
				stored, _ := w.fleet.stored()
				_ = os.WriteFile(dir+"/stored", []byte(stored), 0o600)
			}
		}
		w.rig.mu.Lock()
		w.rig.errs = slices.DeleteFunc(w.rig.errs, func(err error) bool { return errors.Is(err, fs.ErrNotExist) }) // a dead pass's checkout is removed under its agent
		w.rig.mu.Unlock()
	})
}

func (s *storm) play(long time.Duration) error {
	slow := rand.New(rand.NewPCG(*seed, 2))
	var drawing sync.Mutex
	during := func(*world, agentRun, int) error { // an agent works for some time
		drawing.Lock()
		wait := time.Duration(slow.IntN(800)) * time.Millisecond
		drawing.Unlock()
		time.Sleep(wait)
		return nil
	}
	if err := s.begin(scenario{name: "storm", fleet: true, storm: true, during: during}); err != nil {
		return err
	}
	s.rig.reset(point{})
	s.plainGit.Store(true)
	if _, err := s.hub.AddUser("sam"); err != nil {
		return err
	}
	for _, r := range []string{repoName, repoName + "2", repoName + "3"} {
		s.lives = append(s.lives, &life{world: s.world, repo: s.hub.Repo(r), storm: s, gate: newGate()})
	}
	if code, err := s.passOn("a"); err != nil || code != 0 { // the first one creates the schema
		return fmt.Errorf("the first pass ended with %d: %w\n%s", code, err, lastLines(s.said()))
	}
	over := make(chan struct{})
	var all sync.WaitGroup
	for i, machine := range s.machines() {
		all.Go(func() { s.tick(machine, rand.New(rand.NewPCG(*seed, uint64(10+i))), over) })
	}
	all.Go(func() { s.strikes(rand.New(rand.NewPCG(*seed, 3)), over) })
	all.Go(func() { s.absences(long, over) })
	err := s.people(long)
	close(over)
	all.Wait()
	if err != nil {
		return err
	}
	return s.conclude()
}

// people do something every now and then.
func (s *storm) people(long time.Duration) error {
	var verbs []string
	for _, o := range often {
		if passVerbs[o.verb] {
			continue
		}
		for range o.times {
			verbs = append(verbs, o.verb)
		}
	}
	for end := time.Now().Add(long); time.Now().Before(end); time.Sleep(time.Duration(100+s.random.IntN(900)) * time.Millisecond) {
		l := s.lives[s.random.IntN(len(s.lives))]
		st := step{verbs[s.random.IntN(len(verbs))], s.random.IntN(12), s.random.IntN(60)}
		l.note("%s %s", time.Now().Format("15:04:05.000"), st)
		if err := deeds[st.verb](l, st); err != nil {
			return fmt.Errorf("%s: %w", st, err)
		}
		for _, l := range s.lives {
			l.excuse()
		}
	}
	return nil
}

// passVerbs are the words that are about passes, which tick by themselves here; and about a lost database.
var passVerbs = map[string]bool{"nothing": true, "pass": true, "pair": true, "hold": true, "release": true, "kill": true, "strike": true, "forget": true}

// start starts a pass on a machine.
func (s *storm) start(machine string) (<-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on(machine)
	done, c, err := s.startPass()
	if err != nil {
		return nil, err
	}
	if s.passes[machine] == nil {
		s.passes[machine] = map[*exec.Cmd]<-chan struct{}{}
	}
	s.passes[machine][c] = done
	gone := make(chan struct{})
	go func() {
		<-done
		s.mu.Lock()
		delete(s.passes[machine], c)
		s.ended[machine]++
		s.codes[c.ProcessState.ExitCode()]++
		s.mu.Unlock()
		close(gone)
	}()
	return gone, nil
}

// tick has a machine begin a pass now and then, and sometimes another one before the last has ended.
func (s *storm) tick(machine string, random *rand.Rand, over <-chan struct{}) {
	for {
		for s.isAway(machine) {
			time.Sleep(100 * time.Millisecond)
		}
		done, err := s.start(machine)
		if err != nil {
			s.fault(err)
			return
		}
		patience := longest
		if random.IntN(4) == 0 {
			patience = time.Duration(random.IntN(400)) * time.Millisecond
		}
		select {
		case <-done:
		case <-time.After(patience):
			if patience == longest {
				s.fault(fmt.Errorf("a pass of machine %s hung for %s", machine, longest))
			}
		case <-over:
			return
		}
		select {
		case <-time.After(time.Duration(random.IntN(700)) * time.Millisecond):
		case <-over:
			return
		}
	}
}

func (s *storm) fault(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trouble = append(s.trouble, err)
}

// signal sends a signal to the passes of a machine, and tells how many there were.
func (s *storm) signal(machine string, sig syscall.Signal) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.passes[machine] {
		_ = c.Process.Signal(sig)
	}
	return len(s.passes[machine])
}

// gust is one kind of fault.
type gust struct {
	name  string
	times int
	blow  func(s *storm, machine string, random *rand.Rand) error
}

// wait is some time.
func wait(random *rand.Rand, most time.Duration) {
	time.Sleep(time.Duration(random.Int64N(int64(most))))
}

// backends ends connections of the program, some or all.
func (s *storm) backends(which string) error {
	return s.fleet.server.run(s.fleet.name, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND usename = '`+programUser+`'`+which)
}

// agePace makes what was written an hour old. People and machines do here in an hour what takes them weeks, and
// passes write no more than GitHub takes from an account in an hour.
func (s *storm) agePace() error {
	s.started.Lock()
	defer s.started.Unlock()
	return errors.Join(
		s.fleet.server.run(s.fleet.name, `UPDATE actions SET sent_at = sent_at - 3600000 WHERE id IN (SELECT id FROM actions WHERE state = 'applied' AND sent_at > 0 FOR UPDATE SKIP LOCKED)`),
		s.fleet.server.run(s.fleet.name, `UPDATE turns SET not_before = 0 WHERE id IN (SELECT id FROM turns WHERE wait_reason LIKE '%"`+string(work.WhyPace)+`"%' FOR UPDATE SKIP LOCKED)`),
	)
}

var gusts = []gust{
	{"an hour's writes are over", 2, func(s *storm, _ string, _ *rand.Rand) error { return s.agePace() }},
	{"kill -9", 6, func(s *storm, m string, _ *rand.Rand) error { s.signal(m, syscall.SIGKILL); return nil }},
	{"stopped for a while", 2, func(s *storm, m string, r *rand.Rand) error {
		s.signal(m, syscall.SIGSTOP)
		wait(r, 5*time.Second)
		s.wake(m)
		return nil
	}},
	{"stopped past the session's end", 3, func(s *storm, m string, r *rand.Rand) error {
		s.signal(m, syscall.SIGSTOP)
		s.fleet.proxies[m].Cut()
		wait(r, 5*time.Second)
		s.wake(m)
		return nil
	}},
	{"a connection ended by the server", 4, func(s *storm, _ string, _ *rand.Rand) error { return s.backends(` ORDER BY random() LIMIT 1`) }},
	{"all connections ended by the server", 1, func(s *storm, _ string, _ *rand.Rand) error { return s.backends(``) }},
	{"server killed and started", 1, func(s *storm, _ string, _ *rand.Rand) error {
		s.fleet.forgetLook()
		return errors.Join(s.fleet.server.kill(), s.fleet.server.start())
	}},
	{"connections of a machine cut", 4, func(s *storm, m string, _ *rand.Rand) error { s.fleet.proxies[m].Cut(); return nil }},
	{"connections of a machine frozen", 2, func(s *storm, m string, r *rand.Rand) error {
		s.fleet.proxies[m].Freeze()
		wait(r, 4*time.Second)
		s.wake(m)
		return nil
	}},
	{"20 ms to the database", 2, func(s *storm, m string, r *rand.Rand) error {
		s.fleet.proxies[m].Delay(10 * time.Millisecond)
		wait(r, 4*time.Second)
		s.fleet.proxies[m].Delay(0)
		return nil
	}},
	{"GitHub's answer lost", 6, func(s *storm, _ string, _ *rand.Rand) error {
		f := githubsim.LoseAnswer()
		f.Method = "WRITE"
		s.hub.AddFault(f)
		return nil
	}},
	{"a request lost", 2, func(s *storm, _ string, _ *rand.Rand) error { s.hub.AddFault(githubsim.LoseRequest()); return nil }},
	{"502 of GitHub", 2, func(s *storm, _ string, r *rand.Rand) error {
		s.hub.AddFault(githubsim.Fault{Status: http.StatusBadGateway, Method: "WRITE", Applied: r.IntN(2) == 0})
		return nil
	}},
}

// strikes has faults strike, some at the same time, until it is over.
func (s *storm) strikes(random *rand.Rand, over <-chan struct{}) {
	var all []gust
	for _, g := range gusts {
		for range g.times {
			all = append(all, g)
		}
	}
	var blowing sync.WaitGroup
	defer blowing.Wait()
	for {
		select {
		case <-over:
			return
		case <-time.After(time.Duration(random.IntN(2500)) * time.Millisecond):
		}
		g, m := all[random.IntN(len(all))], s.machines()[random.IntN(len(s.machines()))]
		own := rand.New(rand.NewPCG(random.Uint64(), 0))
		s.mu.Lock()
		away := s.away[m]
		if !away {
			s.struck[g.name]++
		}
		s.mu.Unlock()
		if away {
			continue
		}
		blowing.Go(func() {
			if strings.Contains(g.name, "server") {
				s.started.Lock()
				defer s.started.Unlock()
			}
			if err := g.blow(s, m, own); err != nil {
				s.fault(fmt.Errorf("%s: %w", g.name, err))
			}
		})
	}
}

// letAllEnd waits until no pass runs.
func (s *storm) letAllEnd() {
	for end := time.Now().Add(longest); ; time.Sleep(10 * time.Millisecond) {
		s.mu.Lock()
		n := 0
		for _, some := range s.passes {
			n += len(some)
		}
		s.mu.Unlock()
		if n == 0 || time.Now().After(end) {
			return
		}
	}
}

// passOn makes a pass on a machine, and waits for it.
func (s *storm) passOn(machine string) (code int, err error) {
	s.mu.Lock()
	was := maps.Clone(s.codes)
	s.mu.Unlock()
	done, err := s.start(machine)
	if err != nil {
		return 0, err
	}
	select {
	case <-done:
	case <-time.After(longest):
		return 0, fmt.Errorf("a pass of machine %s hung for %s", machine, longest)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c, n := range s.codes {
		if n > was[c] && c != 0 {
			return c, nil
		}
	}
	return 0, nil
}

// calmRounds is how many passes each machine may make until nothing happens any more.
const calmRounds = 30

// quiet has the machines make passes in turn until each made two in which nothing happens.
func (s *storm) quiet() error {
	idle := 0
	for round := range calmRounds {
		was := s.rig.counts()
		if err := s.agePace(); err != nil {
			return err
		}
		for _, m := range s.machines() {
			if code, err := s.passOn(m); err != nil || code != 0 && round > 2 {
				return fmt.Errorf("a pass of machine %s to which nothing happens ended with %d: %w\n%s", m, code, err, lastLines(s.said()))
			}
		}
		if idle++; s.rig.counts().writes != was.writes || s.rig.counts().agents != was.agents {
			idle = 0
		}
		if idle == 2 {
			return nil
		}
	}
	l, _ := s.ledger()
	return fmt.Errorf("not quiet after %d passes of each machine:\n%s", calmRounds, l.text)
}

func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

// conclude lets everything settle, lets people answer what is blocked, and looks at everything.
func (s *storm) conclude() error {
	for _, p := range s.fleet.proxies {
		p.Delay(0)
	}
	for _, m := range s.machines() {
		if err := s.comeBack(m); err != nil {
			return err
		}
	}
	s.hub.ClearFaults()
	s.letAllEnd()
	err := errors.Join(append(s.trouble, s.leaveNothingTo(renamed))...)
	upsets := 0
	for _, n := range s.struck {
		upsets += n
	}
	if err := errors.Join(err, s.quiet()); err != nil {
		return err
	}
	for _, l := range s.lives {
		l.upsets = upsets
		if err := errors.Join(l.giveBack(), l.remind(), l.encourage()); err != nil {
			return fmt.Errorf("%s: %w", l.repo.FullName(), err)
		}
	}
	if err := s.quiet(); err != nil {
		return err
	}
	err = errors.Join(s.takenOver(), s.forgetFormer())
	for _, l := range s.lives {
		if wrong := errors.Join(l.owed(), l.obeyed(), l.shown(), l.once(), l.theirs(), l.wanted()); wrong != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", l.repo.FullName(), wrong))
		}
	}
	return errors.Join(err, s.budget())
}

// budget: what is left of a day's turns is the fleet's, however many machines take it at once.
func (s *storm) budget() error {
	tries := func() (int, error) {
		found, err := s.lives[0].rows(`SELECT count(*) FROM runs WHERE attempt > 0`) // a turn that was tried again counts again
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(found[0])
	}
	had, err := tries()
	if err != nil {
		return err
	}
	const more = 3
	s.scenario.budget = had + more
	if err := s.configure(); err != nil {
		return err
	}
	for _, l := range s.lives {
		for range more {
			if _, err := l.repo.OpenIssue("ann", l.text("Over budget"), "Please.", "agent:small-job"); err != nil {
				return err
			}
		}
	}
	for range 4 {
		var all sync.WaitGroup
		for _, m := range s.machines() {
			done, err := s.start(m)
			if err != nil {
				return err
			}
			all.Go(func() { <-done })
		}
		all.Wait()
	}
	now, err := tries()
	if err == nil && now != had+more {
		err = fmt.Errorf("%d turns were left for the day, and the machines went from %d to %d", more, had, now)
	}
	return err
}

// table is what happened.
func (s *storm) table() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.struck)) {
		fmt.Fprintf(&b, "  %-40s %5d\n", name, s.struck[name])
	}
	for _, m := range slices.Sorted(maps.Keys(s.ended)) {
		fmt.Fprintf(&b, "  passes of machine %-22s %5d\n", m, s.ended[m])
	}
	for _, c := range slices.Sorted(maps.Keys(s.codes)) {
		fmt.Fprintf(&b, "  passes that ended with %-17d %5d\n", c, s.codes[c])
	}
	pulls, said, commands := 0, 0, 0
	for _, l := range s.lives {
		pulls, said, commands = pulls+len(l.repo.Pulls()), said+len(l.said), commands+len(l.given)
	}
	paid, twice := map[string]int{}, 0
	s.rig.mu.Lock()
	for _, r := range s.rig.runs {
		if paid[r.turn]++; paid[r.turn] > 1 {
			twice++
		}
	}
	for _, line := range []struct {
		what string
		n    int
	}{{"pull requests", pulls}, {"comments and reviews of people", said}, {"commands of people", commands}, {"requests to GitHub", s.rig.requests}, {"turns with an agent", len(paid)}, {"runs of agents beyond the first", twice}} {
		fmt.Fprintf(&b, "  %-40s %5d\n", line.what, line.n)
	}
	s.rig.mu.Unlock()
	if on, err := s.lives[0].rows(`SELECT machine || ': ' || count(*) FROM turns GROUP BY machine ORDER BY machine`); err == nil {
		fmt.Fprintf(&b, "  turns by the machine that claimed them: %s\n", strings.Join(on, ", "))
	}
	return b.String()
}
