//go:build unix

package story

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/testpg"
)

// How often the stories that only MERGEXO_TEST plays may start the program, and how many processes it may
// start for them. A change that needs more says why in the pull request.
const (
	mostStarts    = 4_500
	mostProcesses = 43_000
)

// cost is what a story took.
type cost struct {
	starts, processes int64
	cpu               time.Duration
}

// spending is what the stories of a run took, by name.
type spending struct {
	mu   sync.Mutex
	by   map[string]cost
	late atomic.Int64 // the stories that were left out for want of time
}

var spent = spending{by: map[string]cost{}}

// add notes a story's costs at its end. Its folder is named by it, in a folder of its topic.
func (s *spending) add(workDir string, w *world) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := filepath.Base(filepath.Dir(workDir)) + "/" + strings.TrimPrefix(filepath.Base(workDir), "script-")
	s.by[name] = cost{w.clock.starts.Load(), w.clock.processes.Load(), time.Duration(w.clock.cpu.Load())}
}

// total sums up the costs of all that was played.
func (s *spending) total() cost {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sumOf(maps.Values(s.by))
}

func sumOf(costs iter.Seq[cost]) (sum cost) {
	for c := range costs {
		sum.starts, sum.processes, sum.cpu = sum.starts+c.starts, sum.processes+c.processes, sum.cpu+c.cpu
	}
	return sum
}

// most are the stories that took the most CPU, and how much.
func (s *spending) most(n int) (lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := slices.SortedFunc(maps.Keys(s.by), func(a, b string) int { return cmp.Compare(s.by[b].cpu, s.by[a].cpu) })
	for _, name := range names[:min(n, len(names))] {
		lines = append(lines, fmt.Sprintf("%s %.1f s", name, s.by[name].cpu.Seconds()))
	}
	return lines
}

// print says what was played, what it took and what was left out.
func (s *spending) print() {
	sum := s.total()
	if len(s.by) == 0 {
		return
	}
	fmt.Printf("%d stories: %d starts of the program, which started %d processes; %.0f s of CPU; most: %s\n",
		len(s.by), sum.starts, sum.processes, sum.cpu.Seconds(), strings.Join(s.most(10), ", "))
	if late := s.late.Load(); late > 0 {
		fmt.Printf("left out: %d stories, which had not begun when three quarters of go test's limit had passed; a longer -timeout plays them\n", late)
	}
	if !testhome.Long() {
		fmt.Printf("left out: the other stories, real agents, PostgreSQL, kills at each point; %s=long plays them\n", testhome.Variable)
	}
}

// checkCosts compares the stories that only MERGEXO_TEST plays with the limits, if all of them were played.
// It counts. Their CPU is printed alone: what it takes depends on what else the machine does.
func checkCosts(t *testing.T) {
	if !testhome.Long() || testpg.Set() {
		return
	}
	stories := map[string]cost{}
	for _, file := range others(t) {
		c, ok := spent.by[storyName(file)]
		if !ok {
			return
		}
		stories[storyName(file)] = c
	}
	sum := sumOf(maps.Values(stories))
	if sum.starts > mostStarts || sum.processes > mostProcesses {
		t.Errorf("the stories start the program %d times, which starts %d processes; the limits are %d and %d", sum.starts, sum.processes, mostStarts, mostProcesses)
	}
}
