package work

import "time"

// Outage is an agent whose provider is out: since its first run that had to wait for it, no run was
// answered.
type Outage struct {
	Agent string    // name in the config
	Since time.Time // when the first of these runs ended
	Tried time.Time // when the last one ended
	Until time.Time // until when the last one waits
}

// OutageForgotten is how long after its last run an outage counts as over: nobody knows what was in
// between.
const OutageForgotten = 24 * time.Hour

// Again returns when the agent is tried again although another one works in its place: once its last
// run has stopped waiting, and at most every after.
func (o Outage) Again(after time.Duration) time.Time {
	again := o.Tried.Add(after)
	if o.Until.After(again) {
		return o.Until
	}
	return again
}

// Takes reports whether another agent takes over: the outage has lasted for after, and the agent is
// not to be tried again yet.
func (o Outage) Takes(now time.Time, after time.Duration) bool {
	return !o.Since.IsZero() && !o.Since.Add(after).After(now) && o.Again(after).After(now) && !Future(o.Tried, now)
}
