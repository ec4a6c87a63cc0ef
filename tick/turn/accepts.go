package turn

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/prompts/public"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// mostSubjects is how many commits of the base are read for the form of titles.
const mostSubjects = 20

var (
	pullNumber  = lazy.Regexp(` \(#\d+\)$`)
	mergeCommit = lazy.Regexp(`^Merge (pull request #\d+|branch|remote-tracking branch) `)
)

// accepts returns what the repository expects of a pull request's title and text, as the base branch has
// it in the mirror; nil for a turn that writes none.
func (p *briefs) accepts(ctx context.Context, l *env.Lease) (*prompts.Accepts, error) {
	writes := l.Turn.Kind.Start() && !l.Turn.Kind.Document()
	if !writes && l.Shown.Number == 0 {
		return nil, nil //nolint:nilnil // it needs none
	}
	git := l.Repo.Git()
	base, ok, err := git.Head(ctx, l.Turn.Base)
	if err != nil || !ok {
		return nil, err
	}
	paths, err := git.ListFiles(ctx, base)
	if err != nil {
		return nil, fmt.Errorf("look for a template of pull requests: %w", err)
	}
	var a prompts.Accepts
	template, rules := prompts.FindAccepts(paths)
	for path, to := range map[string]*string{template: &a.Template, rules: &a.Rules} {
		if path == "" {
			continue
		}
		text, _, err := git.ReadFile(ctx, base, path)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		*to = strings.ToValidUTF8(string(text), "\uFFFD")
	}
	commits, err := git.Log(ctx, "", base, mostSubjects)
	if err != nil {
		return nil, err
	}
	for _, c := range commits {
		if c.Turn == "" && c.Subject != "" && !mergeCommit().MatchString(c.Subject) {
			a.Titles = append(a.Titles, pullNumber().ReplaceAllString(c.Subject, ""))
		}
	}
	return &a, nil
}

// editPull plans a new title and text of the pull request, where the agent saw both. What the agent
// leaves as it is, is no part of it. The new text closes what the former one closes, and nothing else.
func (c *composer) editPull() {
	t, seen := c.l.Turn, c.l.StoredContext().Task.PullRequest
	if seen == nil || seen.Version == "" {
		return
	}
	former := seen.Title + "\n" + seen.Text
	title := public.NoNewClosing(public.Title(c.answer.Title), former)
	body := public.NoNewClosing(public.Body(c.answer.Description), former)
	if title == seen.Title {
		title = ""
	}
	if body == seen.Text {
		body = ""
	}
	if title == "" && body == "" {
		return
	}
	own := fmt.Sprintf("#%d", c.l.Item.Number)
	if body != "" && slices.Contains(public.Closes(seen.Text), own) && !slices.Contains(public.Closes(body), own) {
		body += "\n\nCloses " + own // not the words of our own line, which is no part of the text
	}
	c.add(work.Action{
		Kind: work.ActionEditPull, Need: work.NeedRequired, Token: work.EditPullToken(c.l.Repo.Row.Key(), t.Number, t.Key), Number: t.Number,
		Title: title, Body: body, Base: seen.Version, Head: t.Head, Why: t.Reason,
	})
}
