//go:build unix

package proc

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// The idle limit ends only programs that are silent and do nothing.
func TestIdleLimitSparesSilentPrograms(t *testing.T) {
	testhome.OnlyLong(t)
	grown := filepath.Join(t.TempDir(), "session")
	var size int64
	grows := func(context.Context) bool {
		info, err := os.Stat(grown)
		grew := err == nil && info.Size() > size
		if grew {
			size = info.Size()
		}
		return grew
	}
	const busy = `i=0; while [ $i -lt $((1500000*SLOW)) ]; do i=$((i+1)); done; `
	tests := []struct {
		name, script string
		alive        func(context.Context) bool
		counts       func([]byte) bool
		want         Limit
	}{
		{name: "computes", script: busy, want: NoLimit},
		{name: "has a child that computes", script: `sh -c '` + busy + `' & wait`, want: NoLimit},
		{name: "has children that are soon over", script: `for i in 1 2 3 4 5 6; do sh -c 'i=0; while [ $i -lt $((200000*SLOW)) ]; do i=$((i+1)); done'; done`, want: NoLimit},
		{name: "sleeps", script: `exec sleep 60`, want: IdleLimit},
		{name: "wakes now and then", script: `while :; do sleep 0.2; done`, want: IdleLimit},
		{name: "computed, then sleeps", script: busy + `exec sleep 60`, want: IdleLimit},
		{name: "writes to its session", script: `for i in 1 2 3 4 5; do echo $i >>` + grown + `; sleep $PAUSE; done`, alive: grows, want: NoLimit},
		{name: "wrote to its session", script: `echo 1 >>` + grown + `; exec sleep 60`, alive: grows, want: IdleLimit},
		{name: "says that it cannot", script: `while :; do echo error; echo log >&2; sleep 0.2; done`, counts: noError, want: IdleLimit},
		{name: "says what it does", script: `for i in 1 2 3 4 5; do echo error; echo done; sleep $PAUSE; done`, counts: noError, want: NoLimit},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if runtime.GOOS != "linux" && strings.Contains(tt.name, "comput") {
				t.Skip("ps tells too little of it")
			}
			for _, file := range []bool{false, true} {
				if file && tt.counts == nil {
					continue
				}
				patiently(t, func(slow time.Duration) (problem string) {
					size = 0
					_ = os.Remove(grown)
					c := sh(tt.script)
					c.Env = append(c.Env, fmt.Sprint("SLOW=", int(slow)), fmt.Sprint("PAUSE=", 0.4*float64(slow)))
					c.Idle, c.Wall, c.OutputFile, c.Counts, c.Alive = slow*700*time.Millisecond, slow*30*time.Second, file, tt.counts, tt.alive
					if res := run(t, c); res.TimedOut != tt.want {
						return fmt.Sprintf("to a file: %v: ended by %q, want %q", file, res.TimedOut, tt.want)
					}
					return ""
				})
			}
		})
	}
}

func noError(line []byte) bool { return !bytes.Equal(line, []byte("error")) }

func TestLineCounterSeesWholeLines(t *testing.T) {
	var seen []string
	signs := 0
	l := lineCounter{sign: func([]byte) { signs++ }, counts: func(line []byte) bool {
		seen = append(seen, string(line))
		return string(line) != "error"
	}}
	for _, part := range []string{"er", "ror\nwo", "rd\n\nerr", "or\n"} {
		l.add([]byte(part))
	}
	if got := strings.Join(seen, ","); got != "error,word,,error" || signs != 2 {
		t.Errorf("seen %q, %d signs", got, signs)
	}
	l.add(bytes.Repeat([]byte("x"), longLine+1))
	if signs != 3 || len(l.part) != 0 {
		t.Errorf("an endless line: %d signs, %d bytes held", signs, len(l.part))
	}
}
