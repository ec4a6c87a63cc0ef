package work

import (
	"fmt"
	"time"
)

// LastPass summarizes the passes that have ended. It is kept in a file of the state folder, because
// a pass that cannot open the database fails, too.
type LastPass struct {
	At       time.Time     `json:"at"`       // when the last pass ended, well or not
	GoodAt   time.Time     `json:"goodAt"`   // when the last PassOK ended; zero: none did
	BadSince time.Time     `json:"badSince"` // when the first one since then ended that failed or waited; zero: none did
	Took     time.Duration `json:"took"`     // duration of the last one with an outcome
	Failures int           `json:"failures"` // how many failed in a row; waiting passes neither count nor reset it
	Why      string        `json:"why"`      // why the last of these failed
	By       FailedBy      `json:"by"`       // what says so, too
}

// FailedBy is what else says why a pass failed, so that it need not be said twice.
type FailedBy string

// What says why a pass failed.
const (
	FailedByRepos    FailedBy = "repositories" // their rows
	FailedByLogin    FailedBy = "login"        // their rows: all of them wait for gh's login
	FailedByDatabase FailedBy = "database"     // the database, which is damaged, or cannot be reached
	FailedByAgent    FailedBy = "agent"        // the machine, which lacks the program of an agent
)

// After returns the summary after another pass.
func (l LastPass) After(outcome PassOutcome, at time.Time, took time.Duration, why string, by FailedBy) LastPass {
	l.At = at
	if outcome == PassNone {
		return l
	}
	l.Took = took
	if l.BadSince.IsZero() && (outcome == PassFailed || outcome == PassWaiting) {
		l.BadSince = at
	}
	switch outcome {
	case PassOK:
		l.GoodAt, l.BadSince, l.Failures, l.Why, l.By = at, time.Time{}, 0, "", ""
	case PassFailed:
		l.Failures++
		l.Why, l.By = why, by
	case PassNone, PassWaiting, PassCancelled:
	}
	return l
}

// Died returns the summary after passes that began and never ended. Each of them failed.
func (l LastPass) Died(all []Beginning) LastPass {
	for _, b := range all {
		at := l.At
		if b.At.After(at) {
			at = b.At
		}
		l = l.After(PassFailed, at, l.Took, b.Died(), "")
	}
	return l
}

// Beginning is a process that has begun something and not ended it: a pass, or planning.
type Beginning struct {
	PID     int       `json:"pid"`
	At      time.Time `json:"at"`
	Gone    bool      `json:"-"` // the process is gone, so that there will be no end
	Stopped bool      `json:"-"` // the process is stopped, as by kill -STOP or Ctrl-Z; only Linux shows it
}

// Died returns a text for a pass whose process is gone.
func (b Beginning) Died() string {
	return fmt.Sprintf("the pass that began at %s (process %d) did not end: it was killed, or it crashed", Stamp(b.At), b.PID)
}

// PassLimits are the longest times that healthy processes take.
type PassLimits struct {
	Plan time.Duration // holding tick.lock
	Pass time.Duration // a whole pass
}

// PassFacts is all that JudgePasses needs.
type PassFacts struct {
	Now      time.Time // by this machine's clock, like all times here
	Last     LastPass
	Begun    []Beginning // passes that have begun and not ended
	Planning *Beginning  // holds tick.lock for longer than it may; nil: nobody does
	Limits   PassLimits
	Every    time.Duration // how often a scheduler begins a pass; 0: unknown, or none does
	Since    time.Time     // since when it does
	Paused   bool          // everything on this machine is paused
}

// PassCode is whether passes work, for programs.
type PassCode string

// The answers to "do passes work?".
const (
	PassesWork    PassCode = "work"
	PassesNoneYet PassCode = "none_yet"
	PassesFail    PassCode = "failing" // the last ones failed, or were killed
	PassesLate    PassCode = "late"    // none has begun, or none has read anything, for too long
	PassesHang    PassCode = "hanging" // one takes longer than it may
)

// PassVerdict is the answer to "do passes work?".
type PassVerdict struct {
	Code    PassCode
	Says    string
	Do      string // what to type
	Lasting bool   // it needs a person: one failure may pass by itself
}

// Bad reports whether passes do not work.
func (v PassVerdict) Bad() bool { return v.Code != PassesWork && v.Code != PassesNoneYet }

// Line returns the verdict and what to type.
func (v PassVerdict) Line() string {
	if v.Do == "" {
		return v.Says
	}
	return v.Says + "; " + v.Do
}

// FailingPasses is how many passes must fail in a row before that needs a person.
const FailingPasses = 3

// JudgePasses answers "do passes work?". Everything that shows or tells whether they do asks it.
func JudgePasses(f PassFacts) PassVerdict {
	const resumes = "kill -9 %d; the next pass resumes its work"
	if h := f.Planning; h != nil {
		return PassVerdict{PassesHang, fmt.Sprintf("process %d holds locks/tick.lock since %s, longer than a pass may take: no pass can begin", h.PID, Stamp(h.At)), fmt.Sprintf(resumes, h.PID), true}
	}
	last, running := f.Last, false
	for _, b := range f.Begun {
		switch {
		case b.Gone:
			last = last.Died([]Beginning{b})
		case f.Limits.Pass > 0 && f.Now.Sub(b.At) > f.Limits.Pass:
			return PassVerdict{PassesHang, fmt.Sprintf("the pass of process %d has not ended since %s, longer than a pass may take", b.PID, Stamp(b.At)), fmt.Sprintf(resumes, b.PID), true}
		case b.Stopped:
			return PassVerdict{PassesHang, fmt.Sprintf("the pass of process %d, which began at %s, is stopped, as by kill -STOP or Ctrl-Z", b.PID, Stamp(b.At)), fmt.Sprintf("kill -CONT %d", b.PID), true}
		default:
			running = true
		}
	}
	if last.Failures > 0 {
		return PassVerdict{PassesFail, inARow(last.Failures) + ": " + last.Why, "gh mergexo tick --now", last.Failures >= FailingPasses}
	}
	slack := max(leastSlack, 3*f.Every)
	began := last.At
	if f.Since.After(began) {
		began = f.Since
	}
	switch {
	case f.Every > 0 && !f.Paused && !running && !began.IsZero() && f.Now.Sub(began) > slack:
		return PassVerdict{PassesLate, fmt.Sprintf("no pass has begun since %s, although one is due every %s", Stamp(began), IntervalText(f.Every)), "gh mergexo schedule status", true}
	case last.At.IsZero() && len(f.Begun) == 0:
		return PassVerdict{Code: PassesNoneYet, Says: "no pass has run yet", Do: "gh mergexo tick"}
	case !f.Paused && !last.BadSince.IsZero() && f.Now.Sub(last.BadSince) > LongestWait+slack:
		return PassVerdict{PassesLate, "passes wait, and none has read a repository since " + Stamp(last.BadSince), "gh mergexo tick --now", true}
	}
	return PassVerdict{Code: PassesWork, Says: "the last pass ended at " + Stamp(last.At)}
}

// leastSlack is how late a pass may be even with a short interval: the machine may have slept.
const leastSlack = 10 * time.Minute

func inARow(n int) string {
	if n == 1 {
		return "the last pass failed"
	}
	return fmt.Sprintf("the last %d passes failed", n)
}
