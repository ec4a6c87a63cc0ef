package known

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
)

// Place is what the words about an item depend on, on GitHub.
func (v Snapshot) Place(i Item) explain.Place {
	p := v.Policy
	return explain.Place{
		Item: v.Terminal, Pull: i.HasPull() && i.Pull.State == work.PullOpen, Comments: p.IssueComments, Label: i.Label, Ignore: p.Labels.Ignore, Spending: p.Spending,
	}
}

// Here is the same for this machine.
func (v Snapshot) Here(i Item) explain.Place {
	at := v.Place(i)
	at.Spending = true
	return at
}

// Short is a reference as people write it within the repository.
func (v *Snapshot) Short(ref string) string {
	return strings.TrimPrefix(strings.TrimPrefix(ref, v.Repo.Name.String()), v.Repo.Name.Host+"/")
}
