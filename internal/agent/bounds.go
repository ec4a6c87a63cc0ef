package agent

import (
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// maxStderr is how much an agent may write to its standard error, in bytes: each
// line of it is a line of the log.
const maxStderr = 16 << 20

// LimitError says that a run was ended because it took more than it may. What it
// left in the checkout is worth keeping.
type LimitError struct {
	Agent string
	Did   string // "used more than 8 GiB of memory": nothing that is this machine's business
	Hint  string // what a person can do; empty: what is done about every stop
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("agent %q was ended: it %s", e.Agent, e.Did)
}

// passed says what a run was ended for.
func (s Spec) passed(res proc.Result) error {
	e := &LimitError{Agent: s.Name}
	switch res.Passed {
	case proc.MemoryLimit:
		e.Did, e.Hint = s.tooMuchMemory(), raise("max_memory")
	case proc.DiskLimit:
		e.Did, e.Hint = s.tooMuchDisk(), raise("max_disk")
	case proc.StderrLimit:
		e.Did, e.Hint = "wrote more than "+work.SizeText(maxStderr)+" to standard error", quiet
	default:
		e.Did, e.Hint = "wrote more than "+work.SizeText(MaxStream)+" of output", quiet
	}
	return e
}

func (s Spec) tooMuchMemory() string {
	return "used more than " + work.SizeText(s.MaxMemory) + " of memory"
}

func (s Spec) tooMuchDisk() string {
	return "took more than " + work.SizeText(s.MaxDisk) + " of the disk"
}

// disk is what a run may take of the disk.
func (s Spec) disk(r Request, purpose work.Purpose) proc.Disk {
	d := proc.Disk{Most: s.MaxDisk, Grows: []string{r.Dir}}
	if s.Rooms != nil {
		d.Whole = s.Rooms.Folders(job(r, purpose))
	}
	return d
}

func (s Spec) leave(r Request, purpose work.Purpose) {
	if s.Rooms != nil {
		s.Rooms.Leave(job(r, purpose))
	}
}

func job(r Request, purpose work.Purpose) work.Job {
	return work.Job{Dir: r.Dir, Item: r.Item, Role: r.Role, For: purpose}
}

// raise is what can be done about a limit of the config.
func raise(key string) string {
	return fmt.Sprintf("ask for less in a comment; or raise `%s` in [runtime] of the config on the machine that runs gh mergexo", key)
}

const quiet = "ask for less in a comment, or see in the log of the machine that runs gh mergexo what it wrote"
