//go:build unix

package crashtest

import (
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

// judgement is how a pull request stands right before a request to merge it takes effect.
// It knows nothing of how the program decides: only GitHub, and what people and agents did.
type judgement struct {
	head   string
	closed []string
}

// landing is a commit that a merge of ours put on the base.
type landing struct {
	number    int
	head, oid string
}

func (v *vigil) judge(number int) judgement {
	p, _ := v.repo.Pull(number)
	j := judgement{head: p.HeadOID}
	add := func(closed bool, format string, args ...any) {
		if closed {
			j.closed = append(j.closed, fmt.Sprintf(format, args...))
		}
	}
	add(p.Draft, "it is a draft")
	add(v.verdicts[p.HeadOID] != approved, "the reviewer's verdict of this head is %q", v.verdicts[p.HeadOID])
	add(v.held[number], "it is held")
	add(v.human && !v.reviewed(p) && !v.words[p.HeadOID], "no person has approved this head")
	for _, is := range v.repo.Issues() {
		add(is.State == "open" && slices.Contains(is.Labels, "agent:freeze"), "issue #%d freezes", is.Number)
	}
	for _, said := range v.said {
		add(said.number == number && !v.answered(said), "%s is not answered", said.word)
	}
	required := slices.Concat(v.required, v.rules.Checks)
	if len(required) == 0 {
		required = slices.Sorted(maps.Keys(v.checks[p.HeadOID]))
	}
	for _, name := range required {
		add(v.checks[p.HeadOID][name] != "success", "the check %s is %q", name, v.checks[p.HeadOID][name])
	}
	return j
}

// reviewed reports whether a person has approved this head on GitHub, and still does.
func (v *vigil) reviewed(p githubsim.Pull) bool {
	last := v.lastReviews(p)
	for _, who := range []string{"ann", "bob"} {
		if r := last[who]; r.State == "APPROVED" && r.CommitOID == p.HeadOID {
			return true
		}
	}
	return false
}

// answered reports whether an agent has been told, and there is an answer.
func (v *vigil) answered(said *remark) bool {
	if !said.heard {
		return false
	}
	for _, c := range v.repo.Comments(said.number) {
		if c.Author == operator && c.ID > said.id {
			return true
		}
	}
	return slices.ContainsFunc(v.repo.ReviewComments(said.number), func(c githubsim.ReviewComment) bool { return c.Author == operator && c.ID > said.id })
}

// afterMerge sees what a request to merge has put on the base, whatever it was answered.
func (v *vigil) afterMerge(rq githubsim.Request, number int) {
	found, err := v.strangers()
	if err != nil || len(found) == 0 {
		v.complain(err)
		return
	}
	p, _ := v.repo.Pull(number)
	j := v.judged[rq.N]
	v.note("  landed #%d at %.8s as %.8s", number, p.HeadOID, found[0])
	if len(found) > 1 {
		v.complain(fmt.Errorf("#%d landed as %d commits: %s", number, len(found), found))
	}
	if p.HeadOID != j.head {
		v.complain(fmt.Errorf("#%d was to be merged at %s, and landed at %s", number, j.head, p.HeadOID))
	}
	for _, why := range j.closed {
		v.complain(fmt.Errorf("#%d landed at %s although %s", number, j.head, why))
	}
	for _, l := range v.landings {
		if l.number == number && (l.head == p.HeadOID || !v.halves[number]) {
			v.complain(fmt.Errorf("#%d landed at %s as %s, and now at %s as %s", number, l.head, l.oid, p.HeadOID, found[0]))
		}
	}
	v.complain(v.brings(found[0]))
	v.halves[number] = !p.Merged
	v.landings = append(v.landings, landing{number, p.HeadOID, found[0]})
	v.known(found...)
}

func (v *vigil) complain(err error) {
	if err != nil {
		v.wrong = append(v.wrong, err)
	}
}

// brings makes sure that a commit changes something: one that does not is a merge of what
// had landed already.
func (v *vigil) brings(oid string) error {
	err := exec.Command(v.programs.git, "-C", v.repo.GitDir(), "diff", "--quiet", oid+"^", oid).Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil
	}
	return errors.Join(err, fmt.Errorf("%s changes nothing", oid))
}

