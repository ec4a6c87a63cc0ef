package github

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
)

// Texts that GitHub documents or that were observed.
func TestEachRefusalHasItsKind(t *testing.T) {
	const ruleset = "Repository rule violations found\n\n"
	for _, c := range []struct {
		status  int
		message string
		kind    RefusalKind
		name    string
	}{
		{409, "Head branch was modified. Review and try the merge again.", HeadMoved, ""},
		{409, "Head branch is out of date. Review and try the merge again.", HeadMoved, ""},
		{409, "something new", HeadMoved, ""},
		{409, "Merge conflict", NotMergeable, ""},
		{405, "Base branch was modified. Review and try the merge again.", BaseModified, ""},
		{409, "Base branch was modified. Review and try the merge again.", BaseModified, ""},
		{405, "Merge already in progress", InProgress, ""},
		{405, "Pull Request is not mergeable", NotMergeable, ""},
		{405, "Pull Request is still a draft", IsDraft, ""},
		{405, `Required status check "build" is expected.`, CheckMissing, "build"},
		{405, `Required status check "all green" is in progress.`, CheckMissing, "all green"},
		{405, "2 of 3 required status checks are expected.", CheckMissing, "2 of 3 required status checks are expected"},
		{405, "2 of 4 required status checks have not succeeded: 1 expected.", CheckMissing, "2 of 4 required status checks have not succeeded: 1 expected"},
		{405, ruleset + "2 of 2 required status checks are in progress.\n\n", CheckMissing, "2 of 2 required status checks are in progress"},
		{405, ruleset + "Required workflow '✅ Validate' is not satisfied\n\n", CheckMissing, "✅ Validate"},
		{405, "At least 1 approving review is required by reviewers with write access.", ReviewNeeded, "At least 1 approving review is required by reviewers with write access"},
		{405, ruleset + "- At least 1 approving review is required by reviewers with write access.", ReviewNeeded, "At least 1 approving review is required by reviewers with write access"},
		{405, "New changes require approval from someone other than the last pusher.", ReviewNeeded, "New changes require approval from someone other than the last pusher"},
		{405, "Changes have been requested by reviewers with write access.", ReviewNeeded, "Changes have been requested by reviewers with write access"},
		{405, "Waiting on code owner review from octo/team.", ReviewNeeded, "Waiting on code owner review from octo/team"},
		{405, "All comments must be resolved.", RuleBroken, "All comments must be resolved"},
		{405, ruleset + "A conversation must be resolved before this pull request can be merged.\n\n", RuleBroken, "A conversation must be resolved before this pull request can be merged"},
		{405, ruleset + "Commits must have verified signatures.\n\n", RuleBroken, "Commits must have verified signatures"},
		{405, ruleset + "Cannot update this protected ref.\n\n", RuleBroken, "Cannot update this protected ref"},
		{405, "Repository rule violations found", RuleBroken, ""},
		{405, "Merge commits are not allowed on this repository.", MethodBarred, "merge"},
		{405, "Squash merges are not allowed on this repository.", MethodBarred, "squash"},
		{405, "Rebase merges are not allowed on this repository.", MethodBarred, "rebase"},
		{405, ruleset + "Squash merges are not allowed on this branch.\n\n", MethodBarred, "squash"},
		{405, "This branch must not contain merge commits.", MethodBarred, "merge"},
		{405, "This branch can't be rebased", MethodBarred, "rebase"},
		{405, "Changes must be made through the merge queue", AboutQueue, ""},
		{405, ruleset + "Changes must be made through the merge queue\n\n1 of 1 required status checks are expected.", AboutQueue, ""},
		{405, "You're not authorized to push to this branch. Visit https://docs.github.com/about-protected-branches for more information.", NoPermission, ""},
		{403, "Resource not accessible by personal access token", NoPermission, ""},
		{403, "Repository was archived so is read-only.", NoPermission, "archived"},
		{403, "words of another day", NoPermission, ""},
		{404, "Not Found", NoPermission, ""},
		{405, "words of another day", OtherRefusal, ""},
		{422, "words of another day", OtherRefusal, ""},
		// Update of a branch.
		{422, "expected head sha didn’t match current head ref.", HeadMoved, ""},
		{422, "Expected Head SHA didn't match current head ref.", HeadMoved, ""},
		{422, "There are no new commits on the base branch.", NothingNew, ""},
		{422, "merge conflict between base and head", NotMergeable, ""},
		{422, "Pull request is closed", NotMergeable, ""},
		// Merge queue, by GraphQL.
		{422, "Pull request New changes require approval from someone other than octocat because they were the last pusher.", ReviewNeeded, "New changes require approval from someone other than octocat because they were the last pusher"},
		{422, "Pull request 2 of 4 required status checks have not succeeded: 1 expected.", CheckMissing, "2 of 4 required status checks have not succeeded: 1 expected"},
		{422, "Pull request You're not authorized to push to this branch.", NoPermission, ""},
		{422, "Pull request is already in the queue", AboutQueue, ""},
		{422, "Merge queue is not enabled for this branch", AboutQueue, ""},
		{422, "expectedHeadOid does not match current head", HeadMoved, ""},
	} {
		err := fmt.Errorf("merge o/r#1: %w", &transport.Error{Status: c.status, Message: c.message})
		r, ok := RefusalOf(err)
		if !ok || r.Kind != c.kind || r.Name != c.name {
			t.Errorf("%d %q: %+v, %v; want %s of %q", c.status, c.message, r, ok, c.kind, c.name)
		}
		if want := strings.Join(strings.Fields(c.message), " "); r.Text != want {
			t.Errorf("%d %q: text %q", c.status, c.message, r.Text)
		}
	}
}

