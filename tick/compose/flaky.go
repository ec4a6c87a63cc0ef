package compose

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/prompts/public"
)

// flaky plans what an answer about a flaky test asks for: an issue for it, and
// one more run of the jobs that failed, unless a change makes new ones run.
func (c *composer) flaky() {
	f, t := c.answer.FlakyTest, c.l.Turn
	if f == nil || len(c.l.Red) == 0 {
		return
	}
	name := public.Title(f.Name)
	var seen strings.Builder
	for _, check := range c.l.Red[:min(len(c.l.Red), MostDescribed)] {
		fmt.Fprintf(&seen, "- %s (%s)\n", public.Behind(check.Name), check.URL)
	}
	token := work.IssueToken(c.l.Repo.Row.Key(), t.Number, t.Head, f.Name)
	body := fmt.Sprintf("%s\n\nSeen in the checks of #%d at %s:\n%s", public.Body(f.Reason), t.Number, t.Head, seen.String())
	c.add(work.Action{
		Kind: work.ActionIssue, Need: work.NeedRequired, Token: token, Number: t.Number, Title: public.NoClosing(public.Title("Flaky test: " + name)),
		Body: prompts.Bounded(public.NoClosing(body), c.l.DisclosedAside, work.Marks{Token: token}), Why: t.Reason,
	})
	for _, run := range c.l.Rerunnable() {
		id := strconv.FormatInt(run.ID, 10)
		c.add(work.Action{
			Kind: work.ActionRerun, Need: work.NeedRequired, Token: work.RerunToken(c.l.Repo.Row.Key(), t.Number, t.Head, id), Number: t.Number,
			Target: id, Base: strconv.Itoa(run.Attempt), Head: t.Head, Why: t.Reason,
		})
	}
}

// flakyText tells people about a flaky test.
func (c *composer) flakyText() string {
	f := c.answer.FlakyTest
	if f == nil {
		return ""
	}
	text := fmt.Sprintf("A test looks flaky: %s. %s", public.Behind(f.Name), public.Behind(f.Reason))
	switch {
	case len(c.l.Red) == 0 || c.l.Turn.Commit != "":
		return text
	case len(c.l.Rerunnable()) > 0:
		return text + "\n\nIts failed jobs run again, once."
	}
	return text + "\n\nIts checks cannot be run again from here. Please have them run again, or say what is to be done."
}
