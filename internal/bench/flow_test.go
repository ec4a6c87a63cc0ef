//go:build unix

package bench

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// distances are how long each request takes where round trips are counted: as long as to a
// host on another continent, and longer where the machine was too busy to send at once what
// it sends side by side.
var distances = []time.Duration{150 * time.Millisecond, 300 * time.Millisecond, 450 * time.Millisecond}

// worker is an agent that answers at once: an issue with a change, a review comment with
// a change and a reply, and a question while nobody has answered it. What it is asked it
// tells by the kind of its turn, which stands before the texts of others.
const worker = `#!/bin/sh
input=$(cat)
case $input in
*'Ask first.'*) case $input in *'My answer.'*) ;; *)
	echo '{"session":"s","answer":{"pr_title":null,"pr_summary":null,"commit_message":null,"followups":[],"blocked_reason":"Which colour?","decision_summary":null}}'
	exit ;;
esac ;;
esac
date +%N >>work.txt
case $input in
*'"kind":"small_job_start"'*)
	echo '{"session":"s","answer":{"pr_title":"Work","pr_summary":"Work.","commit_message":"work","followups":[],"blocked_reason":null,"decision_summary":null}}' ;;
*)
	id=$(printf %s "$input" | sed -n 's/.*"new_events":\[{"id":"\([0-9]*\)".*/\1/p')
	echo '{"session":"s","answer":{"review_replies":[{"review_comment_id":'$id',"body":"Done.","resolve":false}],"general_comment":null,"commit_message":"more","flaky_test":null,"followups":[],"blocked_reason":null,"decision_summary":null}}' ;;
esac
`

// newFlowWorld is a machine with one repository in which there is nothing to do.
func newFlowWorld(t *testing.T, p program) *world {
	t.Helper()
	w := newEmptyWorld(t, p, shape{repos: 1})
	w.agentText = worker
	w.writeConfig(t, listening)
	w.passes(t, 2)
	return w
}

// passes makes some passes with git in PATH.
func (w *world) passes(t *testing.T, n int) {
	t.Helper()
	for range n {
		w.work(t, "PATH="+os.Getenv("PATH"))
	}
}

// asked is one request of a pass, with when it came and when it was answered.
type asked struct {
	githubsim.Request
	begin, end time.Duration // since the pass began
}

// trip is what one pass asked, in the order in which it did.
type trip struct {
	requests []asked
	wall     time.Duration
}

// travel makes one pass in which every request takes as long as the distance, some minutes
// after the one before: nothing that was asked then still counts.
func (w *world) travel(t *testing.T, distance time.Duration) trip {
	t.Helper()
	var mu sync.Mutex
	seen := map[int]*asked{}
	start := time.Now()
	w.later.Add(int64(2 * time.Minute))
	w.hub.ResetLog()
	w.hub.AddFault(githubsim.Fault{Always: true, Delay: distance})
	w.hub.OnRequest(func(rq githubsim.Request) {
		mu.Lock()
		defer mu.Unlock()
		if !rq.Done {
			seen[rq.N] = &asked{begin: time.Since(start)}
		}
		a := seen[rq.N]
		a.Request, a.end = rq, time.Since(start)
	})
	w.passes(t, 1)
	wall := time.Since(start)
	w.hub.OnRequest(nil)
	w.hub.ClearFaults()
	out := trip{wall: wall}
	for _, a := range seen {
		out.requests = append(out.requests, *a)
	}
	slices.SortFunc(out.requests, func(a, b asked) int { return cmp.Compare(a.begin, b.begin) })
	return out
}

// rounds is how many requests were waited for one after the other: the longest chain in
// which each began after the one before it was answered.
func (p trip) rounds() int {
	byEnd := slices.SortedFunc(slices.Values(p.requests), func(a, b asked) int { return cmp.Compare(a.end, b.end) })
	n, free := 0, time.Duration(-1)
	for _, a := range byEnd {
		if a.begin > free {
			n, free = n+1, a.end
		}
	}
	return n
}

// until is the part of a pass up to the answer to a request, which is the last that
// matches.
func (p trip) until(method, path string) trip {
	what := regexp.MustCompile("^" + path + "$")
	for _, a := range slices.Backward(p.requests) {
		if a.Method == method && what.MatchString(a.Path) {
			part := trip{wall: a.end}
			for _, b := range p.requests {
				if b.end <= a.end {
					part.requests = append(part.requests, b)
				}
			}
			return part
		}
	}
	return trip{}
}

