package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"

	"github.com/mergexo/gh-mergexo/tick/env"
)

var (
	noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	app  = work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}
	us   = work.Account{ID: 1, Login: "operator"}
	ann  = work.Account{ID: 2, Login: "ann"}
	eve  = work.Account{ID: 3, Login: "eve"} // may not write
)

// crowd is the lower bound of the ids of many accounts. A third of them may not write.
const crowd = 100

// hub is a GitHub whose answers take the time of the test's clock only. Nothing changes it while
// passes read it.
type hub struct {
	env.GitHub
	time  *ticks
	page  int // items per page
	now   time.Time
	lists map[string][]entry // by path, oldest change first

	issues    map[int]github.Issue
	timelines map[int][]github.TimelineEvent
	comments  []github.Comment
	editors   map[string]work.Account // who edited comments last, by node id
	pulls     map[int]github.PullDetail

	open    []github.Pull // those that are open
	commits map[int][]work.Commit

	needs map[int]int // how many more requests it takes to read an issue or pull request

	mu     sync.Mutex
	walked map[string][]time.Time // by list: the times from which it was read
	begun  []time.Time            // when one of those that need more was begun
}

// entry is an item of a list.
type entry struct {
	at   time.Time
	what any
}

func (h *hub) Now() time.Time               { return h.now }
func (h *hub) Ahead() (time.Duration, bool) { return 0, true }

func (h *hub) Repository(ctx context.Context, name work.RepoName) (github.Repository, error) {
	return github.Repository{NodeID: "R1", ID: 1, Current: name, DefaultBranch: "main", CanPush: true}, h.time.ask(ctx)
}

func (h *hub) Viewer(ctx context.Context, _ string) (work.Account, string, bool, error) {
	return us, "", false, h.time.ask(ctx)
}

func (h *hub) Permission(ctx context.Context, _ work.RepoName, who work.Account) (string, error) {
	level := "write"
	if who == eve || who.ID > crowd && who.ID%3 == 0 {
		level = "read"
	}
	return level, h.time.ask(ctx)
}

func (h *hub) ListIssues(ctx context.Context, p transport.PageRequest) (transport.Page[github.Issue], error) {
	page, err := listed[github.Issue](ctx, h, "issues", p)
	for i, is := range page.Items {
		page.Items[i].Comments = len(h.said(is.Number))
	}
	return page, err
}

func (h *hub) ListComments(ctx context.Context, p transport.PageRequest) (transport.Page[github.Comment], error) {
	return listed[github.Comment](ctx, h, "comments", p)
}

func (h *hub) ListReviewComments(ctx context.Context, p transport.PageRequest) (transport.Page[github.ReviewComment], error) {
	return listed[github.ReviewComment](ctx, h, "reviews", p)
}

// listed returns a page of a list, chosen by GitHub's parameters since, state and page.
func listed[T any](ctx context.Context, h *hub, name string, p transport.PageRequest) (transport.Page[T], error) {
	u, err := url.Parse(p.URL)
	if err != nil {
		return transport.Page[T]{}, err
	}
	q := u.Query()
	since, number := github.SinceOf(p.URL), 1
	h.mu.Lock()
	h.walked[name] = append(h.walked[name], since)
	h.mu.Unlock()
	if n, err := strconv.Atoi(q.Get("page")); err == nil {
		number = n
	}
	var all []T
	for _, e := range h.lists[name] {
		is, isIssue := e.what.(github.Issue)
		if !e.at.Before(since) && (!isIssue || q.Get("state") != "open" || is.State == "open") {
			all = append(all, e.what.(T))
		}
	}
	from := min(len(all), (number-1)*h.page)
	out := transport.Page[T]{Items: all[from:min(len(all), from+h.page)]}
	if from+h.page < len(all) {
		q.Set("page", strconv.Itoa(number+1))
		u.RawQuery = q.Encode()
		out.Next = u.String()
	}
	sum := fnv.New64()
	fmt.Fprint(sum, out.Items)
	if h.page < 100 { // as if full, with more items added
		fmt.Fprint(sum, out.Next != "")
	}
	out.ETag = fmt.Sprintf("%x", sum.Sum64())
	if p.ETag == out.ETag {
		out.Items, out.NotModified = nil, true
	}
	return out, h.time.ask(ctx)
}

