package hubscript

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

var views = map[string]subcommand{
	"issues":         {0, showIssues},
	"pulls":          {0, showPulls},
	"subs":           {1, showSubIssues},
	"pull":           {1, showPull},
	"box":            {1, showBox},
	"queue":          {0, showQueue},
	"comments":       {1, showComments},
	"reviews":        {1, showReviews},
	"requested":      {1, showRequested},
	"statuses":       {1, showStatuses},
	"labels":         {1, showLabels},
	"repo-labels":    {0, func(c *command) error { c.lines(c.repo.RepoLabels()); return nil }},
	"reactions":      {1, showReactions},
	"timeline":       {1, showTimeline},
	"branches":       {0, showBranches},
	"log":            {1, showLog},
	"show":           {1, showFile},
	"dump":           {0, showDump},
	"requests":       {0, showRequests},
	"reset-requests": {0, resetRequests},
	"unknown":        {0, func(c *command) error { c.lines(c.hub.Unknown()); return nil }},
	"token":          {1, func(c *command) error { c.line("%s", githubsim.TokenOf(c.args[0])); return nil }},
	"git-dir":        {0, func(c *command) error { c.line("%s", c.repo.GitDir()); return nil }},
}

func (c *command) line(format string, args ...any) { c.print(fmt.Sprintf(format, args...) + "\n") }

func (c *command) lines(list []string) {
	for _, s := range list {
		c.line("%s", s)
	}
}