func TestARefusalNamesItsFields(t *testing.T) {
	e := &transport.Error{Status: 422, Message: "Validation Failed", Items: []transport.ErrorItem{{Resource: "PullRequest", Field: "merge_method", Code: "invalid"}}}
	if r, ok := RefusalOf(e); !ok || r.Kind != MethodBarred || r.Text != "Validation Failed merge_method: invalid" {
		t.Errorf("%+v, %v", r, ok)
	}
	e.Items = []transport.ErrorItem{{Message: `Required status check "x" is expected.`}}
	if r, ok := RefusalOf(e); !ok || r.Kind != CheckMissing || r.Name != "x" {
		t.Errorf("%+v, %v", r, ok)
	}
}

func TestARefusalIsFitToPrint(t *testing.T) {
	r, ok := RefusalOf(&transport.Error{Status: 405, Message: "\x1b[2Jno\u202e\n\n" + strings.Repeat("long ", 400)})
	if !ok || strings.ContainsAny(r.Text, "\x1b\u202e\n") || len(r.Text) > 600 || !strings.HasPrefix(r.Text, "[2Jno long") {
		t.Errorf("%q, %v", r.Text, ok)
	}
	check, _ := RefusalOf(&transport.Error{Status: 405, Message: "Required status check \"" + strings.Repeat("y", 5000) + "\" is expected."})
	if len(check.Name) > 600 {
		t.Errorf("a name of %d bytes", len(check.Name))
	}
}

// A write with an unclear answer is not a refusal, whatever GitHub's text.
func TestWhatIsNoRefusal(t *testing.T) {
	said := &transport.Error{Status: http.StatusInternalServerError, Message: "Pull Request is not mergeable"}
	for name, err := range map[string]error{
		"nothing":   nil,
		"unclear":   &transport.UnclearError{Err: said},
		"a 500":     said,
		"a login":   &transport.Error{Status: http.StatusUnauthorized, Message: "Bad credentials"},
		"no head":   errNoHead,
		"elsewhere": &transport.MovedError{},
		"any other": errors.New("Pull Request is not mergeable"),
	} {
		if r, ok := RefusalOf(err); ok {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
