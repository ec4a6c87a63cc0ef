package work

import "strings"

// RepoKey identifies a repository permanently: its host and node id. A name does not, because
// another repository can take it, and it may exist on two hosts.
type RepoKey string

// Key returns the repository's key. Until GitHub has reported the node id, it is the name.
func (r Repo) Key() RepoKey {
	if r.NodeID == "" {
		return RepoKey(strings.ToLower(r.Name.String()))
	}
	return RepoKey(strings.ToLower(r.Name.Host) + " " + r.NodeID)
}

// Folder returns the key as part of a path. It is readable, and works on file systems that ignore
// case and allow only simple characters.
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

// longestFolder is how much of a node id a folder's name shows, because some systems limit paths.
const longestFolder = 40
