//go:build linux

package proc

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Options of prctl(2).
const (
	prSetDumpable       = 4
	prSetChildSubreaper = 36
)

func guard() error {
	for _, option := range [][2]uintptr{{prSetChildSubreaper, 1}, {prSetDumpable, 0}} {
		if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, option[0], option[1], 0); errno != 0 {
			return fmt.Errorf("prctl %d: %w", option[0], errno)
		}
	}
	return nil
}

// adopting reports whether every descendant of ours that outlives its parent becomes our child.
func adopting() bool { return guarding.Load() }

// endOrphans ends orphans of an agent's run that became our children. It spares processes that this
// package started, survivors of our own programs and processes with the mark of another live run.
// If a process dropped its mark, its agent is unknown, and the first run that ends kills it.
func endOrphans(ctx context.Context, mark string) {
	if !adopting() {
		return
	}
	pause := time.Millisecond
	for range 50 { // children of a killed one become ours next
		if adoptees(ctx, mark) == 0 {
			return
		}
		time.Sleep(pause)
		pause = min(2*pause, 20*time.Millisecond)
	}
}

// orphans returns the processes of a table that became our children and may belong to the run, as
// in endOrphans: they count for its limits, too.
func orphans(table []entry, mark string) (found []entry) {
	if mark == "" || !adopting() {
		return nil
	}
	children.Lock() // processes started while the table was read are entered now
	defer children.Unlock()
	session := ownSession()
	for _, e := range table {
		_, started := children.pids.Load(e.pid)
		if e.parent == os.Getpid() && !started && e.session != session && !belongsElsewhere(e.pid, mark) {
			found = append(found, e)
		}
	}
	return found
}

// adoptees kills orphans and reaps ended ones. It returns the number of killed ones.
func adoptees(ctx context.Context, mark string) int {
	children.Lock()
	defer children.Unlock()
	all := ourChildren()
	if all == nil {
		all, _ = pids()
	}
	ended := 0
	session := ownSession()
	for _, pid := range all {
		e, state, ok := readStat(pid)
		if _, started := children.pids.Load(pid); !ok || started || e.parent != os.Getpid() || e.session == session {
			continue
		}
		if state == 'Z' {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
			continue
		}
		if !belongsElsewhere(pid, mark) && killEntry(ctx, e) {
			ended++
		}
	}
	return ended
}

// ownSession returns our session. Programs started outside this package share it; those started by
// this package get their own.
func ownSession() int {
	e, _, _ := readStat(os.Getpid())
	return e.session
}

// belongsElsewhere reports whether a process carries the mark of another live run, or of a program
// that may leave survivors.
func belongsElsewhere(pid int, mark string) bool {
	return slices.ContainsFunc(environment(pid), func(v string) bool {
		return v == kept() || v != mark && markIsLive(v)
	})
}

// Inside reports whether another process of our user, or for root of any user, has its working
// directory in the folder, runs a program from it, or holds a file in it open.
func Inside(ctx context.Context, dir string) (bool, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if os.IsNotExist(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look who is in a folder: %w", err)
	}
	all, err := pids()
	if err != nil {
		return false, err
	}
	for _, pid := range all {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if pid != os.Getpid() && slices.ContainsFunc(places(pid), func(p string) bool { return within(p, dir) }) {
			return true, nil
		}
	}
	return false, nil
}

// places returns the paths of a process's program, working directory and open files; none if we may
// not read them, or it has no program because it has ended or is the kernel's.
func places(pid int) []string {
	at := filepath.Join("/proc", strconv.Itoa(pid))
	program, err := os.Readlink(filepath.Join(at, "exe"))
	if err != nil {
		return nil
	}
	links := []string{filepath.Join(at, "cwd")}
	if open, err := os.ReadDir(filepath.Join(at, "fd")); err == nil {
		for _, fd := range open {
			links = append(links, filepath.Join(at, "fd", fd.Name()))
		}
	}
	out := []string{program}
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil {
			out = append(out, to)
		}
	}
	return out
}

func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, dir+"/") || path == dir+" (deleted)"
}

// markIsLive reports whether a run of this process with that mark has not ended.
func markIsLive(mark string) bool {
	liveMarks.Lock()
	defer liveMarks.Unlock()
	return liveMarks.runs[mark] > 0
}
