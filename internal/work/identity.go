package work

import "strings"

// RepoKey names a repository for good: its host and its node id there. A name may
// be given up and taken by another repository, and the same name may stand on two
// hosts; what must not be mixed up goes by the key.
type RepoKey string

// Key names the repository. Before GitHub has said who it is, only its name does.
func (r Repo) Key() RepoKey {
	if r.NodeID == "" {
		return RepoKey(strings.ToLower(r.Name.String()))
	}
	return RepoKey(strings.ToLower(r.Name.Host) + " " + r.NodeID)
}

// Folder is the key as part of a path: for people, and on file systems that take
// no signs but plain ones and make no difference between a and A.
func (r Repo) Folder() string {
	name := r.NodeID
	if name == "" {
		name = r.Name.Owner + "." + r.Name.Name
	}
	plain := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' {
			return c
		}
		return '-'
	}, name)
	return plain[:min(len(plain), longestFolder)] + "-" + digest("folder", string(r.Key()))[:8]
}

// longestFolder is how much of a node id a folder's name shows: paths are bounded
// on some systems.
const longestFolder = 40
