//go:build unix

package story

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

func cmdHubMany(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: hub-many N NUMBER AUTHOR")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	number, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(worldOf(ts).clock.nextSecond())
	hub := worldOf(ts).hub
	for i := range n {
		author := strings.ReplaceAll(args[2], "%", strconv.Itoa(i+1))
		if !hub.HasUser(author) {
			_, err := hub.AddUser(author)
			ts.Check(err)
		}
		_, err := hub.Repo(mainRepo).Comment(number, author, fmt.Sprintf("This is comment number %d.", i+1))
		ts.Check(err)
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
	ts.Check(worldOf(ts).clock.nextSecond())
	repo := worldOf(ts).hub.Repo(mainRepo)
	for _, c := range repo.Comments(number) {
		if githubsim.Ordinal(c.ID) == args[1] {
			_, err := repo.Comment(number, args[2], c.Body)
			ts.Check(err)
			return
		}
	}
	ts.Fatalf("there is no comment %s on #%d", args[1], number)
}
