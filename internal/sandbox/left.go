package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// The record of a run lies beside its private folders, where no command inside can read or write it.
// It has three parts: what we know before the start, the shell's line of proc_pid_stat(5), which is
// also bubblewrap's, and what bubblewrap writes once the first process of its namespace exists and
// before it starts the command.
//
// That process is found by its pid and start, which nobody can change. A command can rewrite its own
// environment and, with ptrace, the first process's environment and death signal. It cannot leave the
// namespace, and all processes there die with the first one.
type origin struct {
	Mark string `json:"mark"` // of the run
	Boot string `json:"boot"` // of the system: after another one the pid is somebody else's
}

func (b Box) recordPath(j work.Job) string { return recordIn(b.around(j)) }

func recordIn(around string) string { return filepath.Join(around, "origin") }

// maxRecord bounds a record in bytes.
const maxRecord = 16 << 10

// endLeft ends what runs in the sandbox of a record that is about this mark; "" is any. It reports
// whether something was ended.
func endLeft(ctx context.Context, record, mark string) bool {
	text, err := os.ReadFile(record)
	if err != nil || len(text) > maxRecord {
		return false
	}
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	starter, rest, _ := bytes.Cut(rest, []byte("\n"))
	var o origin
	var inside struct {
		First int `json:"child-pid"`
	}
	if json.Unmarshal(first, &o) != nil || json.Unmarshal(rest, &inside) != nil {
		return false // bubblewrap had not started it
	}
	if o.Boot != proc.Boot() || mark != "" && o.Mark != mark {
		return false
	}
	return proc.EndFirst(ctx, inside.First, string(starter))
}

// EndLeft ends what a dead pass's run with this mark left in its sandbox. parents hold checkouts. It
// returns how many sandboxes it ended.
func EndLeft(ctx context.Context, parents []string, mark string) int {
	ended := 0
	for _, parent := range parents {
		entries, err := os.ReadDir(parent)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), Around("")) && endLeft(ctx, recordIn(filepath.Join(parent, e.Name())), mark) {
				ended++
			}
		}
	}
	return ended
}

// recorded prepends a shell that opens files for bubblewrap: the record and the call filter. Each
// descriptor is closed before the command starts.
func (t Tool) recorded(b Box, j work.Job, line []string) ([]string, error) {
	first, err := json.Marshal(origin{Mark: j.Mark, Boot: proc.Boot()})
	if err == nil {
		err = os.WriteFile(b.recordPath(j), append(first, '\n'), 0o600)
	}
	calls := filepath.Join(b.around(j), "calls")
	if err == nil && t.filters {
		err = os.WriteFile(calls, callFilter(), 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("make a file for the sandbox: %w", err)
	}
	const record, filter = "8", "9"
	open, options := `exec `+record+`>>"$0"; `, []string{"--info-fd", record}
	if t.filters {
		open, options = open+`exec `+filter+`<"$1"; `, append(options, "--seccomp", filter)
	}
	shell := []string{"/bin/sh", "-c", open + `read -r started </proc/self/stat; echo "$started" >&` + record + `; shift; exec "$@"`, b.recordPath(j), calls, line[0]}
	return append(append(shell, options...), line[1:]...), nil
}
