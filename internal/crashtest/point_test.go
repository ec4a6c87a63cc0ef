//go:build unix

package crashtest

import (
	"fmt"
	"strings"
)

// place is what is counted on the way to a point.
type place string

const (
	atRequest   place = "request"    // to GitHub
	atWrite     place = "write"      // a request that changes something
	atGit       place = "git"        // a call of git
	atGitChange place = "git-change" // one that changes something
	atAgent     place = "agent"      // a start of the agent
	atTime      place = "ms"         // milliseconds after the pass began
)

// moment is when at that place it strikes.
type moment string

const (
	before moment = "before" // it has no effect
	after  moment = "after"  // it has had its effect, and nobody was told
)

// deed is what strikes there.
type deed string

const (
	actKill   deed = "kill"   // SIGKILL to the pass
	actLose   deed = "lose"   // the connection is closed instead of an answer
	actRefuse deed = "refuse" // 502
	actLag    deed = "lag"    // like lose, and lists do not show at first what was made
	actCrowd  deed = "crowd"  // n passes at once, and nothing strikes
	actMeet   deed = "meet"   // other passes are made while the agent works
)

// point is one thing that happens to a scenario.
type point struct {
	act  deed
	at   place
	n    int
	when moment
	// gone is what is deleted while no pass lives: state.db, or the whole state
	// folder (".").
	gone string
	lag  bool   // lists do not show at first what was made before the kill
	then *point // strikes in a later pass
}

func (p point) String() string {
	s := fmt.Sprintf("%s-%s-%d-%s", p.act, p.at, p.n, p.when)
	if p.act == actCrowd {
		s = fmt.Sprintf("crowd-%d", p.n)
	}
	switch p.gone {
	case "":
	case ".":
		s += "-state-gone"
	default:
		s += "-database-gone"
	}
	if p.lag {
		s += "-lag"
	}
	if p.then != nil {
		s += "-" + p.then.String()
	}
	return s
}

// kinds of points, each a line of its own in the table.
const (
	kindKill     = "kill"
	kindLost     = "answer lost, lag, 502"
	kindDatabase = "kill, database deleted"
	kindState    = "kill, state deleted"
	kindTwice    = "two kills"
	kindTime     = "kill at some ms"
	kindCrowd    = "20 passes at once"
	kindMeet     = "passes during the turn"
)

func (p point) kind() string {
	switch {
	case p.act == actCrowd:
		return kindCrowd
	case p.act == actMeet:
		return kindMeet
	case p.act != actKill || p.lag:
		return kindLost
	case p.gone == ".":
		return kindState
	case p.gone != "":
		return kindDatabase
	case p.then != nil:
		return kindTwice
	case p.at == atTime:
		return kindTime
	}
	return kindKill
}

// kills are the places where one pass can die. Each request and each call of
// git is one place before and one after it; what reads only leaves the world
// the same, so dying after it is dying before it and is not run again.
func kills(c counts) (points []point, enumerated int) {
	add := func(at place, when moment, n int) {
		for k := range n {
			points = append(points, point{act: actKill, at: at, n: k + 1, when: when})
		}
	}
	add(atRequest, before, c.requests)
	add(atWrite, after, c.writes)
	add(atGit, before, c.git)
	add(atGitChange, after, c.gitChanges)
	add(atAgent, before, c.agents)
	add(atAgent, after, c.agents)
	return points, 2 * (c.requests + c.git + c.agents)
}

// faults are lost answers and refusals in place of kills, and kills after which
// lists lag.
func faults(c counts) (points []point) {
	for k := range c.writes {
		points = append(points, point{act: actKill, at: atWrite, n: k + 1, when: after, lag: true})
		for _, act := range []deed{actLose, actLag, actRefuse} {
			points = append(points, point{act: act, at: atWrite, n: k + 1, when: after})
		}
	}
	for k := range c.requests {
		points = append(points, point{act: actRefuse, at: atRequest, n: k + 1, when: before})
	}
	return points
}

// overlaps are passes that are made while the agent works. Passes that start at
// once do not get that far: all but one find tick.lock taken, and end.
func overlaps(c counts) (points []point) {
	for k := range c.agents {
		points = append(points, point{act: actMeet, at: atAgent, n: k + 1, when: before})
	}
	return points
}

// losses are kills after which a part of the state is gone.
func losses(c counts, gone string) []point {
	points, _ := kills(c)
	for i := range points {
		points[i].gone = gone
	}
	return points
}

// slug makes a word of a name for `go test -run`.
func slug(s string) string { return strings.ReplaceAll(s, " ", "-") }