// said returns a conversation.
func (h *hub) said(number int) []github.Comment {
	return slices.DeleteFunc(slices.Clone(h.comments), func(c github.Comment) bool { return c.Number != number })
}

func (h *hub) Issue(ctx context.Context, _ work.RepoName, number int) (github.Issue, bool, error) {
	is, ok := h.issues[number]
	if d, isPull := h.pulls[number]; !ok && isPull { // a pull request is an issue, too
		is, ok = github.Issue{Number: number, IsPull: true, State: string(d.State), Body: d.Body, Author: d.Author, Labels: d.Labels, UpdatedAt: d.UpdatedAt}, true
	}
	is.Comments = len(h.said(number))
	return is, ok, h.time.ask(ctx)
}

func (h *hub) Pull(ctx context.Context, _ work.RepoName, number int) (github.Pull, bool, error) {
	d, ok := h.pulls[number]
	return d.Pull, ok, h.time.ask(ctx)
}

func (h *hub) PullsByHead(ctx context.Context, _ work.RepoName, head string) ([]github.Pull, error) {
	other := func(p github.Pull) bool { return p.Head != head }
	return slices.DeleteFunc(slices.Clone(h.open), other), h.time.ask(ctx)
}

func (h *hub) PullCommits(ctx context.Context, _ work.RepoName, number int) ([]work.Commit, error) {
	return h.commits[number], h.time.ask(ctx)
}

func (h *hub) Reviews(ctx context.Context, _ work.RepoName, _ int) ([]github.Review, error) {
	return nil, h.time.ask(ctx)
}

func (h *hub) Text(ctx context.Context, node string) (github.Text, bool, error) {
	for _, is := range h.issues {
		if is.NodeID == node {
			return github.Text{Title: is.Title, Body: is.Body}, true, h.time.ask(ctx)
		}
	}
	return github.Text{}, false, h.time.ask(ctx)
}

func (h *hub) Words(ctx context.Context, nodes []string) (map[string]work.Word, error) {
	words := map[string]work.Word{}
	for _, n := range nodes {
		words[n] = work.Word{Known: true, Editor: h.editors[n]}
	}
	return words, h.time.ask(ctx)
}

func (h *hub) Revisions(ctx context.Context, _ string) ([]github.Revision, error) {
	return nil, h.time.ask(ctx)
}

func (h *hub) TimelineOf(ctx context.Context, _ work.RepoName, number int) ([]github.TimelineEvent, error) {
	return h.timelines[number], h.askPages(ctx, len(h.timelines[number]))
}

func (h *hub) CommentsOf(ctx context.Context, _ work.RepoName, number int, since time.Time) ([]github.Comment, error) {
	talk := slices.DeleteFunc(h.said(number), func(c github.Comment) bool { return c.UpdatedAt.Before(since) })
	if err := h.askPages(ctx, len(talk)); err != nil {
		return nil, err
	}
	return talk, h.askLong(ctx, number)
}

func (h *hub) ReviewCommentsOf(ctx context.Context, _ work.RepoName, number int, since time.Time) (all []github.ReviewComment, err error) {
	for _, e := range h.lists["reviews"] {
		if c := e.what.(github.ReviewComment); c.Pull == number && !c.UpdatedAt.Before(since) {
			all = append(all, c)
		}
	}
	return all, h.askPages(ctx, len(all))
}

// askPages reads a list, page by page.
func (h *hub) askPages(ctx context.Context, items int) error {
	for range 1 + items/h.page {
		if err := h.time.ask(ctx); err != nil {
			return err
		}
	}
	return nil
}

// askLong sends the requests that only a long issue or pull request needs.
func (h *hub) askLong(ctx context.Context, number int) error {
	for i := range h.needs[number] {
		if err := h.time.ask(ctx); err != nil {
			return err
		}
		if i == 0 {
			h.mu.Lock()
			h.begun = append(h.begun, h.now)
			h.mu.Unlock()
		}
	}
	return nil
}

func (h *hub) Sweep(ctx context.Context, _ work.RepoName, ids []string) (github.Sweep, error) {
	s := github.Sweep{Viewer: us, Repo: github.RepoNode{NodeID: "R1"}}
	for _, id := range ids {
		d := h.pulls[numberOf(id)]
		s.Pulls = append(s.Pulls, github.PullLight{NodeID: id, Number: d.Number, State: d.State, HeadOID: d.HeadOID, Fingerprint: fmt.Sprint(d.UpdatedAt, d.State)})
	}
	return s, h.time.ask(ctx)
}

