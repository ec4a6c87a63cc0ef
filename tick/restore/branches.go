package restore

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// within reports whether there are branches below a name: git keeps branches as
// files, and a folder can be none.
func within(heads map[string]string, branch string) bool {
	for head := range heads {
		if strings.HasPrefix(head, branch+"/") {
			return true
		}
	}
	return false
}

// notInTheWay refuses a start whose branch cannot be made, since a branch has
// the name of one of its folders, before an agent is paid for it.
func notInTheWay(heads map[string]string, l *env.Lease) error {
	for i, c := range l.Turn.Branch {
		folder := l.Turn.Branch[:i]
		if c != '/' || heads[folder] == "" {
			continue
		}
		branch := l.Turn.Branch
		l.Turn.Branch, l.Turn.Head = "", "" // chosen anew when it is gone
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyBranchInTheWay, Name: folder, Branch: branch}}
	}
	return nil
}