// htmlComment is what --bare leaves out, with the blank lines around it.
var htmlComment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\s*<!--[^>]*-->\s*$|<!--[^>]*-->`) })

// shown is a text as it is printed: indented, and without HTML comments when --bare is set.
func (c *command) shown(body string) string {
	body = strings.ReplaceAll(body, "\r\n", "\n")
	if c.has("bare") {
		for htmlComment().MatchString(body) {
			body = htmlComment().ReplaceAllString(body, "")
		}
	}
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(body, "\n"), "\n") {
		b.WriteString(strings.TrimRight("  "+line, " ") + "\n")
	}
	return b.String()
}

// braced are labels behind a title.
func braced(labels []string) string {
	if len(labels) == 0 {
		return ""
	}
	return " [" + strings.Join(labels, ", ") + "]"
}

func showIssues(c *command) error {
	for _, is := range c.repo.Issues() {
		if !is.IsPull {
			c.line("%d %s %s: %s%s", is.Number, is.State, is.Author, is.Title, braced(is.Labels))
		}
	}
	return nil
}

func showSubIssues(c *command) error {
	n, err := c.number()
	if err == nil {
		c.lines(c.repo.SubIssues(n))
	}
	return err
}

// stateOf is open, closed or merged.
func stateOf(p githubsim.Pull) string {
	if p.Merged {
		return "merged"
	}
	return p.State
}

func showPulls(c *command) error {
	for _, p := range c.repo.Pulls() {
		c.print(lineOf(p))
	}
	return nil
}

// lineOf is a pull request on a line.
func lineOf(p githubsim.Pull) string {
	s := fmt.Sprintf("%d %s %s: %s (%s -> %s)%s", p.Number, stateOf(p), p.Author, p.Title, p.Head, p.Base, braced(p.Labels))
	if p.Draft {
		s += " draft"
	}
	return s + "\n"
}

func showPull(c *command) error {
	n, err := c.number()
	if err != nil {
		return err
	}
	p, ok := c.repo.Pull(n)
	if !ok {
		return fmt.Errorf("there is no pull request %d", n)
	}
	c.print(lineOf(p))
	c.line("mergeable %s", strings.ToLower(p.Mergeable))
	if p.Body != "" {
		c.print(c.shown(p.Body))
	}
	return nil
}

// showBox prints what the merge box says: its state, the decision on reviews, and what is missing.
func showBox(c *command) error {
	n, err := c.number()
	if err != nil {
		return err
	}
	box, ok := c.repo.Box(n)
	if !ok {
		return fmt.Errorf("there is no pull request %d", n)
	}
	c.line("%s", strings.TrimSpace(box.State+" "+box.Decision))
	for _, text := range box.Missing {
		c.line("  %s", text)
	}
	return nil
}

// showQueue prints the merge queue, and whether a commit to land was built.
func showQueue(c *command) error {
	for _, q := range c.repo.Queue() {
		built := ""
		if q.Group != "" {
			built = " built"
		}
		c.line("%d %s at %d%s", q.Number, q.State, q.Position, built)
	}
	return nil
}

// showComments prints the conversation, then the comments on the diff.
func showComments(c *command) error {
	n, err := c.number()
	if err != nil {
		return err
	}
	author := c.flag("author", "")
	for _, x := range c.repo.Comments(n) {
		if author == "" || author == x.Author {
			c.line("%s %s%s", githubsim.Ordinal(x.ID), x.Author, braced(x.Reactions))
			c.print(c.shown(x.Body))
		}
	}
	for _, x := range c.repo.ReviewComments(n) {
		if author == "" || author == x.Author {
			c.line("%s %s %s%s", githubsim.Ordinal(x.ID), x.Author, where(x), braced(x.Reactions))
			c.print(c.shown(x.Body))
		}
	}
	return nil
}

// where is the place of a comment on the diff, with what became of it.
func where(x githubsim.ReviewComment) string {
	s := fmt.Sprintf("%s:%d", x.Path, x.Line)
	if x.InReplyTo != 0 {
		s = "re " + githubsim.Ordinal(x.InReplyTo)
	}
	if x.Outdated {
		s += " outdated"
	}
	if x.Pending {
		s += " draft"
	}
	if x.Resolved && x.InReplyTo == 0 {
		s += " resolved"
	}
	return s
}

// showReviews prints each with the commit that it is of.
func showReviews(c *command) error {
	n, err := c.number()
	if err != nil {
		return err
	}
	p, ok := c.repo.Pull(n)
	if !ok {
		return fmt.Errorf("there is no pull request %d", n)
	}
	commits, err := c.repo.Log(p.HeadOID)
	if err != nil {
		return err
	}
	for _, v := range c.repo.Reviews(n) {
		c.line("%s %s %s %s", githubsim.Ordinal(v.ID), v.Author, v.State, fromHead(commits, v.CommitOID))
		if v.Body != "" {
			c.print(c.shown(v.Body))
		}
	}
	return nil
}

// fromHead names a commit by how far it is behind the head: in stories its id differs from run to
// run.
func fromHead(commits []githubsim.Commit, oid string) string {
	switch i := slices.IndexFunc(commits, func(x githubsim.Commit) bool { return x.OID == oid }); {
	case i < 0:
		return "elsewhere"
	case i > 0:
		return fmt.Sprintf("head~%d", i)
	}
	return "head"
}

func showRequested(c *command) error {
	n, err := c.number()
	if err == nil {
		c.lines(c.repo.Requested(n))
	}
	return err
}

func showStatuses(c *command) error {
	for _, s := range c.repo.Statuses(c.args[0]) {
		c.line("%s", strings.TrimRight(fmt.Sprintf("%s %s %s: %s", s.Context, s.State, s.Creator, s.Description), ": "))
	}
	return nil
}

func showLabels(c *command) error {
	n, err := c.number()
	if err == nil {
		c.lines(c.repo.Labels(n))
	}
	return err
}

// showReactions prints those on the description, then those on the comments.
func showReactions(c *command) error {
	n, err := c.number()
	if err != nil {
		return err
	}
	each := func(name string, list []string) {
		for _, re := range list {
			c.line("%s %s", name, re)
		}
	}
	each("#"+c.args[0], c.repo.Reactions(n))
	for _, x := range c.repo.Comments(n) {
		each(githubsim.Ordinal(x.ID), x.Reactions)
	}
	for _, x := range c.repo.ReviewComments(n) {
		each(githubsim.Ordinal(x.ID), x.Reactions)
	}
	return nil
}

func showTimeline(c *command) error {
	n, err := c.number()
	if err != nil {
		return err
	}
	for _, e := range c.repo.Timeline(n) {
		c.line("%s", strings.TrimRight(e.Event+" "+e.Actor+" "+e.Label, " "))
	}
	return nil
}

func showBranches(c *command) error {
	c.lines(slices.Sorted(maps.Keys(c.repo.Branches())))
	return nil
}

func showLog(c *command) error {
	list, err := c.repo.Log(c.args[0])
	for _, x := range list {
		c.line("%s", x.Subject())
		if _, body, ok := strings.Cut(x.Message, "\n"); ok && c.has("full") {
			c.print(c.shown(strings.TrimPrefix(body, "\n")))
		}
	}
	return err
}

func showFile(c *command) error {
	ref, path, ok := strings.Cut(c.args[0], ":")
	if !ok {
		return fmt.Errorf("%q is not REF:FILE", c.args[0])
	}
	content, ok := c.repo.File(ref, path)
	if !ok {
		return fmt.Errorf("there is no %s", c.args[0])
	}
	c.print(content)
	return nil
}

func showDump(c *command) error {
	if c.has("bare") {
		c.print(c.hub.Dump(regexp.MustCompile(`<!--[^>]*-->`)))
		return nil
	}
	c.print(c.hub.Dump())
	return nil
}

// named reports whether a repository was named, or the story is in one.
func (c *command) named() bool { return c.flag("repo", c.at) != "" }

func resetRequests(c *command) error {
	if c.named() {
		c.repo.ForgetRequests()
		return nil
	}
	c.hub.ResetLog()
	return nil
}

func showRequests(c *command) error {
	n := 0
	for _, rq := range c.hub.Requests() {
		if c.has("writes") && !rq.Write || c.named() && !c.repo.Concerns(rq) {
			continue
		}
		n++
		if !c.has("number") {
			c.line("%s %s %d", rq.Method, rq.Path, rq.Status)
		}
	}
	if c.has("number") {
		c.line("%d", n)
	}
	return nil
}
