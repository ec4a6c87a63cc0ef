package hubscript

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

var pullDeeds = map[string]subcommand{
	"open-pull":      {3, openPull},
	"review-comment": {5, reviewComment},
	"reply":          {4, replyTo},
	"review":         {3, review},
	"edit-review":    {3, editReview},
	"dismiss":        {2, byActor(dismiss)},
	"request":        {2, byActor(request)},
	"ready":          {1, byActor(func(c *command, n int, who string) error { return c.repo.MarkReady(n, who) })},
	"draft":          {1, byActor(func(c *command, n int, who string) error { return c.repo.ConvertToDraft(n, who) })},
	"change-base":    {2, byActor(func(c *command, n int, who string) error { return c.repo.ChangeBase(n, who, c.args[1]) })},
	"submit":         {3, submit},
	"resolve":        {2, resolve},
	"unresolve":      {2, unresolve},
	"merge":          {1, byActor(merge)},
	"check":          {3, check},
	"status":         {3, status},
}

var gitDeeds = map[string]subcommand{
	"push":           {3, push},
	"remove-file":    {2, func(c *command) error { c.args = append(c.args, githubsim.Removed); return push(c) }},
	"force-push":     {1, forcePush},
	"branch":         {2, func(c *command) error { return c.repo.CreateBranch(c.args[0], c.args[1]) }},
	"delete-branch":  {1, deleteBranch},
	"rename-default": {1, func(c *command) error { return c.repo.RenameDefaultBranch(c.args[0]) }},
}

// check reports a check run, with the log of its job and what it says about a
// line.
func check(c *command) error {
	conclusion := c.args[2]
	if conclusion == "none" {
		conclusion = ""
	}
	ref, err := c.ref()
	if err != nil {
		return err
	}
	run, err := c.repo.SetCheck(ref, c.args[1], "", conclusion)
	if err != nil {
		return err
	}
	if log := c.flag("log", ""); log != "" {
		if err := c.repo.SetLog(run, text(log)); err != nil {
			return err
		}
	}
	if ago := c.flag("ago", ""); ago != "" {
		d, err := time.ParseDuration(ago)
		if err == nil {
			err = c.repo.EndedEarlier(run, d)
		}
		if err != nil {
			return err
		}
	}
	about := c.flag("annotate", "")
	if about == "" {
		return nil
	}
	path, rest, _ := strings.Cut(about, ":")
	at, message, _ := strings.Cut(rest, ":")
	line, err := strconv.Atoi(at)
	if err != nil {
		return fmt.Errorf("%q is no line", at)
	}
	return c.repo.Annotate(run, path, line, text(message))
}

func status(c *command) error {
	ref, err := c.ref()
	if err != nil {
		return err
	}
	return c.repo.SetStatus(ref, c.args[1], c.args[2], c.rest(3))
}

// ref is the first argument: queue:N is the commit that the merge queue wants to land of a pull
// request.
func (c *command) ref() (string, error) {
	number, ok := strings.CutPrefix(c.args[0], "queue:")
	if !ok {
		return c.args[0], nil
	}
	for _, q := range c.repo.Queue() {
		if strconv.Itoa(q.Number) == number && q.Group != "" {
			return q.Group, nil
		}
	}
	return "", fmt.Errorf("the merge queue wants to land nothing of %s", number)
}

func openPull(c *command) error {
	who, err := c.person(c.args[0])
	if err != nil {
		return err
	}
	_, err = c.repo.OpenPull(who, githubsim.NewPull{
		Head: c.args[1], Title: text(c.args[2]), Body: c.flag("body", ""), Base: c.flag("base", ""), Draft: c.has("draft"),
	})
	return err
}

func reviewComment(c *command) error {
	n, err := c.number()
	if err != nil {
		return err
	}
	who, err := c.person(c.args[1])
	if err != nil {
		return err
	}
	line, err := strconv.Atoi(c.args[3])
	if err != nil {
		return fmt.Errorf("%q is no line", c.args[3])
	}
	_, err = c.repo.ReviewComment(n, who, c.args[2], line, text(c.args[4]))
	return err
}

