package github

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// told is the changing answer of a host to a light query.
type told struct {
	viewer, repo string
	comments     []int
	mergeable    []string
}

func (h told) body() []byte {
	nodes := make([]string, len(h.comments))
	for i, n := range h.comments {
		nodes[i] = fmt.Sprintf(`{"__typename":"PullRequest","id":"PR_%d","number":%d,"state":"OPEN","headRefOid":"0123","baseRefName":"main","mergeable":%q,"totalCommentsCount":%d}`, i, i+1, h.mergeable[i], n)
	}
	return fmt.Appendf(nil, `{"data":{"viewer":{"databaseId":1,"login":%q},"repository":{"id":%q},"nodes":[%s]}}`, h.viewer, h.repo, strings.Join(nodes, ","))
}

// An answer that is not decoded gives the same result as a decoded one, whatever GitHub answers and
// whatever was stored.
func TestAnAnswerThatIsNotDecodedSaysTheSame(t *testing.T) {
	var now told
	api := answeringWith(t, func() []byte { return now.body() })
	repo := work.RepoName{Host: "github.localhost", Owner: "o", Name: "n"}
	skipped := 0
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(rt, "pulls")
		now = told{viewer: "alice", repo: "R_1", comments: make([]int, n), mergeable: make([]string, n)}
		stored, ids, sealed := make([]PullLight, n), make([]string, n), ""
		for i := range stored {
			ids[i] = fmt.Sprintf("PR_%d", i)
			stored[i] = PullLight{NodeID: ids[i], Number: i + 1}
		}
		for range rapid.IntRange(1, 12).Draw(rt, "passes") {
			i := rapid.IntRange(0, n-1).Draw(rt, "pull")
			switch rapid.SampledFrom([]string{"nothing", "nothing", "comments", "mergeable", "viewer", "repository"}).Draw(rt, "changes") {
			case "comments":
				now.comments[i] = rapid.IntRange(0, 2).Draw(rt, "comments")
			case "mergeable":
				now.mergeable[i] = rapid.SampledFrom([]string{"MERGEABLE", "CONFLICTING"}).Draw(rt, "mergeable")
			case "viewer":
				now.viewer = rapid.SampledFrom([]string{"alice", "bob"}).Draw(rt, "viewer")
			case "repository":
				now.repo = rapid.SampledFrom([]string{"R_1", "R_2"}).Draw(rt, "repository")
			}
			want, err := api.Sweep(t.Context(), repo, ids)
			if err != nil {
				rt.Fatal(err)
			}
			got, err := api.SweepAgain(t.Context(), repo, stored, sealed)
			if err != nil {
				rt.Fatal(err)
			}
			if got.Pulls[0].State == "" {
				skipped++
			}
			sealed = got.Seal
			if got, want := essence(got), essence(want); !reflect.DeepEqual(got, want) {
				rt.Fatalf("an answer says\n%+v, and is read as\n%+v", want, got)
			}
			for i, p := range want.Pulls { // stored, failed to store, or to be read again
				switch rapid.SampledFrom([]string{"taken", "taken", "left", "again"}).Draw(rt, "what becomes of it") {
				case "taken":
					stored[i].Fingerprint = p.Fingerprint
				case "again":
					stored[i].Fingerprint = ""
				}
			}
		}
	})
	if skipped == 0 {
		t.Error("every answer was decoded")
	}
}

// essence returns the fields of a light query that are used.
func essence(s Sweep) Sweep {
	pulls := make([]PullLight, len(s.Pulls))
	for i, p := range s.Pulls {
		pulls[i] = PullLight{NodeID: p.NodeID, Number: p.Number, Fingerprint: p.Fingerprint}
	}
	s.Pulls, s.Seal = pulls, ""
	return s
}
