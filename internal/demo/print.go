package demo

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/terminal"
)

// say prints a line of the story, in the width of the terminal.
func (d *demo) say(format string, about ...any) {
	fmt.Fprint(d.out.W, d.out.Fit(fmt.Sprintf(format+"\n", about...)))
}

// exactly prints a line that people copy.
func (d *demo) exactly(line string) { fmt.Fprintln(d.out.W, line) }

// chapter begins a part of the story.
func (d *demo) chapter(title string) { d.say("\n%s", d.out.Bold(title)) }

// passChapter begins a part of the story that the next pass belongs to.
func (d *demo) passChapter(title string) {
	d.chapter(fmt.Sprintf("Pass %d: %s", len(d.passes)+1, title))
}

// ran shows a command of ours that was run.
func (d *demo) ran(args string) { d.say("  %s", d.out.Dim("$ gh mergexo "+args)) }

// did tells what a person did, and quotes it.
func (d *demo) did(who, what, words string) {
	d.say("  %-7s %s", who, what)
	if words != "" {
		d.say("          %s", d.out.Paint("36", words))
	}
}

// columns prints rows below one another, indented.
func (d *demo) columns(rows [][]string) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.TrimRight("    "+strings.Join(terminal.Each(row, terminal.OneLine), "\t"), "\t "))
	}
	_ = w.Flush() // into memory
	fmt.Fprint(d.out.W, d.out.Fit(b.String()))
}

// diff shows what changed between two commits of the repository.
func (d *demo) diff(ctx context.Context, from, to string) error {
	text, err := d.sees().gitOutput(ctx, "diff", "--no-color", "--no-ext-diff", "--no-renames", from, to)
	if err != nil {
		return err
	}
	for line := range strings.Lines(text) {
		d.diffLine(strings.TrimRight(line, "\n"))
	}
	return nil
}

// diffLine prints a line of git's diff. Of the header lines it prints only the
// file name.
func (d *demo) diffLine(line string) {
	switch {
	case strings.HasPrefix(line, "+++ b/"):
		d.say("      %s", d.out.Bold(line[len("+++ b/"):]))
	case hasAnyPrefix(line, "diff --git ", "index ", "--- ", "new file mode ", "@@ "):
	case strings.HasPrefix(line, "+"):
		d.exactly("      " + d.out.Paint("32", line))
	case strings.HasPrefix(line, "-"):
		d.exactly("      " + d.out.Paint("31", line))
	default:
		d.exactly(strings.TrimRight("      "+line, " "))
	}
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

// conversation shows what stands under a pull request on the GitHub.
func (d *demo) conversation(pull int) {
	d.say("  #%d on the GitHub now:", pull)
	d.threads(pull)
	d.reviews(pull)
	for _, c := range d.repo.Comments(pull) {
		d.comment(c, "")
	}
}

// threads shows what is said on lines.
func (d *demo) threads(pull int) {
	for _, c := range d.repo.ReviewComments(pull) {
		where := "  in reply"
		if c.InReplyTo == 0 {
			where = fmt.Sprintf("  on %s:%d", c.Path, c.Line)
			if c.Line == 0 {
				where = "  on " + c.Path + ", an earlier version"
			}
		}
		d.comment(c.Comment, where)
	}
}

// reviews shows the texts of reviews.
func (d *demo) reviews(pull int) {
	for _, v := range d.repo.Reviews(pull) {
		if v.Body != "" {
			d.comment(githubsim.Comment{Author: v.Author, Body: v.Body}, "  in a review that "+reviewWords[v.State])
		}
	}
}

var reviewWords = map[string]string{"CHANGES_REQUESTED": "requests changes", "COMMENTED": "comments", "APPROVED": "approves"}

func (d *demo) comment(c githubsim.Comment, where string) {
	seen := ""
	if slices.Contains(c.Reactions, operator+":eyes") {
		seen = "  [eyes]"
	}
	d.say("    %s%s", d.out.Bold(c.Author), d.out.Dim(where+seen))
	for line := range strings.Lines(visible(c.Body)) {
		d.say("      %s", strings.TrimRight(line, "\n"))
	}
}

var (
	htmlHidden = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)<!--.*?-->|</?sub>`) })
	htmlLink   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[([^\]]*)\]\(https://[^)]*\)`) })
)

// visible is what GitHub shows of a body: our markers are HTML comments, and the line
// that says who wrote it is small and has a link.
func visible(body string) string {
	return strings.TrimSpace(htmlLink().ReplaceAllString(htmlHidden().ReplaceAllString(body, ""), "$1"))
}

// sums prints what became of everything, and what it took.
func (d *demo) sums(ctx context.Context) error {
	d.chapter("What happened")
	rows := [][]string{{"ISSUE", "FLOW", "PULL REQUEST", "COMMITS", "REVIEWS", "REPLIES", "STATE", "TITLE"}}
	items, err := d.sees().items(ctx)
	if err != nil {
		return err
	}
	for _, it := range items {
		commits, err := d.sees().commits(ctx, it.PullRequest.Number)
		if err != nil {
			return err
		}
		rows = append(rows, []string{
			fmt.Sprintf("#%d", it.Number), it.Flow, fmt.Sprintf("#%d %s", it.PullRequest.Number, strings.ToLower(it.PullRequest.State)),
			fmt.Sprint(commits), fmt.Sprint(len(d.sees().verdicts(it.PullRequest.Number))), fmt.Sprint(len(d.sees().ours(it.PullRequest.Number))), it.State, it.Title,
		})
	}
	d.columns(rows)
	d.chapter("Requests to GitHub, dry runs apart")
	rows = [][]string{{"PASS", "WITH", "READS", "READS, 304", "GRAPHQL", "WRITES", "ALL"}}
	var sum passRequests
	for i, p := range d.passes {
		rows = append(rows, p.row(fmt.Sprint(i+1), p.What))
		sum.Reads, sum.Unchanged, sum.GraphQL, sum.Writes = sum.Reads+p.Reads, sum.Unchanged+p.Unchanged, sum.GraphQL+p.GraphQL, sum.Writes+p.Writes
	}
	d.columns(append(rows, sum.row("all", "")))
	d.say("  A 304 says that nothing has changed, and does not count against GitHub's limit.")
	return nil
}

func (p passRequests) row(name, what string) []string {
	return []string{name, what, fmt.Sprint(p.Reads), fmt.Sprint(p.Unchanged), fmt.Sprint(p.GraphQL), fmt.Sprint(p.Writes), fmt.Sprint(p.total())}
}
