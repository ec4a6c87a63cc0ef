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
	Stored bool      // the database knows of it: a pass asks before it takes the repository, also one that takes all
	Comes  bool      // only for people who ask: the last pass left it to another machine, and the next one asks for it
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
func (s Share) Elsewhere() bool {
	return (s.Stored || s.Shard != "") && !s.Theirs && !s.Comes && !s.Held()
}

// Left reports whether it is another machine's, as far as it is decided by shares: nothing is
// due here, and what is known here of it grows old.
func (s Share) Left() bool { return s.Theirs || s.Comes }

// Reason is that it is elsewhere, or another machine's.
func (s Share) Reason(repo string, now time.Time) Reason {
	switch {
	case s.Comes:
		return Reason{Kind: WhyRepoTheirs, Name: repo}
	case s.Theirs:
		return Reason{Kind: WhyRepoTheirs, Name: repo, Text: s.Shard}
	}
	why := Reason{Kind: WhyRepoHeld, Name: repo, Text: s.Shard}
	if s.Until.After(now) {
		why.At = s.Until.UnixMilli()
	}
	return why
}