// tail is how many threads GitHub shows at least.
const tail = 3

func (h *hub) DetailsSince(ctx context.Context, ids []string, since map[string]time.Time) (all []github.PullDetail, missing []string, err error) {
	if err := h.time.ask(ctx); err != nil {
		return nil, nil, err
	}
	for _, id := range ids {
		if err := h.askLong(ctx, numberOf(id)); err != nil {
			return all, nil, err
		}
		d := h.pulls[numberOf(id)]
		d.CommentCount = len(h.said(numberOf(id)))
		left := 0
		for left+tail < len(d.Threads) && d.Threads[left].Comments[0].CreatedAt.Before(since[id]) {
			left++
		}
		if d.Threads = d.Threads[left:]; left > 0 {
			d.Since = since[id]
		}
		all = append(all, d)
	}
	return all, nil, nil
}

func nodeOf(number int) string { return fmt.Sprint("P", number) }

func numberOf(node string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(node, "P"))
	if err != nil {
		panic(err)
	}
	return n
}

// add lists an item; lists are sorted after all were added.
func (h *hub) add(list string, at time.Time, what any) {
	h.lists[list] = append(h.lists[list], entry{at, what})
}

func (h *hub) sort() {
	for _, list := range h.lists {
		slices.SortStableFunc(list, func(a, b entry) int { return a.at.Compare(b.at) })
	}
	slices.SortStableFunc(h.comments, func(a, b github.Comment) int { return cmp.Compare(a.ID, b.ID) })
}

// ticks is a clock that each request advances. A pass dies at one of the ticks.
type ticks struct {
	mu     sync.Mutex
	passed time.Duration
	asked  int
	limits []*limit
	fate
}

// fate is what happens to a pass.
type fate struct {
	latency time.Duration
	ends    int    // after that many requests somebody cancels it; 0: never
	allowed int    // the number of requests allowed; 0: any
	refused int    // the number of the request that is refused; 0: none
	dies    int    // the number of requests after which it dies; 0: never
	death   func() // called at the death; the pass has no effect afterwards
}

// errRefused is GitHub's error when it once has no answer.
var errRefused = errors.New("502 Bad Gateway")

// clean reports whether the pass comes to its own end.
func (f fate) clean() bool { return f.ends == 0 && f.dies == 0 && f.refused == 0 }

// limit is a context that ends by that clock.
type limit struct {
	context.Context
	clock *ticks
	at    time.Duration
	done  chan struct{}
	over  error
}

func (l *limit) Done() <-chan struct{} { return l.done }

func (l *limit) Err() error {
	l.clock.mu.Lock()
	defer l.clock.mu.Unlock()
	return l.over
}

func (c *ticks) until(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := &limit{Context: ctx, clock: c, at: c.passed + d, done: make(chan struct{})}
	c.limits = append(c.limits, l)
	return l, func() {}
}

func (c *ticks) ask(ctx context.Context) error {
	if err := ctx.Err(); err != nil { // nothing is sent
		return err
	}
	if err := c.tick(); err != nil {
		return err
	}
	return ctx.Err()
}

func (c *ticks) tick() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	c.passed += c.latency
	if c.asked == c.dies {
		c.death()
	}
	if c.asked == c.refused {
		return errRefused
	}
	for _, l := range c.limits {
		switch {
		case l.over != nil:
		case c.ends > 0 && c.asked >= c.ends:
			l.over = context.Canceled
			close(l.done)
		case c.passed > l.at:
			l.over = context.DeadlineExceeded
			close(l.done)
		}
	}
	if c.allowed > 0 && c.asked > c.allowed {
		return &work.WaitError{Until: noon.Add(time.Hour), Reason: work.Reason{Kind: work.WhyGitHubLimit}}
	}
	return nil
}

// begin resets the clock for a pass.
func (c *ticks) begin(f fate) { c.fate, c.passed, c.asked, c.limits = f, 0, 0, nil }

func TestMain(m *testing.M) { os.Exit(testhome.RunInMemory(m)) }
