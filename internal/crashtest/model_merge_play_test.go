//go:build unix

package crashtest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

// vigil is one history of merges as it is played, with what the oracle needs to know.
type vigil struct {
	*world
	human    bool     // a person has to say so
	required []string // checks, by the config

	mu       sync.Mutex
	rules    githubsim.Rules
	verdicts map[string]string            // of the reviewer, by head; the last one
	checks   map[string]map[string]string // conclusions by head and name
	held     map[int]bool
	words    map[string]bool // heads that a person said may be merged
	said     []*remark
	bases    map[string]bool // commits of the base that are known: people's, and what landed
	landings []landing
	judged   map[int]judgement // by the number of the request that merges
	grumpy   int               // how often the reviewer will still request changes
	serial   int
	issues   int
	wrong    []error
	notes    []string

	answer  *answering   // to the next merge
	meddles *meddling    // of the next pass
	looked  bool         // this pass has read a merge box
	arrived int          // requests of this pass
	halves  map[int]bool // half merged
}

// remark is something that a person wants to be answered.
type remark struct {
	number int
	id     int64
	word   string // it is found by
	heard  bool   // by an agent
}

// meddling is what people do within a pass: at its start, after it has read a merge box,
// or right before it merges.
type meddling struct {
	s    step
	when int
}

const (
	meddleEarly = iota
	meddleAfterLook
	meddleAtMerge
)

// watch plays a history and says how much landed.
func (w *world) watch(h chronicle) (landed int, err error) {
	v := &vigil{
		world: w, verdicts: map[string]string{}, checks: map[string]map[string]string{}, held: map[int]bool{}, words: map[string]bool{},
		bases: map[string]bool{}, judged: map[int]judgement{}, halves: map[int]bool{},
	}
	policy := "max_fix_cycles = 50\nmerge_method = \"squash\"\n"
	if len(h) > 0 && h[0].verb == "begin" {
		if h[0].a&1 != 0 {
			v.human, policy = true, policy+"require_human_approval = true\n"
		}
		if h[0].a&2 != 0 {
			v.required, policy = []string{"ci"}, policy+"required_checks = [\"ci\"]\n"
		}
		if h[0].a&4 != 0 {
			policy = strings.Replace(policy, "squash", "merge", 1)
		}
		h = h[1:]
	}
	if err := w.begin(scenario{name: "merging", merges: true, reviews: v.review, hears: v.hear, policy: policy}); err != nil {
		return 0, err
	}
	w.plainGit.Store(true)
	w.rig.reset(point{})
	w.hub.OnRequest(v.onRequest)
	err = v.play(h)
	w.kill()
	err = errors.Join(err, w.end())
	if err != nil {
		err = fmt.Errorf("%w\nwhat happened:\n  %s", err, strings.Join(v.notes, "\n  "))
	} else if *playedMerges != "" {
		fmt.Println(strings.Join(v.notes, "\n"))
	}
	return len(v.landings), err
}

