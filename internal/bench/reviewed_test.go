//go:build unix

package bench

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

// mode is what the program does with what it reads.
type mode string

const (
	quiet     mode = "quiet"     // nothing
	listening mode = "listening" // it answers people
	reviewing mode = "reviewing" // an agent reviews pull requests, too
	asking    mode = "asking"    // and after it a person
	merging   mode = "merging"   // and what is approved is merged, once a person says so
)

// person is the login of the person who reviews, if any.
func (m mode) person() []string {
	if m == asking {
		return []string{person}
	}
	return nil
}

// review is the part of the config that says who reviews.
func (m mode) review() string {
	text := fmt.Sprintf("[repo.review]\nenabled = %t\n", m == reviewing || m == asking || m == merging)
	if m == merging {
		text += "auto_merge = true\ncritical_paths = [\"**\"]\nrequire_human_approval = true\n"
	}
	for _, login := range m.person() {
		text += fmt.Sprintf("[[repo.reviewers]]\nname = \"quinn\"\n[[repo.reviewers]]\nname = %q\nlogin = %q\n", login, login)
	}
	return text
}

// approves is an agent that approves whatever it is asked to review.
const approves = `#!/bin/sh
cat >/dev/null
echo '{"session": "s", "answer": {"decision": "approve", "summary": "Well.", "body": null, "comments": [], "earlier": [], "escalate": []}}'
`

// newReviewedWorld is a world in which an agent has looked at every pull request and
// approved it: people are waited for.
func newReviewedWorld(t *testing.T, p program, pulls int, m mode) *world {
	t.Helper()
	w := newWorld(t, p, pulls)
	w.writeConfig(t, m)
	for range 2 * pulls {
		w.work(t, "PATH="+os.Getenv("PATH"))
		if w.reviewed(t, m) == pulls {
			w.untilQuiet(t)
			return w
		}
	}
	t.Fatalf("reviewers are done with %d of %d pull requests", w.reviewed(t, m), pulls)
	return nil
}

// reviewed counts the pull requests that wait for people, who have been asked where the
// config names one.
func (w *world) reviewed(t *testing.T, m mode) int {
	t.Helper()
	onGitHub := 0
	for _, p := range w.repo.Pulls() {
		ours := slices.ContainsFunc(w.repo.Reviews(p.Number), func(v githubsim.Review) bool { return v.Author == operator })
		if ours && slices.Equal(w.repo.Requested(p.Number), m.person()) {
			onGitHub++
		}
	}
	db := openRead(t, w.database())
	defer func() { must(t, db.Close()) }()
	state := "state = 'approved'"
	if m == merging {
		state = "state = 'checking_approval'"
	}
	if m == asking {
		state = "state = 'reviewing' AND reviewer = '" + person + "'"
	}
	return min(onGitHub, len(query(t, db, `SELECT state FROM pull_reviews WHERE `+state)))
}
