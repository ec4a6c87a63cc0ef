package ingest

import (
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// fresh is how long after its change a pull request is asked about at each read of its repository.
const fresh = time.Hour

// changesOften reports whether a pull request is asked about at each read of its repository: it
// changed recently, was not read whole, or waits for something that changes no stamp.
func changesOften(p store.OpenPull, now time.Time) bool {
	switch {
	case p.ReadAt.IsZero(), p.Failures > 0, p.Fingerprint == "", p.Pending:
		return true
	}
	return now.Sub(p.UpdatedAt) < fresh
}

// PulseLook is how one of many repositories is read in this pass.
type PulseLook struct {
	*PulseReader               // asks about its pull requests together with others
	Shown        PulseShown    // by the pulse
	Why          ReadReason    // why it is read
	Every        time.Duration // between two light queries about a quiet pull request
	Old          []string      // node ids of the pull requests whose details are read again
}

// IncludesPull reports whether a pull request is asked about now. If no earlier stamps are stored,
// all are.
func (l *PulseLook) IncludesPull(r work.Repo, p store.OpenPull, now time.Time) bool {
	switch {
	case changesOften(p, now), !l.Shown.Asked:
		return true
	case r.Pulse.Issues.IsZero() && r.Pulse.Pulls.IsZero():
		return true
	}
	return isDue(p.NodeID, r.HeartbeatAt, now, l.Every)
}

// Pulse returns what to store for a repository that was just read. Stamps are stored only if it was
// read whole; otherwise the next pass reads it again.
func (l *PulseLook) Pulse(before work.Pulse, whole bool, now time.Time) work.Pulse {
	p := work.Pulse{At: before.At, Changed: before.Changed}
	if whole && l.Shown.Asked {
		p.Issues, p.Pulls = l.Shown.Issues, l.Shown.Pulls
	} else if whole { // no answer in this pass: the earlier stamps still count
		p.Issues, p.Pulls = before.Issues, before.Pulls
	}
	switch first := before.Issues.IsZero() && before.Pulls.IsZero(); {
	case !l.Shown.moved(before):
	case first && p.Changed.IsZero():
		p.Changed = l.Shown.Issues
		if l.Shown.Pulls.After(p.Changed) {
			p.Changed = l.Shown.Pulls
		}
	default:
		p.Changed = now
	}
	return p
}
