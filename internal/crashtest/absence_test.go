//go:build unix

package crashtest

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// In each storm one machine is stopped, another one is cut off from the database, both for longer than the server keeps
// a silent session and a repository is left to a machine, and a third one gets another name. None of what they had under
// way stays with them, and what they do when they are back is refused: that is looked at when the storm is over.

// The machines to which it happens.
const (
	sleeper = "b"
	cutOff  = "c"
	renamed = "e"
)

// longestAway bounds how long a machine is away: what the program does after five minutes is brought about sooner.
const longestAway = 3 * time.Minute

// nameOf returns the name of a machine in its config.
func (w *world) nameOf(machine string) string {
	if machine == renamed && w.otherName.Load() {
		return machine + "2"
	}
	return machine
}

// leftTurn is a turn that a machine had under way.
type leftTurn struct{ machine, id, epoch string }

// isAway reports whether a machine is stopped or cut off, and makes no passes.
func (s *storm) isAway(machine string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.away[machine]
}

// wake has a machine continue, unless it is away for longer.
func (s *storm) wake(machine string) {
	if !s.isAway(machine) {
		s.fleet.proxies[machine].Thaw()
		s.signal(machine, syscall.SIGCONT)
	}
}

// absences has the machines go away and come back, and gives one another name, while the storm lasts.
func (s *storm) absences(long time.Duration, over <-chan struct{}) {
	part := min(long/6, longestAway/2)
	for _, step := range []func() error{
		func() error { return s.leave(sleeper, part/2, func() { s.signal(sleeper, syscall.SIGSTOP) }) },
		func() error { return s.leave(cutOff, part/2, s.fleet.proxies[cutOff].Freeze) },
		func() error { return s.comeBack(sleeper) },
		func() error { return s.comeBack(cutOff) },
		s.rename,
	} {
		select {
		case <-time.After(part):
		case <-over:
		}
		if err := step(); err != nil {
			s.fault(err)
		}
	}
}

// leave has a machine go away, if possible while it has a turn under way. Then five minutes have passed for the others:
// the server has ended its sessions, and its repositories are not left to it any more.
func (s *storm) leave(machine string, patience time.Duration, how func()) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if turns, err := s.underWay(machine); err == nil && len(turns) > 0 {
			break
		}
	}
	s.mu.Lock()
	s.away[machine] = true
	s.mu.Unlock()
	how()
	turns, err := s.underWay(machine)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.left = append(s.left, turns...)
	s.struck["machine "+machine+" is away"]++
	s.mu.Unlock()
	s.fleet.proxies[machine].EndSessions()
	return s.leaveNothingTo(machine)
}

// leaveNothingTo has five minutes pass in which repositories were left to a machine.
func (s *storm) leaveNothingTo(machine string) error {
	s.started.Lock()
	defer s.started.Unlock()
	return s.fleet.server.run(s.fleet.name, `UPDATE repositories SET served_at = served_at - 300000 WHERE machine = '`+machine+`'`)
}

// comeBack ends that.
func (s *storm) comeBack(machine string) error {
	s.mu.Lock()
	s.away[machine] = false
	s.mu.Unlock()
	s.wake(machine)
	return nil
}

// rename gives a machine another name, also while it has a turn under way.
func (s *storm) rename() error {
	turns, err := s.underWay(renamed)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = append(s.left, turns...)
	s.struck["machine "+renamed+" is renamed"]++
	s.otherName.Store(true)
	return s.configure()
}

// underWay returns the turns that a machine has claimed and that have not ended.
func (s *storm) underWay(machine string) (turns []leftTurn, err error) {
	s.started.Lock()
	defer s.started.Unlock()
	found, err := s.fleet.server.ask(s.fleet.name, `SELECT coalesce(string_agg(id || '/' || epoch, ' '), '') FROM turns
		WHERE machine = '`+machine+`' AND step NOT IN ('done', 'superseded', 'failed', 'cancelled')`)
	for one := range strings.FieldsSeq(found) {
		id, epoch, _ := strings.Cut(one, "/")
		turns = append(turns, leftTurn{machine, id, epoch})
	}
	return turns, err
}

// takenOver: no turn is still the one of a pass that was away, or whose machine lost its name.
func (s *storm) takenOver() (err error) {
	fmt.Printf("%d unfinished turns of machines that were stopped, cut off or renamed\n", len(s.left))
	for _, t := range s.left {
		turns, readErr := s.underWay(t.machine)
		err = errors.Join(err, readErr)
		for _, now := range turns {
			if now == t {
				err = errors.Join(err, fmt.Errorf("turn %s is still that of machine %s, which was away", t.id, t.machine))
			}
		}
	}
	return err
}

// forgetFormer: the former name of the renamed machine can be forgotten, and passes make nothing of that.
func (s *storm) forgetFormer() error {
	if !s.otherName.Load() {
		return errors.New("no machine was renamed")
	}
	s.on(renamed)
	c := exec.Command(s.programs.mergexo, "machines", "forget", renamed)
	c.Dir, c.Env = s.path("home"), s.environ()
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("machines forget %s: %w\n%s", renamed, err, out)
	}
	names, err := s.fleet.server.ask(s.fleet.name, `SELECT string_agg(name, ' ' ORDER BY name) FROM machines`)
	if err == nil && names != "a b c d "+renamed+"2" {
		err = fmt.Errorf("the machines are %s", names)
	}
	return errors.Join(err, s.quiet())
}