// mainline is the base's history without what merges brought in.
func (v *vigil) mainline() ([]string, error) {
	out, err := exec.Command(v.programs.git, "-C", v.repo.GitDir(), "rev-list", "--first-parent", "main").Output()
	return strings.Fields(string(out)), err
}

// mostToMerge is how many passes it may take until what is free is merged.
const mostToMerge = 14

// conclude opens all gates, and then everything lands but what is half merged.
func (v *vigil) conclude() error {
	v.note("calm")
	if err := v.free(); err != nil {
		return err
	}
	for range mostToMerge {
		v.mu.Lock()
		var left []githubsim.Pull
		for _, p := range v.open() {
			if !v.halves[p.Number] {
				left = append(left, p)
			}
		}
		err := errors.Join(v.wrong...)
		for _, p := range left {
			err = errors.Join(err, v.wave(p))
		}
		v.mu.Unlock()
		if err != nil || len(left) == 0 {
			return err
		}
		if err := v.tick(); err != nil {
			return err
		}
	}
	return fmt.Errorf("every gate is open, and %d passes did not merge; the next one would:\n%s", mostToMerge, v.would())
}

// would is what the next pass says it would do.
func (v *vigil) would() []byte {
	c := exec.Command(v.programs.mergexo, "tick", "--dry-run")
	c.Env = v.environ()
	out, _ := c.CombinedOutput()
	for _, p := range v.open() {
		for _, said := range v.repo.Comments(p.Number) {
			body, _, _ := strings.Cut(said.Body, "\n")
			out = fmt.Appendf(out, "#%d at %.8s, %s: %s\n", p.Number, p.HeadOID, said.Author, body)
		}
	}
	return out
}

// free takes away all that people have put in the way.
func (v *vigil) free() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.hub.ClearFaults()
	v.hub.LagMergeable(0)
	v.grumpy = 0
	v.later.Add(5)
	err := errors.Join(v.thaw(step{}), v.rule(step{}))
	for _, p := range v.open() {
		if v.halves[p.Number] {
			continue
		}
		if p.Draft {
			err = errors.Join(err, v.repo.MarkReady(p.Number, "ann"))
		}
		err = errors.Join(err, v.command(p.Number, "resume"), v.command(p.Number, "retry"))
	}
	return err
}

// against are the people whose last word is a request for changes.
func (v *vigil) against(p githubsim.Pull) (who []string) {
	last := v.lastReviews(p)
	for _, login := range []string{"ann", "bob"} {
		if last[login].State == "CHANGES_REQUESTED" {
			who = append(who, login)
		}
	}
	return who
}

// lastReviews are the last words of whoever reviewed it.
func (v *vigil) lastReviews(p githubsim.Pull) map[string]githubsim.Review {
	last := map[string]githubsim.Review{}
	for _, r := range v.repo.Reviews(p.Number) {
		if r.State == "APPROVED" || r.State == "CHANGES_REQUESTED" || r.State == "DISMISSED" {
			last[r.Author] = r
		}
	}
	return last
}

// wave lets a head pass: its checks are green, and a person approves of it.
func (v *vigil) wave(p githubsim.Pull) error {
	for _, name := range slices.Concat([]string{"ci"}, slices.Sorted(maps.Keys(v.checks[p.HeadOID]))) {
		if v.checks[p.HeadOID][name] != "success" {
			if err := v.report(p.HeadOID, name, "success"); err != nil {
				return err
			}
		}
	}
	for _, who := range v.against(p) {
		if _, err := v.repo.Review(p.Number, who, "APPROVE", ""); err != nil {
			return err
		}
	}
	if (v.human || v.rules.Approvals > 0) && !v.reviewed(p) { // a word may have come too close to a push to count
		_, err := v.repo.Review(p.Number, "bob", "APPROVE", "")
		return err
	}
	return nil
}
