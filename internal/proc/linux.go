//go:build linux

package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func attributes(c Cmd) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true}
	if c.DieWithParent {
		a.Pdeathsig = syscall.SIGKILL
	}
	return a
}

// processes reads the part of the process table from /proc in which a family can be.
func processes(context.Context) ([]entry, error) {
	names, err := relatives()
	if err != nil {
		return nil, err
	}
	table := make([]entry, 0, len(names))
	for _, pid := range names {
		if e, ok := readEntry(pid); ok {
			table = append(table, e)
		}
	}
	return table, nil
}

func pids() ([]int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var out []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			out = append(out, pid)
		}
	}
	return out, nil
}

// relatives returns the pids of all processes that can belong to a program of ours. With the guard
// these are our descendants, so that a look costs what a program starts, not what the machine runs.
func relatives() ([]int, error) {
	if !adopting() {
		return pids()
	}
	found, seen := ourChildren(), map[int]bool{}
	if found == nil {
		return pids()
	}
	var all []int
	for len(found) > 0 {
		pid := found[0]
		found = found[1:]
		if !seen[pid] {
			seen[pid] = true
			all = append(all, pid)
			found = append(found, childrenOf(pid)...)
		}
		if len(found) == 0 { // a process that lost its parent during this search is our child now
			adopted, _ := childrenOfThread(os.Getpid(), os.Getpid())
			found = slices.DeleteFunc(adopted, func(pid int) bool { return seen[pid] })
		}
	}
	return all, nil
}

// ourChildren returns the pids of our children; nil if the kernel does not list them
// (CONFIG_PROC_CHILDREN), else at least an empty list.
func ourChildren() []int {
	if _, err := childrenOfThread(os.Getpid(), os.Getpid()); err != nil {
		return nil
	}
	return append([]int{}, childrenOf(os.Getpid())...)
}

// childrenOf returns the pids of a process's children; none if it has ended. The kernel lists them
// by the thread that started them; who lost its parent is the first thread's.
func childrenOf(pid int) (all []int) {
	dir, err := os.Open("/proc/" + strconv.Itoa(pid) + "/task")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	threads, _ := dir.Readdirnames(-1)
	for _, name := range threads {
		if thread, err := strconv.Atoi(name); err == nil {
			some, _ := childrenOfThread(pid, thread)
			all = append(all, some...)
		}
	}
	return all
}

func childrenOfThread(pid, thread int) (all []int, err error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(thread) + "/children")
	for name := range strings.FieldsSeq(string(b)) {
		if child, err := strconv.Atoi(name); err == nil {
			all = append(all, child)
		}
	}
	return all, err
}

// readEntry reads a process; false if it has ended, even as a zombie.
func readEntry(pid int) (e entry, ok bool) {
	e, state, ok := readStat(pid)
	return e, ok && state != 'Z' && state != 'X'
}

// ticksPerSecond is USER_HZ, the unit of times in /proc.
const ticksPerSecond = 100

// readStat reads /proc/<pid>/stat, see proc_pid_stat(5). The name in parentheses may contain
// anything, so fields are counted from its end.
func readStat(pid int) (e entry, state byte, ok bool) {
	var room [1024]byte // its line is shorter
	b, ok := readShort("/proc/"+strconv.Itoa(pid)+"/stat", room[:])
	if !ok {
		return entry{}, 0, false
	}
	return parseStat(pid, b)
}

func parseStat(pid int, b []byte) (e entry, state byte, ok bool) {
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 20 {
		return entry{}, 0, false
	}
	num := func(i int) int { n, _ := strconv.Atoi(f[i]); return n }
	cpu := time.Duration(num(11)+num(12)+num(13)+num(14)) * (time.Second / ticksPerSecond)
	return entry{pid: pid, parent: num(1), group: num(2), session: num(3), start: f[19], cpu: cpu}, f[0][0], true
}

// readShort reads a kernel file with one read. A machine has hundreds of processes, and each is
// read several times per run.
func readShort(path string, room []byte) ([]byte, bool) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	defer func() { _ = syscall.Close(fd) }()
	n, err := syscall.Read(fd, room)
	for errors.Is(err, syscall.EINTR) {
		n, err = syscall.Read(fd, room)
	}
	if err != nil || n <= 0 {
		return nil, false
	}
	return room[:n], true
}

func same(_ context.Context, e entry) bool {
	now, ok := readEntry(e.pid)
	return ok && now.start == e.start
}

// EndMarked kills other processes of our user whose initial environment has exactly this
// NAME=value, and waits until they are gone. It returns how many it killed.
func EndMarked(ctx context.Context, mark string) (int, error) {
	ended := 0
	for range 50 { // a process that forks during this round is found in the next round
		found, err := marked(mark)
		if err != nil || len(found) == 0 {
			return ended, err
		}
		for _, e := range found {
			if carries(e.pid, mark) && killEntry(ctx, e) {
				ended++
			}
		}
		select {
		case <-ctx.Done():
			return ended, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return ended, fmt.Errorf("end processes marked %q: some remain", mark)
}

// Boot returns the id of this start of the system.
func Boot() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b))
}

// firstWithin is how soon after its starter the first process of a namespace starts, at most.
const firstWithin = 30 * time.Second

// EndFirst kills the first process of another process namespace, and with it all processes there, and
// waits until it is gone. It is known by its pid and by its start, soon after that of the process that
// started it: starter is that one's line of proc_pid_stat(5). It reports whether it killed it. What
// else has the pid by now, or is another user's, is spared.
func EndFirst(ctx context.Context, pid int, starter string) bool {
	from, _, ok := parseStat(pid, []byte(starter))
	began, known := from.ticks()
	if !ok || !known || pid <= 0 {
		return false
	}
	e, there := readEntry(pid)
	at, known := e.ticks()
	late := at - began
	if !there || !known || late < 0 || late > int64(firstWithin/(time.Second/ticksPerSecond)) || !firstOfOurs(pid) || !killEntry(ctx, e) {
		return false
	}
	for range 100 {
		if !same(ctx, e) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return true
}

// firstOfOurs reports whether a process of our user is the first one of a process namespace below
// ours. The owner of its folder in /proc would prove nothing: a process can make that root.
func firstOfOurs(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return false
	}
	ours, first := false, false
	for line := range strings.Lines(string(b)) {
		name, ids, _ := strings.Cut(line, ":")
		all := strings.Fields(ids)
		switch name {
		case "Uid":
			ours = len(all) > 0 && all[0] == strconv.Itoa(os.Getuid())
		case "NSpid":
			first = len(all) > 1 && all[len(all)-1] == "1"
		}
	}
	return ours && first
}

// ticks is when a process started, in ticks since the system did.
func (e entry) ticks() (int64, bool) {
	n, err := strconv.ParseInt(e.start, 10, 64)
	return n, err == nil
}

func marked(mark string) ([]entry, error) {
	all, err := pids()
	if err != nil {
		return nil, err
	}
	var found []entry
	for _, pid := range all {
		if pid == os.Getpid() || !own(pid) {
			continue
		}
		if e, ok := readEntry(pid); ok && carries(pid, mark) {
			found = append(found, e)
		}
	}
	return found, nil
}

func own(pid int) bool {
	info, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid)))
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

func carries(pid int, mark string) bool { return slices.Contains(environment(pid), mark) }

// environment returns a process's initial environment; nil if it may not be read.
func environment(pid int) []string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return nil
	}
	return strings.Split(string(b), "\x00")
}
