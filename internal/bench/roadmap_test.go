//go:build unix

package bench

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// planner is an agent that cuts an issue into five parts, of which the three in the middle wait for the first,
// and the last for these. Each part it makes at once.
const planner = `#!/bin/sh
case $(cat) in
*'"kind":"roadmap_start"'*)
	node() { printf '{"id":"%s","title":"The %s part","flow":"small_job","issue":null,"needs":[%s],"goal":"g","scope":"s","acceptance":"a","tests":"t"}' "$1" "$1" "$2"; }
	printf '{"session":"s","answer":{"title":"Faster reads","goal":"All of it.","nodes":['
	node a; printf ,; node b '"a"'; printf ,; node c '"a"'; printf ,; node d '"a"'; printf ,; node e '"b","c","d"'
	echo '],"blocked_reason":null,"decision_summary":null}}' ;;
*)
	date +%N >"work$(date +%N).txt"
	echo '{"session":"s","answer":{"pr_title":"Work","pr_summary":"Work.","commit_message":"work","followups":[],"blocked_reason":null,"decision_summary":null,"replan":null}}' ;;
esac
`

// mostOfRoadmap is the most that a roadmap of five nodes may ask of GitHub, from its label to its end. It takes two
// less, or as many: a table that is due a moment sooner costs two more.
const mostOfRoadmap = 200

// TestRoadmapRequests plays a roadmap from its label to its end on a machine that has been in use: a pass every
// minute, and people who merge what is open at every third.
func TestRoadmapRequests(t *testing.T) {
	testhome.OnlyLong(t)
	w := newEmptyWorld(t, self(t), shape{repos: 1})
	w.agentText, w.moreConfig = planner, "workers = 3\n"
	w.writeConfig(t, listening)
	now := time.Now().Truncate(time.Second)
	pass := func(after time.Duration) {
		now = now.Add(after)
		at := now
		w.still.Store(&at)
		w.passes(t, 1)
	}
	pass(time.Minute)
	pass(time.Hour)
	roadmap, err := w.repo.OpenIssue(reviewer, "Faster reads", "Please.", "agent:roadmap")
	must(t, err)
	w.hub.ResetLog()
	passes := 0
	var drawn strings.Builder
	for open := true; open; passes++ {
		from := len(w.hub.Requests())
		pass(time.Minute)
		fmt.Fprintf(&drawn, "pass %d\n", passes)
		for _, rq := range w.hub.Requests()[from:] {
			fmt.Fprintf(&drawn, "  %3d %s %s?%s %s\n", rq.Status, rq.Method, rq.Path, rq.Query, operation.FindString(rq.Body))
		}
		is, _ := w.repo.Issue(roadmap)
		if open = is.State == "open"; passes == 30 {
			t.Fatal("the roadmap does not end")
		}
		for _, p := range w.repo.Pulls() {
			if p.State == "open" && passes%3 == 0 {
				_, err := w.repo.Merge(p.Number, reviewer, "squash")
				must(t, err)
			}
		}
	}
	kinds, unchanged := map[string]int{}, 0
	for _, rq := range w.hub.Requests() {
		kinds[kindOf(rq)]++
		if rq.NotModified {
			unchanged++
		}
	}
	var table strings.Builder
	for _, k := range slices.SortedFunc(maps.Keys(kinds), func(a, b string) int { return cmp.Or(kinds[b]-kinds[a], cmp.Compare(a, b)) }) {
		fmt.Fprintf(&table, "%5d %s\n", kinds[k], k)
	}
	all := len(w.hub.Requests())
	t.Logf("%s%d requests in %d passes, %d of them answered 304:\n%s", &drawn, all, passes, unchanged, &table)
	if merged := len(w.repo.Pulls()); merged != 6 || all > mostOfRoadmap {
		t.Errorf("%d pull requests, of which 6 are wanted; %d requests, of which at most %d are wanted", merged, all, mostOfRoadmap)
	}
}

var (
	digits    = regexp.MustCompile(`\b[0-9]+\b`)
	operation = regexp.MustCompile(`(?:query|mutation) (\w+)`)
)

// kindOf names what a request asks, whichever number it is about.
func kindOf(rq githubsim.Request) string {
	if m := operation.FindStringSubmatch(rq.Body); rq.Path == "/graphql" && m != nil {
		return m[0]
	}
	return rq.Method + " " + digits.ReplaceAllString(rq.Path, "N")
}