func replyTo(c *command) error {
	top, err := c.id(c.args[1])
	if err != nil {
		return err
	}
	who, err := c.person(c.args[2])
	if err != nil {
		return err
	}
	_, err = c.repo.ReplyTo(top, who, text(c.args[3]))
	return err
}

func review(c *command) error {
	n, err := c.number()
	if err != nil {
		return err
	}
	who, err := c.person(c.args[1])
	if err != nil {
		return err
	}
	var lines []githubsim.LineComment
	for _, s := range c.flags["line"] {
		parts := strings.SplitN(s, ":", 3)
		if len(parts) != 3 {
			return fmt.Errorf("--line takes PATH:LINE:BODY, not %q", s)
		}
		line, err := strconv.Atoi(parts[1])
		if err != nil {
			return fmt.Errorf("%q is no line", parts[1])
		}
		lines = append(lines, githubsim.LineComment{Path: parts[0], Line: line, Body: text(parts[2])})
	}
	_, err = c.repo.ReviewAt(n, who, c.flag("commit", ""), c.args[2], c.rest(3), lines...)
	return err
}

func dismiss(c *command, n int, who string) error {
	v, err := c.id(c.args[1])
	if err != nil {
		return err
	}
	message := c.rest(2)
	if message == "" {
		message = "It does not count"
	}
	return c.repo.Dismiss(n, v, who, message)
}

func request(c *command, n int, who string) error {
	for _, login := range c.args[1:] {
		if _, err := c.person(login); err != nil {
			return err
		}
	}
	return c.repo.RequestReview(n, who, c.args[1:]...)
}

// rest is the optional last argument.
func (c *command) rest(i int) string {
	if i < len(c.args) {
		return text(c.args[i])
	}
	return ""
}

func editReview(c *command) error {
	n, err := c.number()
	if err != nil {
		return err
	}
	v, err := c.id(c.args[1])
	if err != nil {
		return err
	}
	return c.repo.EditReview(n, v, c.flag("by", ""), text(c.args[2]))
}

func submit(c *command) error {
	n, err := c.number()
	if err != nil {
		return err
	}
	return c.repo.SubmitPending(n, c.args[1], c.args[2], c.rest(3))
}

// thread finds a comment of the thread that is named by a comment or by its place in the pull
// request, from 1.
func (c *command) thread(n int) (int64, error) {
	place, err := strconv.Atoi(c.args[1])
	if err != nil || place > 1000 {
		return c.id(c.args[1])
	}
	for _, rc := range c.repo.ReviewComments(n) {
		if rc.InReplyTo == 0 {
			if place--; place == 0 {
				return rc.ID, nil
			}
		}
	}
	return 0, fmt.Errorf("pull request %d has no thread %s", n, c.args[1])
}

func resolve(c *command) error {
	return byActor(func(c *command, n int, who string) error {
		top, err := c.thread(n)
		if err != nil {
			return err
		}
		return c.repo.Resolve(top, who)
	})(c)
}

func unresolve(c *command) error {
	return byActor(func(c *command, n int, who string) error {
		top, err := c.thread(n)
		if err != nil {
			return err
		}
		return c.repo.Unresolve(top, who)
	})(c)
}

func merge(c *command, n int, who string) error {
	_, err := c.repo.Merge(n, who, c.flag("method", ""))
	return err
}

func push(c *command) error {
	who, err := c.by()
	if err != nil {
		return err
	}
	_, err = c.repo.PushCommit(c.args[0], who, map[string]string{c.args[1]: text(c.args[2])}, c.flag("message", "Change "+c.args[1]))
	return err
}

func forcePush(c *command) error {
	who, err := c.by()
	if err != nil {
		return err
	}
	files := map[string]string{"forced.txt": "forced\n"}
	if len(c.args) > 2 {
		files = map[string]string{c.args[1]: text(c.args[2])}
	}
	_, err = c.repo.ForcePush(c.args[0], who, c.flag("onto", ""), files, c.flag("message", "Rewritten"))
	return err
}

func deleteBranch(c *command) error {
	who, err := c.by()
	if err != nil {
		return err
	}
	return c.repo.DeleteBranch(c.args[0], who)
}
