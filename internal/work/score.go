// This file ranks the implementations that wait. It is pure.

package work

import (
	"fmt"
	"path"
	"strings"
	"time"
)

// The range of priorities; higher starts first.
const (
	MinPriority = 1
	MaxPriority = 5
)

// The weights of a score.
const (
	priorityWeight = 1.0 // for each level of priority
	conflictWeight = 5.0 // for a full risk of conflict
	waitingWeight  = 0.5 // for each day of waiting
)

// LongestPassed is how long after an implementation another one may be added and still start before
// it. Later ones never do, because no difference in priority or risk outweighs the longer wait.
const LongestPassed = time.Duration(((MaxPriority-MinPriority)*priorityWeight + conflictWeight) / waitingWeight * 24 * float64(time.Hour))

// Footprint is what an implementation changes, or will change.
type Footprint struct {
	Files map[string]bool
	Size  string // S, M or L
}

// Score is an implementation's score and its terms. The highest score starts first.
type Score struct {
	Total    float64
	Priority int     // 1 to 5
	Risk     float64 // how likely it conflicts with work under way: 0.7 × Overlap + 0.2 × Modules + 0.1 × Size, 0 to 1
	Overlap  float64 // files that both it and the work most like it change, divided by the files that either changes; 0 to 1
	Modules  float64 // the share of its folders in which that work changes files, too; 0 to 1
	Size     float64 // the design's estimated_size as a number: 0 for S or none, 0.5 for M, 1 for L
	Days     float64 // days since it could have started
}

// ScoreOf scores a waiting implementation against the active ones. Only the highest risk of
// conflict counts: a sum would let many harmless ones outweigh one collision.
func ScoreOf(priority int, waiting time.Duration, own Footprint, active []Footprint) Score {
	s := Score{Priority: priority, Size: sizeOf(own.Size), Days: waiting.Hours() / 24}
	s.Risk = 0.1 * s.Size
	for _, other := range active {
		files, modules := jaccard(own.Files, other.Files), shared(modulesOf(own.Files), modulesOf(other.Files))
		if risk := 0.7*files + 0.2*modules + 0.1*s.Size; risk > s.Risk {
			s.Overlap, s.Modules, s.Risk = files, modules, risk
		}
	}
	s.Total = priorityWeight*float64(priority) - conflictWeight*s.Risk + waitingWeight*s.Days
	return s
}

func sizeOf(size string) float64 {
	switch size {
	case "M":
		return 0.5
	case "L":
		return 1
	}
	return 0
}

// jaccard returns the number of files in both sets divided by the number of files in either.
func jaccard(a, b map[string]bool) float64 {
	both := 0
	for f := range a {
		if b[f] {
			both++
		}
	}
	if all := len(a) + len(b) - both; all > 0 {
		return float64(both) / float64(all)
	}
	return 0
}

// shared is the share of a's members that are also in b.
func shared(a, b map[string]bool) float64 {
	both := 0
	for m := range a {
		if b[m] {
			both++
		}
	}
	if len(a) == 0 {
		return 0
	}
	return float64(both) / float64(len(a))
}

// modulesOf returns the first two segments of the files' folders.
func modulesOf(files map[string]bool) map[string]bool {
	modules := map[string]bool{}
	for f := range files {
		parts := strings.SplitN(path.Dir(f), "/", 3)
		modules[strings.Join(parts[:min(2, len(parts))], "/")] = true
	}
	return modules
}

// Terms formats a score with its terms.
func (s Score) Terms() string {
	return fmt.Sprintf("%.2f (priority %d, conflict risk %.2f = files %.2f, modules %.2f, size %.1f; waiting %.1f days)",
		s.Total, s.Priority, s.Risk, s.Overlap, s.Modules, s.Size, s.Days)
}
