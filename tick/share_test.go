package tick

import (
	"testing"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/shard"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/share"
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

// Where there is no time left to take repositories, those of other machines wait for nothing, and
// whose each one is is told as in every pass.
func TestWithoutTimeARepositoryIsWhoseItIs(t *testing.T) {
	its, other := shareOf(repository())
	for _, c := range []struct {
		name string
		now  shard.Shard
		want env.RepoReport
	}{
		{"ours", its, env.RepoReport{Untaken: true, Note: "it is taken by one of the next passes"}},
		{"another one's", other, env.RepoReport{Elsewhere: true, Note: "belongs to machine " + its.String()[:1] + " of 2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &env.Env{Config: &config.Config{}, Shard: c.now, All: []*env.Repo{repository()}} // an ingest_timeout of 0 is over at once
			p := &Pass{Env: e, sharing: sharing{shares: share.New(e, "this one", nil)}}
			rep := env.NewReport(noon)
			settleShares(t.Context(), p, rep)
			got := rep.Repos()[0]
			if got.Untaken != c.want.Untaken || got.Elsewhere != c.want.Elsewhere || got.Note != c.want.Note || got.Share != its.String() {
				t.Errorf("it is told as %+v, want %+v of %s", got, c.want, its)
			}
		})
	}
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
