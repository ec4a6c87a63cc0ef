package hubscript

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

var accountDeeds = map[string]subcommand{
	"user":             {1, addUser},
	"scopes":           {1, func(c *command) error { return c.hub.SetScopes(c.args[0], c.args[1:]) }},
	"fine-grained":     {1, func(c *command) error { return c.hub.SetFineGrained(c.args[0]) }},
	"expires":          {2, expires},
	"forbid-checks":    {1, func(c *command) error { return c.hub.ForbidChecks(c.args[0], true) }},
	"sso":              {1, func(c *command) error { c.hub.RequireSSO(c.args[0], c.rest(1)); return nil }},
	"forbid-statuses":  {1, func(c *command) error { return c.hub.ForbidStatuses(c.args[0]) }},
	"revoke":           {1, func(c *command) error { c.hub.RevokeToken(githubsim.TokenOf(c.args[0])); return nil }},
	"restore-token":    {1, func(c *command) error { return c.hub.RestoreToken(c.args[0]) }},
	"delete-user":      {1, func(c *command) error { return c.hub.DeleteUser(c.args[0]) }},
	"rename-user":      {2, func(c *command) error { return c.hub.RenameUser(c.args[0], c.args[1]) }},
	"user-id":          {1, func(c *command) error { c.line("%d", c.hub.UserID(c.args[0])); return nil }},
	"repo":             {1, addRepo},
	"fork":             {1, func(c *command) error { _, err := c.repo.AddFork(c.args[0]); return err }},
	"rename-repo":      {1, func(c *command) error { return c.repo.Rename(c.args[0]) }},
	"make-label":       {2, makeLabel},
	"publish":          {2, publish},
	"hide-node":        {1, func(c *command) error { c.repo.HideNode(c.args[0]); return nil }},
	"delete-repo":      {0, func(c *command) error { c.repo.DeleteRepo(); return nil }},
	"archive":          {0, func(c *command) error { c.repo.SetArchived(true); return nil }},
	"refuse-push":      {2, func(c *command) error { return c.repo.RefusePushes(c.args[0], text(c.args[1])) }},
	"refuse-workflows": {0, func(c *command) error { return c.repo.RefuseWorkflows() }},
	"allow-pushes":     {0, func(c *command) error { return c.repo.AllowPushes() }},
	"attach":           {1, attach},
}

// attach uploads a file, and prints its id; --leads has the host answer with that address.
func attach(c *command) error {
	content, err := os.ReadFile(c.args[0])
	if err != nil {
		return err
	}
	c.line("%s", c.hub.Attach(string(content), c.flag("leads", "")))
	return nil
}

var issueDeeds = map[string]subcommand{
	"issue":        {2, openIssue},
	"edit-issue":   {1, editIssue},
	"delete-issue": {1, byActor(func(c *command, n int, who string) error { return c.repo.DeleteIssue(n, who) })},
	"label":        {2, byActor(func(c *command, n int, who string) error { return c.repo.Label(n, who, c.args[1:]...) })},
	"unlabel":      {2, byActor(func(c *command, n int, who string) error { return c.repo.Unlabel(n, who, c.args[1:]...) })},
	"assign":       {2, byActor(assign((*githubsim.Repo).Assign))},
	"unassign":     {2, byActor(assign((*githubsim.Repo).Unassign))},
	"block":        {2, byActor(func(c *command, n int, who string) error { return c.repo.Block(n, who, c.args[1]) })},
	"unblock":      {2, byActor(func(c *command, n int, who string) error { return c.repo.Unblock(n, who, c.args[1]) })},
	"add-sub":      {2, byActor(func(c *command, n int, who string) error { return c.repo.AddSubIssue(n, who, c.args[1]) })},
	"remove-sub":   {2, byActor(func(c *command, n int, who string) error { return c.repo.RemoveSubIssue(n, who, c.args[1]) })},
	"move-sub":     {2, byActor(func(c *command, n int, who string) error { return c.repo.MoveSubIssue(n, who, c.args[1]) })},
	"transfer": {2, byActor(func(c *command, n int, who string) error {
		_, err := c.repo.TransferIssue(n, who, c.args[1])
		return err
	})},
	"lock":           {1, byActor(func(c *command, n int, who string) error { return c.repo.Lock(n, who) })},
	"unlock":         {1, byActor(func(c *command, n int, who string) error { return c.repo.Unlock(n, who) })},
	"close":          {1, byActor(func(c *command, n int, who string) error { return c.repo.Close(n, who, c.flag("reason", "")) })},
	"reopen":         {1, byActor(func(c *command, n int, who string) error { return c.repo.Reopen(n, who) })},
	"comment":        {3, comment},
	"edit-comment":   {2, editComment},
	"delete-comment": {1, deleteComment},
	"hide":           {2, hide(func(c *command) string { return c.args[1] })},
	"unhide":         {1, hide(func(*command) string { return "" })},
	"react":          {3, react},
}

