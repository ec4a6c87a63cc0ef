package tick

import (
	"testing"

	"github.com/mergexo/gh-mergexo/internal/shard"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// shareOf is the share of two that a repository belongs to, and the other one.
func shareOf(r *env.Repo) (its, other shard.Shard) {
	its = shard.Shard{Index: 1, Of: 2}.Owner(r.Row.NodeID)
	return its, shard.Shard{Index: 3 - its.Index, Of: 2}
}

func repository() *env.Repo {
	name := work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}
	return &env.Repo{Remote: env.Remote{Name: name}, Row: work.Repo{ID: 1, NodeID: "R_1", Name: name}}
}

// Of a repository that nobody asked for yet a machine with a share does not know whether another
// one has it. One that takes all waits for those alone that it knows of.
func TestACommandAboutARepositoryThatNobodyAskedFor(t *testing.T) {
	its, other := shareOf(repository())
	for name, c := range map[string]struct {
		now     shard.Shard
		refused bool
	}{"ours": {its, true}, "another one's": {other, true}, "all": {shard.Shard{}, false}} {
		err := notHere(&Pass{Env: &env.Env{Shard: c.now}}, repository(), work.Share{}, false, "")
		if (err != nil) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}
