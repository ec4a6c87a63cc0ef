package work

import "time"

// Share is what this machine knows of who works on a repository, where several machines
// share the repositories.
type Share struct {
	Shard  string    // by which share it was judged, such as 1/2
	Theirs bool      // it belongs to another machine's share
	OID    string    // where the remote's ref is while this machine holds the repository; empty: it does not
	Since  time.Time // from when on it has held it
	Until  time.Time // until when nobody else may take it; where another machine has it, that one's, as it was last seen
}

// Held reports whether this machine holds the repository, as far as it knows.
func (s Share) Held() bool { return s.OID != "" }

// HeldUntil is until when no other machine works on it; zero: this one does not hold it.
func (s Share) HeldUntil() time.Time {
	if s.Held() {
		return s.Until
	}
	return time.Time{}
}

// Elsewhere reports whether it belongs to this machine's share, and another machine had it when
// this one asked last.
func (s Share) Elsewhere() bool { return s.Shard != "" && !s.Theirs && !s.Held() }

// Reason is that it is elsewhere.
func (s Share) Reason(repo string, now time.Time) Reason {
	why := Reason{Kind: WhyRepoHeld, Name: repo, Text: s.Shard}
	if s.Until.After(now) {
		why.At = s.Until.UnixMilli()
	}
	return why
}
