//go:build unix

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// distance is how long each request takes: as long as to a host on another continent.
const distance = 150 * time.Millisecond

// times is how often a turn is measured; the first one, which clones, is not.
const times = 3

// wait is a turn from what a person does to what they see of it.
type wait struct {
	whole []trip // the passes
	shown []trip // as far as a person waits for it
}

func (f *wait) add(t *testing.T, p, shown trip) {
	t.Helper()
	if len(shown.requests) == 0 {
		t.Fatalf("what was waited for never came:\n%s", p)
	}
	f.whole, f.shown = append(f.whole, p), append(f.shown, shown)
}

func (f *wait) figures(goal float64) []figure {
	walls := func(all []trip) time.Duration { return middle(all, func(p trip) time.Duration { return p.wall }) }
	return []figure{
		seconds("wall until it is seen", walls(f.shown)).atMost(goal),
		count("rounds until it is seen", middle(f.shown, trip.rounds)),
		count("requests until it is seen", middle(f.shown, func(p trip) int { return len(p.requests) })),
		seconds("wall of the pass", walls(f.whole)),
		count("rounds of the pass", middle(f.whole, trip.rounds)),
		count("requests of the pass", middle(f.whole, func(p trip) int { return len(p.requests) })),
	}
}

func middle[N int | time.Duration](all []trip, of func(trip) N) N {
	var list []N
	for _, p := range all {
		list = append(list, of(p))
	}
	slices.Sort(list)
	return list[len(list)/2]
}

func measureLabel(t *testing.T, l *lab) []figure {
	w := newFlowWorld(t, l.program())
	w.openIssue(t)
	w.passes(t, 3) // the first one clones
	var f wait
	for range times {
		w.openIssue(t)
		p := w.travel(t, distance)
		f.add(t, p, p.until("POST", ".*/pulls"))
		w.passes(t, 2)
	}
	return f.figures(1.5)
}

func measureComment(t *testing.T, l *lab) []figure {
	w := newFlowWorld(t, l.program())
	issue := w.openIssue(t)
	w.passes(t, 3)
	var f wait
	for range times {
		w.remark(t, issue+1)
		p := w.travel(t, distance)
		f.add(t, p, p.until("POST", ".*/replies"))
		w.passes(t, 2)
	}
	return f.figures(1.2)
}

// openIssue asks for work.
func (w *world) openIssue(t *testing.T) int {
	t.Helper()
	issue, err := w.repo.OpenIssue(reviewer, "Do it", "Please.", label)
	must(t, err)
	return issue
}

// remark asks for a change of it.
func (w *world) remark(t *testing.T, pull int) {
	t.Helper()
	_, err := w.repo.ReviewComment(pull, reviewer, "work.txt", 1, "More.")
	must(t, err)
}

// measureTurn measures the whole pass of a turn, with git, the sandbox and the agent's program.
func measureTurn(t *testing.T, l *lab) []figure {
	w := newFlowWorld(t, l.program())
	w.openIssue(t)
	w.passes(t, 3) // the first one clones
	var turn, gh []reading
	for range l.runs {
		w.openIssue(t)
		turn = append(turn, w.measure(t, os.Getenv("PATH"), l.binary(), "tick"))
		gh = append(gh, l.ghUser(t, w))
		w.passes(t, 2)
	}
	figures := []figure{milliseconds("CPU", median(turn, used)), ratio("CPU / gh api user", median(turn, used), median(gh, used)).keep()}
	strace, err := exec.LookPath("strace")
	if err != nil {
		progress("strace is missing, which counts calls of the file system")
		return figures
	}
	w.openIssue(t)
	log := filepath.Join(t.TempDir(), "calls")
	w.measure(t, os.Getenv("PATH"), strace, "-f", "-qq", "--seccomp-bpf", "-e", "trace=%file,?clone,?clone3,?fork,?vfork", "-o", log, l.binary(), "tick")
	calls, err := os.ReadFile(log)
	must(t, err)
	if keep := os.Getenv("MERGEXO_BENCH_CALLS"); keep != "" {
		must(t, os.WriteFile(keep, calls, 0o600))
	}
	ours, remotes := countCalls(string(calls))
	progress("git's other end, which is GitHub's, makes %d more", remotes)
	return append(figures, count("calls of the file system", ours).atMost(9000))
}

