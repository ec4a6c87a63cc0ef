package agent

import (
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// maxStderr bounds an agent's standard error, in bytes: each line becomes a line of the log.
const maxStderr = 16 << 20

// LimitError means that a run was stopped because it used too much memory or disk, ran too many
// processes, or wrote too much. Its changes in the checkout are worth keeping.
type LimitError struct {
	Agent string
	Did   string // "used more than 8 GiB of memory"; nothing private to this machine
	Hint  string // what a person can do; empty: the usual advice for a stop
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("agent %q was stopped: it %s", e.Agent, e.Did)
}

// passed returns the error for the limit at which a run was stopped.
func (s Spec) passed(res proc.Result) error {
	e := &LimitError{Agent: s.Name}
	switch res.Passed {
	case proc.MemoryLimit:
		e.Did, e.Hint = s.tooMuchMemory(), limitHint("max_memory")
	case proc.ProcessLimit:
		e.Did, e.Hint = s.tooManyProcesses(), "ask for less in a comment"
	case proc.DiskLimit:
		e.Did, e.Hint = s.tooMuchDisk(), limitHint("max_disk")
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

func (s Spec) tooManyProcesses() string {
	return fmt.Sprintf("ran more than %d processes at a time", s.MaxProcesses)
}

func (s Spec) tooMuchDisk() string {
	return "took more than " + work.SizeText(s.MaxDisk) + " of the disk"
}

// disk returns the disk limits of a run.
func (s Spec) disk(r Request, purpose work.Purpose) proc.Disk {
	d := proc.Disk{Most: s.MaxDisk, Grows: []string{r.Dir}}
	j := s.job(r, purpose)
	if s.Rooms != nil {
		d.Whole = s.Rooms.Folders(j)
	}
	if j.Answer != "" {
		d.Whole = append(d.Whole, j.Answer)
	}
	return d
}

func (s Spec) removeRunFolders(r Request, purpose work.Purpose) {
	if s.Rooms != nil {
		s.Rooms.Leave(s.job(r, purpose))
	}
}

func (s Spec) job(r Request, purpose work.Purpose) work.Job {
	j := work.Job{Dir: r.Dir, Item: r.Item, Role: r.Role, For: purpose, Offline: r.Offline, Mark: r.mark()}
	if purpose == work.RunsAgent && s.offersTool(r) {
		j.Answer = AnswerFolder(r.Dir)
	}
	return j
}

// limitHint is the hint for a limit set in the config.
func limitHint(key string) string {
	return fmt.Sprintf("ask for less in a comment; or raise `%s` in [runtime] of the config on the machine that runs gh mergexo", key)
}

const quiet = "ask for less in a comment, or see in the log of the machine that runs gh mergexo what it wrote"
