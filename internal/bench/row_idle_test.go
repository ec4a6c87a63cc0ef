//go:build unix

package bench

import (
	"os"
	"testing"
	"time"
)

// idle is what was measured of an idle pass, side by side in time with other programs, so
// that a busy moment strikes all alike.
type idle struct {
	asked counts
	runs  map[rival][]reading
}

// rival is a program that an idle pass is compared with.
type rival string

const (
	thePass     rival = "pass"
	ghUser      rival = "gh api user"
	bareProgram rival = "bare"     // sends the same requests, and does nothing else
	launcher    rival = "launcher" // the same pass
)

func (l *lab) measureIdle(t *testing.T, w *world, rivals ...rival) idle {
	t.Helper()
	return l.measureIdleTick(t, w, func() reading { return l.pass(t, w) }, rivals...)
}

// measureIdleTick is measureIdle for a pass of another command line. The first one is what the
// others repeat: its requests are counted, and those that the bare program sends.
func (l *lab) measureIdleTick(t *testing.T, w *world, pass func() reading, rivals ...rival) idle {
	t.Helper()
	progress("%d × %d pull requests are there; %d runs beside each other", w.repos, w.pulls, l.runs)
	m := idle{asked: w.countOf(t, func() { pass() }), runs: map[rival][]reading{}}
	seen := record(t, w.hub.Requests())
	commands := map[rival]func() reading{
		thePass:     pass,
		ghUser:      func() reading { return l.ghUser(t, w) },
		bareProgram: func() reading { return w.bare(t, l.bare(), seen) },
		launcher:    func() reading { return w.measure(t, os.Getenv("PATH"), l.launcher(), "tick") },
	}
	for range l.runs {
		w.hub.ResetLog()
		for _, r := range append([]rival{thePass}, rivals...) {
			m.runs[r] = append(m.runs[r], commands[r]())
		}
	}
	return m
}

func (m idle) requests() figure { return count("requests", total(m.asked)) }
func (m idle) points() figure   { return count("GraphQL points", m.asked.points) }
func (m idle) memory() figure   { return megabytes("peak memory", median(m.runs[thePass], peak)) }

// of gives wall and CPU of a program.
func (m idle) of(r rival, prefix string) (figure, figure) {
	return milliseconds(prefix+"wall", median(m.runs[r], wall)), milliseconds(prefix+"CPU", median(m.runs[r], used))
}

// beside is how much a program takes of what another one does.
func (m idle) beside(what string, part, whole rival, field func(reading) time.Duration) figure {
	return ratio(what, median(m.runs[part], field), median(m.runs[whole], field))
}

func measureIdleFew(t *testing.T, l *lab) []figure {
	w := newWorld(t, l.program(), 10)
	w.checkIdle(t)
	m := l.measureIdle(t, w, ghUser, launcher)
	passWall, passCPU := m.of(thePass, "")
	ghWall, ghCPU := m.of(ghUser, "gh api user: ")
	return []figure{
		m.requests(), m.points(), count("GraphQL points of a pass with rotation", w.checkRotation(t).points),
		passWall, passCPU, ghWall, ghCPU,
		m.beside("wall / gh api user", thePass, ghUser, wall).atMost(0.5),
		m.beside("wall of the launcher / gh api user", launcher, ghUser, wall).atMost(1),
		m.beside("CPU / gh api user", thePass, ghUser, used).keep().atMost(0.35),
		m.memory().atMost(60),
	}
}

func measureIdleMany(t *testing.T, l *lab) []figure {
	w := newWorld(t, l.program(), 1000)
	w.checkIdle(t)
	m := l.measureIdle(t, w, bareProgram, ghUser)
	return m.besideBare(m.requests(), 35, m.beside("wall / bare", thePass, bareProgram, wall).atMost(1.3))
}

func measureIdleRepos(t *testing.T, l *lab) []figure {
	w := newManyWorldOf(t, l.program(), shape{repos: 50, pulls: 10})
	// The runs follow each other within min_interval: --now asks each
	// time.
	now := func() reading { return w.measure(t, "/nonexistent", l.binary(), "tick", "--now") }
	m := l.measureIdleTick(t, w, now, bareProgram, ghUser)
	if total(m.asked) == 0 {
		t.Fatal("a pass that was to be measured asked nothing")
	}
	return m.besideBare(m.requests().atMost(12), 60, m.beside("wall / bare", thePass, bareProgram, wall))
}

// besideBare is what a pass takes of what sending its requests takes. The goal is that of its
// CPU in milliseconds.
func (m idle) besideBare(requests figure, cpu float64, beside figure) []figure {
	passWall, passCPU := m.of(thePass, "")
	bareWall, bareCPU := m.of(bareProgram, "bare: ")
	return []figure{
		requests, m.points(), passWall, passCPU.atMost(cpu), bareWall, bareCPU,
		beside,
		m.beside("CPU / bare", thePass, bareProgram, used).keep(),
		m.beside("CPU / gh api user", thePass, ghUser, used).keep(),
		m.memory().atMost(60),
	}
}

// measureVersion is about starting: the program does nothing.
func measureVersion(t *testing.T, l *lab) []figure {
	w := newEmptyWorld(t, l.program(), shape{repos: 1})
	var version, gh []reading
	for range 2 * l.runs {
		version = append(version, w.measure(t, "/nonexistent", l.binary(), "version"))
		gh = append(gh, l.ghUser(t, w))
	}
	return []figure{
		milliseconds("wall", median(version, wall)).atMost(5), milliseconds("CPU", median(version, used)),
		ratio("wall / gh api user", median(version, wall), median(gh, wall)),
		ratio("CPU / gh api user", median(version, used), median(gh, used)).keep().atMost(0.15),
		megabytes("peak memory", median(version, peak)),
	}
}
