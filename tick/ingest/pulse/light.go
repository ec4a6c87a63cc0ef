package pulse

import (
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// fresh is how long a pull request is asked about whenever its repository is read after it
// changed.
const fresh = time.Hour

// hiddenEvery is the time between two light queries about a quiet pull request of a repository
// of which GitHub does not say whether it changed: its lists do, and may lag.
const hiddenEvery = 5 * time.Minute

// Lively reports whether a pull request is asked about whenever its repository is read: it
// changed lately, was not read whole, or waits for something that changes no stamp.
func Lively(p store.OpenPull, now time.Time) bool {
	switch {
	case p.DetailsAt.IsZero(), p.Failures > 0, p.Fingerprint == "", p.Pending:
		return true
	}
	return now.Sub(p.UpdatedAt) < fresh
}

// Look is how one of many repositories is read.
type Look struct {
	*Reader               // asks about its pull requests, together with others
	Shown   Shown         // by the pulse
	Why     Why           // it is read
	Every   time.Duration // between two light queries about a quiet pull request
	Told    bool          // people know that GitHub does not say whether it changed
	Old     []string      // node ids of the pull requests whose details are read once more
}

// Asks reports whether a pull request of the repository is asked about now. Where nobody
// knows what was read last, each is.
func (l *Look) Asks(r work.Repo, p store.OpenPull, now time.Time) bool {
	switch {
	case Lively(p, now), !l.Shown.Asked && !l.Shown.Known:
		return true
	case !l.Shown.Known: // in none of its reads: all of its pull requests would be asked about each time
		return Turn(p.NodeID, r.HeartbeatAt, now, min(l.Every, hiddenEvery))
	case r.Pulse.Issues.IsZero() && r.Pulse.Pulls.IsZero():
		return true
	}
	return Turn(p.NodeID, r.HeartbeatAt, now, l.Every)
}

// Pulse is what is stored of a repository that was read now: what it showed before. A stamp
// counts only for what was read in full; else the next pass reads it again.
func (l *Look) Pulse(before work.Pulse, whole bool, now time.Time) work.Pulse {
	p := work.Pulse{At: before.At, Changed: before.Changed}
	if whole && l.Shown.Known {
		p.Issues, p.Pulls = l.Shown.Issues, l.Shown.Pulls
	} else if !l.Shown.Known && whole { // not asked in this pass: what was shown before still counts
		p.Issues, p.Pulls = before.Issues, before.Pulls
	}
	switch first := before.Issues.IsZero() && before.Pulls.IsZero(); {
	case !l.Shown.Moved(before):
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