// traced is a line of strace: the process, the call or the rest of an earlier one, and its result.
var traced = regexp.MustCompile(`^(\d+) +(<\.\.\. )?(\w+)(?:\(| resumed>)(.*?)(?: = (\d+))?$`)

// countCalls counts the calls of the file system in a trace; remotes are those of the programs that
// git starts as the other end of a fetch or push, with what these start.
func countCalls(trace string) (ours, remotes int) {
	parents, remote, calls := map[string]string{}, map[string]bool{}, map[string]int{}
	for line := range strings.Lines(trace) {
		m := traced.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			continue // a signal
		}
		pid, resumed, call, args, result := m[1], m[2] != "", m[3], m[4], m[5]
		switch {
		case slices.Contains([]string{"clone", "clone3", "fork", "vfork"}, call):
			if result != "" {
				parents[result] = pid
			}
			continue
		case call == "execve" && (strings.Contains(args, `"git-upload-pack `) || strings.Contains(args, `"git-receive-pack `)):
			remote[pid] = true
		}
		if !resumed {
			calls[pid]++
		}
	}
	for pid, n := range calls {
		at := pid
		for at != "" && !remote[at] {
			at = parents[at]
		}
		if at == "" {
			ours += n
		} else {
			remotes += n
		}
	}
	return ours, remotes
}

func TestCountCalls(t *testing.T) {
	ours, remotes := countCalls(`1 execve("/bin/gh-mergexo", ["gh-mergexo", "tick"], 0x1 /* 9 vars */) = 0
1 openat(AT_FDCWD, "/etc/a = 7", O_RDONLY) = 3
1 vfork( <unfinished ...>
2 execve("/bin/sh", ["/bin/sh", "-c", "git-upload-pack '/hub/a.git'", "git-upload-pack '/hub/a.git'"], 0x2 /* 9 vars */ <unfinished ...>
1 <... vfork resumed>) = 2
2 <... execve resumed>) = 0
2 clone(child_stack=NULL, flags=SIGCHLD) = 3
3 access("/hub/a.git", F_OK) = -1 ENOENT (No such file or directory)
3 +++ exited with 0 +++
1 clone3({flags=CLONE_VM, exit_signal=SIGCHLD}, 88) = 4
4 newfstatat(AT_FDCWD, "/etc", {st_mode=S_IFDIR|0755, st_size=4096, ...}, 0) = 0
`)
	if ours != 3 || remotes != 2 {
		t.Errorf("%d of ours, %d of the remote's", ours, remotes)
	}
}

// measureGit counts what the program starts, not what git starts by itself.
func measureGit(t *testing.T, l *lab) []figure {
	w := newFlowWorld(t, l.program())
	issue := w.openIssue(t)
	w.passes(t, 3)
	w.openIssue(t)
	start := w.countGit(t)
	w.passes(t, 2)
	w.remark(t, issue+1)
	feedback := w.countGit(t)
	progress("a start: %s", spread(start))
	progress("feedback: %s", spread(feedback))
	return []figure{
		count("processes of a start", len(start)).atMost(20),
		count("processes of a turn of feedback", len(feedback)).atMost(20),
	}
}

// countGit makes a pass and lists the calls of git that it made.
func (w *world) countGit(t *testing.T) []string {
	t.Helper()
	git, err := exec.LookPath("git")
	must(t, err)
	dir := t.TempDir()
	calls := filepath.Join(dir, "calls")
	text := fmt.Sprintf("#!/bin/sh\necho \"$*\" >>%s\nexec %s \"$@\"\n", calls, git)
	must(t, os.WriteFile(filepath.Join(dir, "git"), []byte(text), 0o700))
	w.work(t, "PATH="+dir+":"+os.Getenv("PATH"))
	text2, err := os.ReadFile(calls)
	must(t, err)
	return strings.Split(strings.TrimSpace(string(text2)), "\n")
}

// spread says how often which command of git was called.
func spread(calls []string) string {
	n := map[string]int{}
	for _, c := range calls {
		words := strings.Fields(c)
		for i := 0; i < len(words); i++ { // over git's own options
			if words[i] == "-c" || words[i] == "-C" {
				i++
				continue
			}
			if !strings.HasPrefix(words[i], "-") {
				n[words[i]]++
				break
			}
		}
	}
	var out []string
	for command, times := range n {
		out = append(out, fmt.Sprintf("%d %s", times, command))
	}
	slices.Sort(out)
	slices.Reverse(out)
	return strings.Join(out, ", ")
}
