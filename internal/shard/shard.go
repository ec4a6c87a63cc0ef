// Package shard divides repositories among machines that share nothing but their
// crontabs.
package shard

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// Shard is one machine's share of the repositories: the Index-th of Of, from 1. The zero
// Shard is all of them.
type Shard struct{ Index, Of int }

// most bounds the number of machines: each is weighed for each repository.
const most = 1000

// all is what people write for all of them.
const all = "all"

// Parse reads "i/n", or "all".
func Parse(s string) (Shard, error) {
	if s == all {
		return Shard{}, nil
	}
	i, n, ok := strings.Cut(s, "/")
	index, err := strconv.Atoi(i)
	of, err2 := strconv.Atoi(n)
	if !ok || err != nil || err2 != nil || of < 1 || of > most || index < 1 || index > of {
		return Shard{}, fmt.Errorf("%q is no share: want i/n, such as 1/2 for the first of two machines (n is at most %d), or all", s, most)
	}
	return Shard{index, of}, nil
}

func (s Shard) String() string {
	if s.All() {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}

// Argument is how people write it.
func (s Shard) Argument() string {
	if s.All() {
		return all
	}
	return s.String()
}

// Machine names the machine whose share it is, by how it is told of that.
func (s Shard) Machine() string {
	if s.All() {
		return "the machine that takes all repositories (--shard all)"
	}
	return fmt.Sprintf("machine %d of %d (--shard %s)", s.Index, s.Of, s)
}

// All reports whether every repository belongs to the share.
func (s Shard) All() bool { return s.Of == 0 }

// Takes reports whether a repository belongs to the share, by GitHub's node id of it.
func (s Shard) Takes(nodeID string) bool { return s.All() || s.Owner(nodeID) == s }

// Owner is the share that a repository belongs to, of as many as this is one of.
func (s Shard) Owner(nodeID string) Shard {
	if s.All() {
		return s
	}
	return Shard{owner(nodeID, s.Of), s.Of}
}

// owner is the machine of n that takes a repository: the one with the highest weight
// (rendezvous hashing; Thaler and Ravishankar, 1998). A further machine takes over only
// what it weighs most for, and nothing moves between the others.
func owner(nodeID string, n int) int {
	best, highest := 1, uint64(0)
	for i := 1; i <= n; i++ {
		if w := weight(nodeID, i); w > highest {
			best, highest = i, w
		}
	}
	return best
}

// weight may never change: two versions of the program would both take a repository, or
// neither.
func weight(nodeID string, i int) uint64 {
	sum := sha256.Sum256([]byte(nodeID + "\n" + strconv.Itoa(i)))
	return binary.BigEndian.Uint64(sum[:8])
}