func (v *vigil) play(h chronicle) error {
	first, err := v.mainline()
	if err != nil {
		return err
	}
	v.known(first...)
	for _, s := range h {
		if s.verb == "pass" {
			v.later.Add(2)
		}
		v.note("%s", s)
		if len(v.open()) == 0 && s.verb != "open" {
			if err := v.start(); err != nil {
				return err
			}
		}
		if err := v.do(s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		if err := errors.Join(v.wrong...); err != nil {
			return err
		}
	}
	return v.conclude()
}

func (v *vigil) note(format string, args ...any) {
	v.notes = append(v.notes, fmt.Sprintf(format, args...))
}

// do is what people do, or a pass.
func (v *vigil) do(s step) error {
	switch s.verb {
	case "pass":
		return v.tick()
	case "open":
		return v.start()
	case "answer":
		if err := v.ripen(s); err != nil {
			return err
		}
		v.answer = replied[s.a%len(replied)]
		v.note("  %s", v.answer.name)
		return v.strikes()
	case "meddle":
		if err := v.ripen(s); err != nil {
			return err
		}
		v.meddles = &meddling{step{meddlers[s.b%len(meddlers)], s.a, s.b / len(meddlers)}, s.a % 3}
		v.note("  %s, when %d", v.meddles.s, v.meddles.when)
		return v.strikes()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return mergeDeeds[s.verb](v, s)
}

// ripen has a pull request stand right before its merge: behind a freeze, which is over
// then.
func (v *vigil) ripen(s step) error {
	p, ok := v.pull(s.a)
	if !ok {
		return nil
	}
	if err := v.freeze(s); err != nil {
		return err
	}
	for range 4 {
		p, _ = v.repo.Pull(p.Number)
		v.mu.Lock()
		v.later.Add(2)
		err := v.clear(p)
		waits := v.judge(p.Number).closed
		v.mu.Unlock()
		if err != nil {
			return err
		}
		if err := v.tick(); err != nil {
			return err
		}
		if len(waits) == 1 { // the freeze; and that pass has seen it
			break
		}
	}
	v.later.Add(2)
	return v.thaw(s)
}

// strikes makes passes until what was to happen has happened, but no more than two.
func (v *vigil) strikes() error {
	for range 2 {
		if err := v.tick(); err != nil {
			return err
		}
		v.mu.Lock()
		over := v.meddles == nil && v.answer == nil
		v.mu.Unlock()
		if over {
			break
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.meddles, v.answer = nil, nil
	return nil
}

// tick makes a pass. One that dies, or that GitHub answers with errors, may end badly.
func (v *vigil) tick() error {
	v.mu.Lock()
	v.looked, v.arrived = false, 0
	v.mu.Unlock()
	_, err := v.pass()
	if err != nil {
		v.note("  %v", err)
	}
	v.hub.ClearFaults()
	return nil
}

// mostMerging bounds how much is worked on in one history.
const mostMerging = 3

// start has an issue worked on until its pull request is there.
func (v *vigil) start() error {
	if v.issues == mostMerging {
		return nil
	}
	v.issues++
	if _, err := v.repo.OpenIssue("ann", fmt.Sprintf("Crash %d", v.issues), "Please.", "agent:bugfix"); err != nil {
		return err
	}
	return v.tick()
}

// open are the pull requests that can be merged.
func (v *vigil) open() (all []githubsim.Pull) {
	for _, p := range v.repo.Pulls() {
		if p.Author == operator && p.State == "open" {
			all = append(all, p)
		}
	}
	return all
}

// hear notes what an agent is asked to answer.
func (v *vigil) hear(r request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, said := range v.said {
		for _, e := range r.Context.NewEvents {
			said.heard = said.heard || r.Kind != "review" && strings.Contains(e.Body, said.word)
		}
	}
}

// review is the reviewer's verdict, and what the oracle keeps of it.
func (v *vigil) review(r request) verdict {
	v.mu.Lock()
	defer v.mu.Unlock()
	head := r.Context.Task.PullRequest.Head
	if v.grumpy > 0 {
		v.grumpy--
		v.verdicts[head] = "requests changes"
		return verdict{finds: fmt.Sprintf("Say why, and this time more clearly than in cycle %d.", r.Context.Review.Cycle)}
	}
	v.verdicts[head] = approved
	return verdict{}
}

const approved = "approves"

// answering is what GitHub does with one merge.
type answering struct {
	name  string
	fault githubsim.Fault
	repo  func(*githubsim.Repo)
	kill  bool
}

var replied = []*answering{
	{name: "500, half merged", repo: func(r *githubsim.Repo) { r.HalveNextMerges(1) }},
	{name: "500, and not merged", fault: githubsim.Fault{Status: http.StatusInternalServerError}},
	{name: "500, and merged", fault: githubsim.Fault{Status: http.StatusInternalServerError, Applied: true}},
	{name: "the answer is lost", fault: githubsim.LoseAnswer()},
	{name: "the request is lost", fault: githubsim.LoseRequest()},
	{name: "405, base modified", repo: refuse(http.StatusMethodNotAllowed, "Base branch was modified. Review and try the merge again.")},
	{name: "405, not mergeable", repo: refuse(http.StatusMethodNotAllowed, "Pull Request is not mergeable")},
	{name: "409", repo: refuse(http.StatusConflict, "Head branch was modified. Review and try the merge again.")},
	{name: "405, and merged", fault: githubsim.Fault{Status: http.StatusMethodNotAllowed, Applied: true}},
	{name: "killed, and not merged", kill: true, fault: githubsim.LoseRequest()},
	{name: "killed, and merged", kill: true, fault: githubsim.LoseAnswer()},
	{name: "half merged, and the answer lost", fault: githubsim.LoseAnswer(), repo: func(r *githubsim.Repo) { r.HalveNextMerges(1) }},
}

func refuse(status int, message string) func(*githubsim.Repo) {
	return func(r *githubsim.Repo) { r.RefuseNextMerges(1, status, message) }
}

// onRequest is the hub's hook: what people do within a pass, and the oracle's eye.
func (v *vigil) onRequest(rq githubsim.Request) {
	v.mu.Lock()
	number, merge := mergeOf(rq)
	box := strings.Contains(rq.Body, "mergeStateStatus")
	var kill bool
	switch {
	case !rq.Done && merge:
		kill = v.beforeMerge(rq, number)
	case merge:
		v.afterMerge(rq, number)
	case !rq.Done && !v.looked && !box:
		v.arrived++
		if m := v.meddles; m != nil && m.when == meddleEarly && v.arrived > 2+m.s.b*3 {
			v.meddle()
		}
	case box && rq.Done:
		v.looked = true
		if m := v.meddles; m != nil && m.when == meddleAfterLook {
			v.meddle()
		}
	}
	v.mu.Unlock()
	if kill {
		v.kill()
	}
	v.rig.onRequest(rq)
}

func mergeOf(rq githubsim.Request) (number int, ok bool) {
	if rq.Method != http.MethodPut || !strings.HasSuffix(rq.Path, "/merge") {
		return 0, false
	}
	parts := strings.Split(rq.Path, "/")
	_, err := fmt.Sscan(parts[len(parts)-2], &number)
	return number, err == nil
}

// beforeMerge judges a merge that is about to be carried out, and lets happen what was to
// happen at the next one.
func (v *vigil) beforeMerge(rq githubsim.Request, number int) (kill bool) {
	v.judged[rq.N] = v.judge(number)
	if m := v.meddles; m != nil && m.when == meddleAtMerge {
		v.meddles = nil
		v.hub.AddFault(githubsim.Fault{Request: rq.N, Applied: true, Do: func() error {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.later.Add(2)
			return mergeDeeds[m.s.verb](v, m.s)
		}})
		return false
	}
	a := v.answer
	if a == nil {
		return false
	}
	v.answer = nil
	v.note("  #%d: %s", number, a.name)
	if a.repo != nil {
		a.repo(v.repo)
	}
	if f := a.fault; f.Drop || f.Status != 0 {
		f.Request = rq.N
		v.hub.AddFault(f)
	}
	return a.kill
}

// meddle has people do something while a pass works.
func (v *vigil) meddle() {
	m := v.meddles
	v.meddles = nil
	v.note("  now %s", m.s)
	if err := mergeDeeds[m.s.verb](v, m.s); err != nil {
		v.wrong = append(v.wrong, err)
	}
}

func (v *vigil) known(oids ...string) {
	for _, oid := range oids {
		v.bases[oid] = true
	}
}

// strangers are commits of the base that nobody is known to have put there.
func (v *vigil) strangers() ([]string, error) {
	all, err := v.mainline()
	return slices.DeleteFunc(all, func(oid string) bool { return v.bases[oid] }), err
}