// byActor is a deed on an issue or pull request, by --by.
func byActor(deed func(c *command, number int, who string) error) func(*command) error {
	return func(c *command) error {
		n, err := c.number()
		if err != nil {
			return err
		}
		who, err := c.by()
		if err != nil {
			return err
		}
		return deed(c, n, who)
	}
}

// publish makes a release of files under a tag.
func publish(c *command) error {
	files := map[string][]byte{}
	for _, path := range c.args[1:] {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files[filepath.Base(path)] = text
	}
	c.repo.Publish(c.args[0], files)
	return nil
}

func makeLabel(c *command) error {
	c.repo.MakeLabel(c.args[0], c.args[1], strings.Join(c.args[2:], " "))
	return nil
}

func addUser(c *command) error {
	name, level := c.args[0], "read"
	if len(c.args) > 1 {
		level = c.args[1]
	}
	if level == "bot" {
		_, err := c.hub.AddBot(name)
		return err
	}
	if _, err := c.person(name); err != nil || c.repo == nil {
		return err
	}
	return c.repo.SetPermission(name, level)
}

func addRepo(c *command) error {
	files := map[string]string{"README.md": "# " + c.args[0] + "\n"}
	if c.has("empty") {
		files = nil
	}
	r, err := c.hub.AddRepo(c.args[0], files)
	if err == nil && c.has("private") {
		r.SetPrivate(true)
	}
	return err
}

// assign assigns those named, or takes them off. Bots have names with [bot].
func assign(deed func(*githubsim.Repo, int, string, ...string) error) func(*command, int, string) error {
	return func(c *command, n int, who string) error {
		for _, login := range c.args[1:] {
			if _, err := c.person(login); err != nil {
				return err
			}
		}
		return deed(c.repo, n, who, c.args[1:]...)
	}
}

func openIssue(c *command) error {
	who, err := c.person(c.args[0])
	if err != nil {
		return err
	}
	if c.has("form") {
		_, err := c.repo.OpenIssueByForm(who, text(c.args[1]), c.flag("body", ""), c.flags["label"]...)
		return err
	}
	var n int
	var failed error
	if err := c.times(func(copies int) {
		for i := 0; i < copies && failed == nil; i++ {
			n, failed = c.repo.OpenIssue(who, text(c.args[1]), c.flag("body", ""))
		}
	}); err != nil || failed != nil {
		return errors.Join(err, failed)
	}
	if labels := c.flags["label"]; len(labels) > 0 {
		owner, _, _ := strings.Cut(c.repo.FullName(), "/")
		return c.repo.Label(n, owner, labels...)
	}
	return nil
}

func editIssue(c *command) error {
	var title, body *string
	if c.has("title") {
		s := c.flag("title", "")
		title = &s
	}
	if c.has("body") {
		s := c.flag("body", "")
		body = &s
	}
	return byActor(func(c *command, n int, who string) error { return c.repo.EditIssue(n, who, title, body) })(c)
}

func comment(c *command) error {
	n, err := c.number()
	if err != nil {
		return err
	}
	who, err := c.person(c.args[1])
	if err != nil {
		return err
	}
	_, err = c.repo.Comment(n, who, text(c.args[2]))
	return err
}

// onDiff tells whether an id is a review comment's.
func onDiff(id int64) bool { return strings.HasPrefix(githubsim.Ordinal(id), "r") }

func editComment(c *command) error {
	n, err := c.id(c.args[0])
	if err != nil {
		return err
	}
	if onDiff(n) {
		return c.repo.EditReviewComment(n, c.flag("by", ""), text(c.args[1]))
	}
	return c.repo.EditComment(n, c.flag("by", ""), text(c.args[1]))
}

// hide hides a comment or a review, or shows it again.
func hide(why func(*command) string) func(*command) error {
	return func(c *command) error {
		n, err := c.id(c.args[0])
		if err != nil {
			return err
		}
		return c.repo.Hide(n, why(c))
	}
}

func deleteComment(c *command) error {
	n, err := c.id(c.args[0])
	if err != nil {
		return err
	}
	if onDiff(n) {
		return c.repo.DeleteReviewComment(n, c.flag("by", ""))
	}
	return c.repo.DeleteComment(n, c.flag("by", ""))
}

func react(c *command) error {
	who, err := c.person(c.args[1])
	if err != nil {
		return err
	}
	n, err := c.id(c.args[0])
	if err != nil {
		return err
	}
	switch {
	case githubsim.Ordinal(n) == "":
		return c.repo.React(int(n), who, c.args[2])
	case onDiff(n):
		return c.repo.ReactToReviewComment(n, who, c.args[2])
	}
	return c.repo.ReactToComment(n, who, c.args[2])
}

// expires says until when a token holds.
func expires(c *command) error {
	at, err := time.Parse(time.RFC3339, c.args[1])
	if err != nil {
		return err
	}
	return c.hub.SetExpiry(c.args[0], at)
}
