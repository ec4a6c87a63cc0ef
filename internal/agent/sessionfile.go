package agent

import (
	"path/filepath"
	"regexp"

	"github.com/mergexo/gh-mergexo/internal/files"
)

// maxEntries is how many directory entries a search for a session's file reads: the agent can write
// to its program's folder.
const maxEntries = 50_000

// Sessions describes where a program keeps its sessions, each in a file named by its id.
type Sessions struct {
	Folder string                  // in the program's home
	Levels []func() *regexp.Regexp // name patterns of the folders below, one per level
	Begins string                  // file names are BEGINS…-SESSION.jsonl; empty: SESSION.jsonl
}

// SessionFile returns the path of a session's file; "" if it is missing.
func (s Spec) SessionFile(session string) string {
	homes := s.Adapter.Homes(s.Environ)
	if !IsSession(session) || len(homes) == 0 || s.Adapter.Sessions.Folder == "" {
		return ""
	}
	look, keeps := files.Search{Left: maxEntries}, s.Adapter.Sessions
	return look.In(filepath.Join(homes[0], keeps.Folder), keeps.Levels, func(dir string) string {
		if keeps.Begins != "" {
			return look.Last(dir, keeps.Begins, "-"+session+".jsonl")
		}
		return files.Regular(filepath.Join(dir, session+".jsonl"))
	})
}
