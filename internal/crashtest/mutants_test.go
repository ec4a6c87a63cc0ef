//go:build unix

package crashtest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// mutant is the program with one guard taken out.
type mutant struct {
	guard    string // what is taken out
	quick    bool   // it is taken out wherever all tests are asked for
	file     string
	edits    []edit                // in that file
	scenario string                // in which it shows
	points   func(history) []point // nil: the scenario itself shows it
}

// edit replaces a piece of source that must be there exactly once: code that
// was rewritten must not disarm a control in silence.
type edit struct{ old, new string }

// mutants are the guards that exactly once stands on.
func mutants() []mutant {
	return []mutant{
		{
			guard: "look before sending", quick: true, file: "actions/actions.go", scenario: "feedback", points: diesAfterReplies,
			edits: []edit{{`
	if a, err = r.settle(ctx, s, a, seen); err != nil || a.State.Settled() {
		return a, err
	}
`, `
`}},
		},
		{
			guard: "no wording in a token", file: "tick/turn/actions.go", scenario: "feedback", points: losesAllAfterReplies,
			edits: []edit{{
				`work.ReplyToken(c.l.Repo.Row.Key(), t.Number, id, e.Hash)`,
				`work.ReplyToken(c.l.Repo.Row.Key(), t.Number, id, e.Hash+r.Body)`,
			}},
		},
		{
			guard: "the stored commit is the one that is pushed", file: "tick/turn/finalize.go", scenario: "bugfix", points: diesBeforePushes,
			edits: []edit{
				{`
	push, pushes, err := plannedPush(l, now.planned)
	if err != nil {
		return err
	}
`, `
	push, pushes, err := plannedPush(l, now.planned)
	if err != nil {
		return err
	}
	if pushes && l.Resumed {
		l.Checkout.Dir = filepath.Join(p.Dirs.CheckoutParent(l.Repo.Row), fmt.Sprintf("worker-%d", l.Turn.Slot))
		l.Checkout.Index = l.Checkout.Dir + ".index"
		answer, _ := storedAnswer(l.Turn)
		made, err := l.Repo.Git().CommitTree(ctx, git.Commit{
			Dir: l.Checkout.Dir, Index: l.Checkout.Index, Parents: l.Parents(), From: l.CheckoutTree(), Date: env.GitDate(l.Turn),
			Turn: l.Turn.Key, Handled: l.Uncommitted(), Message: commitMessage(l, answer),
		})
		if err != nil {
			return err
		}
		l.Turn.Commit, push.Head = made.OID, made.OID
	}
`},
				{`
	"fmt"
	"time"
`, `
	"fmt"
	"path/filepath"
	"time"
`},
			},
		},
		{
			guard: "intent on disk", file: "actions/actions.go", scenario: "feedback", points: repliesUnlisted,
			edits: []edit{{`
	if a, s.Names, err = r.intend(ctx, s.Names, a, createsSecond(e, a.Kind)); err != nil {
		return r.renewed(ctx, a, err)
	}
`, `
`}},
		},
		{
			guard: "intent before the send, not after", file: "actions/actions.go", scenario: "feedback", points: diesRepliesUnlisted,
			edits: []edit{{`
	if a, s.Names, err = r.intend(ctx, s.Names, a, createsSecond(e, a.Kind)); err != nil {
		return r.renewed(ctx, a, err)
	}
	if r.Alive != nil {
		if err := r.Alive(ctx); err != nil {
			return a, err
		}
	}
	done, err := e.do(ctx, s, a)
	return r.recordResult(ctx, s, a, done, err)
`, `
	done, sent := e.do(ctx, s, a)
	if a, s.Names, err = r.intend(ctx, s.Names, a, createsSecond(e, a.Kind)); err != nil {
		return r.renewed(ctx, a, err)
	}
	return r.recordResult(ctx, s, a, done, sent)
`}},
		},
		{
			// The context ends with the session as well, once somebody has asked for it.
			guard: "a look for the session before an effect", file: "actions/actions.go", scenario: "comments on a fleet", points: stopsAfterIntents,
			edits: []edit{{`
	if r.Alive != nil {
		if err := r.Alive(ctx); err != nil {
			return a, err
		}
	}
`, `
	ctx = context.WithoutCancel(ctx)
`}},
		},
		{
			guard: "look for the sub-issue before it is opened", file: "actions/child.go", scenario: "unfold", points: diesAfterChildren,
			edits: []edit{
				{`
	if seen, ok, err := e.among(s, a, children); ok || err != nil {
		return seen, ok, err
	}
	since`, `
	_ = children
	since`},
				{`
	return e.among(s, a, all)
`, `
	_, _, err = e.among(s, a, all)
	return observation{}, false, err
`},
			},
		},
		{
			guard: "nothing begins before its edges are set", file: "internal/work/roadmap/next.go", scenario: "unfold", points: edgesRefused,
			edits: []edit{ // the label comes last, and work with a label that people set waits
				{`if c.Step == Made && linked {`, `if c.Step == Made {`},
				{`return !slices.Contains(c.Edges, id) }):
			return Links`, `return !slices.Contains(c.Edges, id) }):
			return ""`},
			},
		},
		{
			guard: "a turn is closed after its effects", file: "tick/turn/apply.go", scenario: "feedback", points: diesAfterReplies,
			edits: []edit{
				{`
	for i, a := range l.Planned {
		if overtaken(l, l.Planned) {
`, `
	if err := p.Advance(ctx, l, work.StepApplied); err != nil {
		return err
	}
	for i, a := range l.Planned {
		if overtaken(l, l.Planned) {
`},
				{`
	return p.Advance(ctx, l, work.StepApplied)
`, `
	return nil
`},
			},
		},
		{
			guard: "cursors together with the numbers", file: "tick/ingest/changed.go", scenario: "feedback", points: diesInIngest,
			edits: []edit{{
				"for _, c := range changed {",
				"for _, c := range changed[:0] {",
			}},
		},
		{
			guard: "locks of a dead git are removed", file: "internal/git/mirror.go", scenario: "bugfix", points: diesWithAnswers,
			edits: []edit{{`
	if err := m.removeStale(); err != nil {
		return err
	}
	return do()
`, `
	return do()
`}},
		},
		{
			guard: "the lock of a slot", file: "tick/folder/lock.go", scenario: "bugfix", points: meetsOthers,
			edits: []edit{{`
	path := d.slotPath(k)
	l, ok, err := TryLock(path)
`, `
	path := d.slotPath(k)
	l, ok, err := FileLock{f: flock.New(path)}, true, error(nil)
`}},
		},
		{
			guard: "look before a review", file: "actions/review.go", scenario: "review approves", points: diesAfterReviews,
			edits: []edit{{
				`if r.State != statePending && (isOurs(s, a, r.Body, r.Author) || sameReview(s, a, r)) {`,
				`if a.State == "" && (isOurs(s, a, r.Body, r.Author) || sameReview(s, a, r)) {`,
			}},
		},
		{
			guard: "a part of a review that answered is not asked again", file: "tick/turn/review_parts.go", scenario: "review in parts", points: diesWithAnswers,
			edits: []edit{{
				`if part.Answer == nil {`,
				`if part.Answer == nil || part.Prompt != "" {`,
			}},
		},
		{
			guard: "the answer of the tool is of this run", file: "internal/agent/tool.go", scenario: "answer by the tool", points: diesAfterTheTool,
			edits: []edit{{`
	if err := files.Remove(dir); err != nil {
		return err
	}
	task, err := json.Marshal(Task{Kind: r.Kind, Context: r.Context})
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
`, `
	task, err := json.Marshal(Task{Kind: r.Kind, Context: r.Context})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
`}, {
				`return checkout + ".answer"`,
				`return filepath.Join(filepath.Dir(checkout), "answer")`,
			}},
		},
		{
			guard: "what a set-up made is used if it is whole", file: "tick/turn/setup.go", scenario: "set-up", points: diesAtEvenWrites,
			edits: []edit{{
				`if isWhole(made) {`,
				`if isWhole(made) || made != "" {`,
			}},
		},
		{
			guard: "what a set-up made is kept once all is copied", file: "tick/turn/setup.go", scenario: "set-up", points: diesWithSetup,
			edits: []edit{
				{`
	if isFresh(made, s.Local()) {
`, `
	if left := s.made(setupNew); isFresh(left, s.Local()) {
		return left, res, nil
	}
	if isFresh(made, s.Local()) {
`},
			},
		},
		{
			guard: "a verdict counts for its head", file: "internal/work/review/decide.go", scenario: "push during a review",
			edits: []edit{
				{
					`func (d *decision) isCurrent(v Verdict) bool { return d.f.isAbout(v) && v.Validity != TakenBack }`,
					`func (d *decision) isCurrent(v Verdict) bool { return v.Validity != TakenBack }`,
				},
				{`
		if v.Reviewer == name && d.f.isAbout(v) {
			return v, d.isCurrent(v)
`, `
		if v.Reviewer == name {
			return v, d.isCurrent(v)
`},
			},
		},
		{
			guard: "the head is looked at again after a review", file: "tick/turn/review_end.go", scenario: "push during a review",
			edits: []edit{{`
	if !ok || now == l.Turn.Head {
		return nil
	}
`, `
	if !ok || now != "" {
		return nil
	}
`}},
		},
		{
			guard: "a marker on each comment of a review", file: "tick/turn/review_actions.go", scenario: "request, fix, approve",
			edits: []edit{{
				`body := c.signed(c.finding(x), work.Marks{Token: r.tokens[i], Finding: review.MarkFinding(marked)})`,
				`body := c.finding(x) + "\n\n" + review.MarkFinding(marked)[:0] + r.tokens[i][:0]`,
			}},
		},
		{
			guard: "sessions by role", file: "internal/work/turn.go", scenario: "request, fix, approve",
			edits: []edit{{`
func (u Turn) Role() string {
	if u.Kind == KindReview {
`, `
func (u Turn) Role() string {
	if u.Kind == "" {
`}},
		},
		{
			guard: "a merge names the head that is meant", file: "internal/github/merge.go", scenario: "push before the merge",
			edits: []edit{{"SHA     string         `json:\"sha\"`", "SHA     string         `json:\"-\"`"}},
		},
		{
			guard: "the gates are computed again before a merge", file: "tick/merge/look.go", scenario: "comment before the merge",
			edits: []edit{
				{`
		if some, err = (news{o}).hasNew(ctx, j); err != nil {
`, `
		if err != nil {
`},
				{`
	box, err := o.box(ctx, j)
	if err != nil {
		return d, err
	}
	box.Looked = *began
	var v known.Snapshot
`, `
	var box merging.Box
	err = o.store.View(ctx, func(tx *store.Tx) (err error) {
		box, _, err = tx.GetBox(ctx, j.pull.ID)
		return err
	})
	if err != nil {
		return d, err
	}
	_ = began
	var v known.Snapshot
`},
			},
		},
		{
			guard: "the last look reads reviews", file: "internal/work/merging/gates.go", scenario: "changes requested before the merge",
			edits: []edit{
				{`len(g.f.Against) > 0: // even`, `len(g.f.Against) > 1000: // even`},
				{`b.UpdatedAt.After(g.f.Pull.UpdatedAt), b.Fresh():`, `b.Draft && b.Fresh():`},
			},
		},
		{
			guard: "who approved is asked for permission before a merge", file: "tick/merge/look.go", scenario: "who approved may not write",
			edits: []edit{{`
		if err := o.askApprovers(ctx, j); err != nil {
			return d, err
		}
`, `
`}},
		},
		{
			guard: "the base is compared with the one that was approved", file: "tick/merge/send.go", scenario: "base rewritten before the merge",
			edits: []edit{{`
	if err != nil || bases == j.pull.MergeBase {
`, `
	if err != nil || bases != "" {
`}},
		},
		{
			guard: "a look at the base after an answer that is unclear", file: "actions/merge.go", scenario: "half merged",
			edits: []edit{{`
	found, _, err := s.Branches.FindLanded(ctx, "", tip, a.Head, a.Token)
	return found.OID, err
`, `
	_, _, err = s.Branches.FindLanded(ctx, "", tip, a.Head, a.Token)
	return "", err
`}},
		},
		{
			guard: "what landed is compared", file: "tick/merge/land.go", scenario: "another tree lands",
			edits: []edit{{`
	if l.Same {
		return ""
`, `
	if l.Same || l.OID != "" {
		return ""
`}},
		},
		{
			guard: "a head is queued once", file: "tick/ingest/merge_queue.go", scenario: "taken out of the queue",
			edits: []edit{{
				`return tx.SetMergeTrouble(ctx, one.pull.ID, one.now.Head, work.Reason{Kind: work.WhyMergeQueueOut, Number: one.pull.Number, Names: one.left.red, Text: one.left.reason, Head: one.now.Head})`,
				`return tx.SetMergeTrouble(ctx, one.pull.ID, one.now.Head, work.Reason{})`,
			}},
		},
		{
			guard: "epochs are compared", file: "store/claim.go", scenario: "comments on a fleet", points: awakesDuringTheNextTurn,
			edits: []edit{{
				"WHERE id = ? AND `+of.column+` IN (?, ?)`, c.epoch, c.id, c.from, c.epoch)",
				"WHERE id = ?`, c.epoch, c.id)",
			}},
		},
		{
			guard: "locks are on the connection of the session", file: "store/session.go", scenario: "comments on a fleet", points: stopsWithAnswers,
			edits: []edit{
				{`
		rows, err := s.conn.Query(ctx, ` + "`SELECT k, pg_try_advisory_lock(k) FROM unnest(`+array(secret, asked)+`) AS k`" + `)
		if err != nil {
			return err
		}
		var key int64
		var free bool
		_, err = pgx.ForEachRow(rows, []any{&key, &free}, func() error {
			if free {
				got = append(got, of[key])
			}
			return nil
		})
		return err
`, `
		rows, err := s.pool.SQL.QueryContext(ctx, ` + "`SELECT k, pg_try_advisory_lock(k) FROM unnest(`+array(secret, asked)+`) AS k`" + `)
		if err != nil {
			return err
		}
		defer rows.Close()
		var key int64
		var free bool
		for rows.Next() {
			if err := rows.Scan(&key, &free); err != nil {
				return err
			}
			if free {
				got = append(got, of[key])
			}
		}
		return rows.Err()
`},
				{`if locks < len(s.held) {`, `if locks < 0 {`},
			},
		},
	}
}

