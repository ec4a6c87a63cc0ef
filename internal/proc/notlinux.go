//go:build !linux

package proc

import (
	"context"
)

// held returns the family's resident memory at the last look, as ps reports it; shared memory
// counts once per process.
func (f *family) held() int64 { return f.resident }

// shares returns what held returns, because only Linux reports shared memory.
func (f *family) shares() int64 { return f.resident }

// memoryFiles returns 0: only Linux reports it without running a program.
func memoryFiles([]int) int64 { return 0 }

// received returns 0: only Linux reports it without running a program.
func (f *family) received() uint64 { return 0 }

// openRemoved returns 0: only Linux reports it without running a program.
func openRemoved([]int, []string) int64 { return 0 }

// guard does nothing: only Linux gives a process its orphans.
func guard() error { return nil }

func adopting() bool { return false }

func orphans([]entry, string) []entry { return nil }

func endOrphans(context.Context, string) {}

// Inside finds nobody: only Linux shows where processes work.
func Inside(context.Context, string) (bool, error) { return false, nil }
