//go:build unix && !linux

package proc

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const ps = "/bin/ps"

func attributes(Cmd) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// psFields is the number of words in lstart: "Mon Jan  2 15:04:05 2006".
const psFields = 5

// processes reads the process table with ps, which has no numeric session.
func processes(ctx context.Context) ([]entry, error) {
	return list(ctx, "-A")
}

func list(ctx context.Context, which ...string) ([]entry, error) {
	args := append(which, "-o", "pid=,ppid=,pgid=,rss=,time=,lstart=")
	out, err := runPS(ctx, args...)
	if err != nil {
		return nil, err
	}
	var table []entry
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 5+psFields {
			continue
		}
		num := func(i int) int { n, _ := strconv.Atoi(f[i]); return n }
		table = append(table, entry{pid: num(0), parent: num(1), group: num(2), start: strings.Join(f[5:5+psFields], " "), cpu: cpuTime(f[4]), resident: int64(num(3)) << 10})
	}
	return table, nil
}

// cpuTime parses ps's format: [[days-]hours:]minutes:seconds[.hundredths].
func cpuTime(s string) time.Duration {
	var days, seconds float64
	if d, rest, ok := strings.Cut(s, "-"); ok {
		days, _ = strconv.ParseFloat(d, 64)
		s = rest
	}
	for part := range strings.SplitSeq(s, ":") {
		n, _ := strconv.ParseFloat(part, 64)
		seconds = seconds*60 + n
	}
	return time.Duration((days*24*60*60 + seconds) * float64(time.Second))
}

func runPS(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, ps, args...)
	cmd.Env = []string{"LC_ALL=C"}
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("list processes: %w", err)
	}
	return string(bytes.ToValidUTF8(out, nil)), nil
}

func same(ctx context.Context, e entry) bool {
	table, err := list(ctx, "-p", strconv.Itoa(e.pid))
	return err == nil && slices.ContainsFunc(table, func(n entry) bool { return n.pid == e.pid && n.start == e.start })
}

// EndMarked kills other processes of our user that carry this NAME=value in their environment, as
// far as ps shows environments (macOS hides those of protected programs). It returns how many it
// killed.
func EndMarked(ctx context.Context, mark string) (int, error) {
	ended := 0
	for range 50 {
		found, err := marked(ctx, mark)
		if err != nil || len(found) == 0 {
			return ended, err
		}
		for _, e := range found {
			if killEntry(ctx, e) {
				ended++
			}
		}
		select {
		case <-ctx.Done():
			return ended, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return ended, fmt.Errorf("end processes marked %q: some remain", mark)
}

func marked(ctx context.Context, mark string) ([]entry, error) {
	uid := strconv.Itoa(os.Getuid())
	table, err := list(ctx, "-U", uid)
	if err != nil {
		return nil, err
	}
	plain, err := commands(ctx, "-ww", "-U", uid, "-o", "pid=,command=")
	if err != nil {
		return nil, err
	}
	full, err := commands(ctx, "-E", "-ww", "-U", uid, "-o", "pid=,command=")
	if err != nil {
		return nil, err
	}
	var found []entry
	for _, e := range table {
		env, ok := strings.CutPrefix(full[e.pid], plain[e.pid])
		if ok && e.pid != os.Getpid() && slices.Contains(strings.Fields(env), mark) {
			found = append(found, e)
		}
	}
	return found, nil
}

func commands(ctx context.Context, args ...string) (map[int]string, error) {
	out, err := runPS(ctx, args...)
	if err != nil {
		return nil, err
	}
	found := map[int]string{}
	for line := range strings.Lines(out) {
		pid, command, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.Atoi(pid); err == nil {
			found[n] = command
		}
	}
	return found, nil
}

// Boot is empty: only Linux has an id for each start of the system.
func Boot() string { return "" }

// EndFirst ends nothing: only Linux has process namespaces.
func EndFirst(context.Context, int, string) bool { return false }
