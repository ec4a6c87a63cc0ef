package work

import "time"

// Share is what this machine knows of who works on a repository, where several machines
// share the repositories.
type Share struct {
	Shard  string    // by which share it was judged, such as 1/2
	Theirs bool      // it belongs to another machine's share
	OID    string    // where the remote's ref is while this machine holds the repository; empty: it does not
	Since  time.Time // from when on it has held it
	Until  time.Time // until when nobody else may take it
}

// Held reports whether this machine holds the repository, as far as it knows.
func (s Share) Held() bool { return s.OID != "" }