// module is the root of the source.
const module = "../.."

// build makes the mutant's binary. The source tree stays as it is: the compiler
// reads one file of it from elsewhere.
func (m mutant) build(dir string) (binary string, err error) {
	real, err := filepath.Abs(filepath.Join(module, filepath.FromSlash(m.file)))
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(real)
	if err != nil {
		return "", err
	}
	text, err := m.apply(string(source))
	if err != nil {
		return "", err
	}
	mutated, overlay := filepath.Join(dir, filepath.Base(m.file)), filepath.Join(dir, "overlay.json")
	instead, err := json.Marshal(map[string]any{"Replace": map[string]string{real: mutated}})
	if err != nil {
		return "", err
	}
	for name, content := range map[string][]byte{mutated: []byte(text), overlay: instead} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			return "", err
		}
	}
	binary = filepath.Join(dir, "gh-mergexo")
	c := exec.Command("go", "build", linked, "-overlay", overlay, "-o", binary, "./cmd/gh-mergexo")
	c.Dir, c.Env = module, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build without %q: %w\n%s", m.guard, err, out)
	}
	return binary, nil
}

// apply takes the guard out of a source text.
func (m mutant) apply(source string) (string, error) {
	for _, e := range m.edits {
		if n := strings.Count(source, e.old); n != 1 {
			return "", fmt.Errorf("%s has the guard %q %d times, not once; adapt this control to the code:\n%s", m.file, m.guard, n, e.old)
		}
		source = strings.Replace(source, e.old, e.new, 1)
	}
	return source, nil
}
