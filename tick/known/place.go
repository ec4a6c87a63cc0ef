package known

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
)

// Place returns what texts about an item on GitHub depend on.
func (v Snapshot) Place(i Item) explain.Place {
	p := v.Policy
	return explain.Place{
		Item: v.Terminal, Pull: i.HasPull() && i.Pull.State == work.PullOpen, Comments: p.IssueComments, Label: i.Label, Ignore: p.Labels.Ignore, Spending: p.Spending,
	}
}

// Here is Place for texts on this machine, which may name costs.
func (v Snapshot) Here(i Item) explain.Place {
	at := v.Place(i)
	at.Spending = true
	return at
}

// Short shortens a reference as people write it within the repository.
func (v *Snapshot) Short(ref string) string {
	return strings.TrimPrefix(strings.TrimPrefix(ref, v.Repo.Name.String()), v.Repo.Name.Host+"/")
}
