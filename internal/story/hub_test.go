//go:build unix

package story

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

func cmdHubMany(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: hub-many N NUMBER AUTHOR")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	number, err := strconv.Atoi(args[1])
	ts.Check(err)
	hub := worldOf(ts).hub
	for i := range n {
		author := strings.ReplaceAll(args[2], "%", strconv.Itoa(i+1))
		if !hub.HasUser(author) {
			_, err := hub.AddUser(author)
			ts.Check(err)
		}
		_, err := hub.Repo(worldOf(ts).repo()).Comment(number, author, fmt.Sprintf("This is comment number %d.", i+1))
		ts.Check(err)
	}
}

// cmdHubSubs makes sub-issues of an issue.
func cmdHubSubs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: hub-subs N NUMBER AUTHOR")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	number, err := strconv.Atoi(args[1])
	ts.Check(err)
	repo := worldOf(ts).hub.Repo(worldOf(ts).repo())
	for i := range n {
		child, err := repo.OpenIssue(args[2], fmt.Sprintf("Sub-issue %d", i+1), "")
		ts.Check(err)
		ts.Check(repo.AddSubIssue(number, args[2], strconv.Itoa(child)))
	}
}

func cmdHubFailNode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hub-fail-node FILE")
	}
	worldOf(ts).hub.AddFault(githubsim.Fault{
		Method: "POST", Path: "/graphql", Contains: strings.TrimSpace(ts.ReadFile(args[0])), Status: 502, Always: true,
	})
}

// cmdHubPaste has somebody post the words of a comment again, marker and all.
func cmdHubPaste(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: hub-paste NUMBER COMMENT AUTHOR")
	}
	var number int
	_, err := fmt.Sscan(args[0], &number)
	ts.Check(err)
	repo := worldOf(ts).hub.Repo(worldOf(ts).repo())
	for _, c := range repo.Comments(number) {
		if githubsim.Ordinal(c.ID) == args[1] {
			_, err := repo.Comment(number, args[2], c.Body)
			ts.Check(err)
			return
		}
	}
	ts.Fatalf("there is no comment %s on #%d", args[1], number)
}

// cmdMarks makes the markers of a reviewer's approval of what a pull request has now.
func cmdMarks(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: marks NUMBER REVIEWER CALLS-IN")
	}
	number, err := strconv.Atoi(args[0])
	ts.Check(err)
	for _, p := range worldOf(ts).hub.Repo(worldOf(ts).repo()).Pulls() {
		if p.Number != number {
			continue
		}
		v := review.Verdict{Reviewer: args[1], Head: p.HeadOID, Decision: review.Approve, CalledIn: []string{args[2]}}
		lines := strings.Split(strings.TrimSpace(work.Mark("", work.Marks{
			Token: strings.Repeat("5e", 32), Review: review.Mark(v, nil, nil),
			Finding: review.MarkFinding(review.Finding{ID: "5e5e", Reviewer: args[1], Severity: review.Critical, Body: "Not so."}),
		})), "\n")
		ts.Setenv("REVIEW", lines[0])
		ts.Setenv("FINDING", lines[1])
		ts.Setenv("ACTION", lines[2])
		return
	}
	ts.Fatalf("there is no pull request #%d", number)
}