// String draws a pass: a line for each request, with when it was on its way.
func (p trip) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d requests, %d rounds, %.2f s\n", len(p.requests), p.rounds(), p.wall.Seconds())
	name := regexp.MustCompile(`(?:query|mutation) (\w+)`)
	for _, a := range p.requests {
		what := a.Path
		if a.Query != "" {
			what += "?" + a.Query
		}
		if m := name.FindStringSubmatch(a.Body); m != nil {
			what += " " + m[1]
		}
		fmt.Fprintf(&b, "%6.0f %6.0f  %3d %s %s\n", a.begin.Seconds()*1000, a.end.Seconds()*1000, a.Status, a.Method, what)
	}
	return b.String()
}

// flow is what people wait for: what they do, and the most that the pass may ask which
// answers it.
type flow struct {
	name     string
	requests int
	rounds   int // requests that are waited for one after the other
	before   func(*testing.T, *world) (number int)
	deed     func(*testing.T, *world, int)
	answered func(*world, int) bool
}

// opened has a pull request opened for an issue, and gives that one's number.
func opened(t *testing.T, w *world) int {
	t.Helper()
	issue, err := w.repo.OpenIssue(reviewer, "Do it", "Please.", label)
	must(t, err)
	w.passes(t, 2)
	if !hasPull(w, issue) {
		t.Fatalf("no pull request for #%d", issue)
	}
	return issue + 1
}

func hasPull(w *world, issue int) bool {
	_, ok := w.repo.Pull(issue + 1)
	return ok
}

// asksFirst is an issue about which the agent has asked its question.
func asksFirst(t *testing.T, w *world) int {
	t.Helper()
	issue, err := w.repo.OpenIssue(reviewer, "Another", "Ask first.", label)
	must(t, err)
	w.passes(t, 2)
	if !w.said(issue, "Which colour?") {
		t.Fatalf("no question on #%d", issue)
	}
	return issue
}

// said reports whether something is written in a conversation.
func (w *world) said(number int, text string) bool {
	return slices.ContainsFunc(w.repo.Comments(number), func(c githubsim.Comment) bool { return strings.Contains(c.Body, text) })
}

var flows = []flow{
	{
		name: "label to pull request", requests: 21, rounds: 7,
		before: opened, // what is there is not asked about
		deed: func(t *testing.T, w *world, pull int) {
			_, err := w.repo.OpenIssue(reviewer, "Do it, too", "Please.", label)
			must(t, err)
		},
		answered: func(w *world, pull int) bool { return hasPull(w, pull+1) && w.said(pull+1, "Opened #") },
	},
	{
		name: "comment to reply and commit", requests: 16, rounds: 9,
		before: opened,
		deed: func(t *testing.T, w *world, pull int) {
			_, err := w.repo.ReviewComment(pull, reviewer, "work.txt", 1, "More.")
			must(t, err)
		},
		answered: func(w *world, pull int) bool {
			p, _ := w.repo.Pull(pull)
			log, err := w.repo.Log(p.Head)
			return err == nil && len(log) == 3 && len(w.repo.ReviewComments(pull)) == 2
		},
	},
	{
		name: "label to question", requests: 19, rounds: 6,
		before: asksFirst,
		deed: func(t *testing.T, w *world, _ int) {
			_, err := w.repo.OpenIssue(reviewer, "A third", "Ask first.", label)
			must(t, err)
		},
		answered: func(w *world, issue int) bool { return w.said(issue+1, "Which colour?") },
	},
	{
		// The comment that asks is changed while the agent works. Nobody waits for that, but it
		// counts where the agent takes longer than a request: 8 where it does not.
		name: "answer to pull request", requests: 26, rounds: 11,
		before: asksFirst,
		deed: func(t *testing.T, w *world, issue int) {
			_, err := w.repo.Comment(issue, reviewer, "My answer.")
			must(t, err)
		},
		answered: hasPull,
	},
}

// TestRoundTrips counts how often a pass waits for GitHub, one request after the other,
// between what people do and what they see of it: over a slow network that is how long they
// wait. The remote is a folder, so that what git asks is not among it. Beside a load a request begins
// late and counts as a round of its own: so rounds are compared with MERGEXO_TEST=all only, requests always.
func TestRoundTrips(t *testing.T) {
	testhome.OnlyLong(t)
	for _, f := range flows {
		t.Run(slug(f.name), func(t *testing.T) {
			var p trip
			for _, distance := range distances {
				w := newFlowWorld(t, self(t))
				number := f.before(t, w)
				f.deed(t, w, number)
				p = w.travel(t, distance)
				if !f.answered(w, number) {
					t.Fatalf("nobody was answered\n%s", p)
				}
				if testing.Verbose() {
					t.Logf("each request takes %s: %s", distance, p)
				}
				if len(p.requests) <= f.requests && (p.rounds() <= f.rounds || !testhome.All()) {
					return
				}
			}
			t.Errorf("%s: want at most %d requests, %d rounds; got %s", f.name, f.requests, f.rounds, p)
		})
	}
}

func slug(s string) string { return strings.ReplaceAll(s, " ", "-") }
