package terminal

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// tape is a terminal that keeps all that was written to it.
type tape struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *tape) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(b)
}

func (t *tape) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

// await waits until the tape holds a text.
func (t *tape) await(tb testing.TB, want string) {
	tb.Helper()
	for end := time.Now().Add(20 * time.Second); !strings.Contains(t.String(), want); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("no %q in %q", want, t.String())
		}
	}
}

// seen plays what a terminal does with what was written: it goes up, and clears what is below.
func seen(written string) []string {
	var lines []string
	for rest := written; rest != ""; {
		if strings.HasPrefix(rest, "\x1b[") {
			n := 0
			for rest = rest[2:]; rest[0] >= '0' && rest[0] <= '9'; rest = rest[1:] {
				n = 10*n + int(rest[0]-'0')
			}
			lines = lines[:len(lines)-n]
			rest = strings.TrimPrefix(rest, "A\x1b[J")
			continue
		}
		line, after, _ := strings.Cut(rest, "\n")
		lines, rest = append(lines, strings.TrimRight(line, " ")), after
	}
	return lines
}

// What is drawn again stands below what is printed meanwhile, and is gone in the end.
func TestProgressIsTakenAway(t *testing.T) {
	to := &tape{}
	screen := NewScreen(to)
	p := NewProgress(to, screen, true)
	spinner := p.Spinner("clone octo/app\x1b[31m")
	to.await(t, `clone octo/app\u001b[31m`)
	_, _ = screen.Write([]byte("octo/app#7  claimed\n"))
	to.await(t, "octo/app#7  claimed\n")
	spinner.Done()
	p.Spinner("turn 1")
	to.await(t, "turn 1")
	p.Close()
	_, _ = screen.Write([]byte("done\n"))
	if got := seen(to.String()); strings.Join(got, "|") != "octo/app#7  claimed|done" {
		t.Errorf("left on the terminal: %q of %q", got, to.String())
	}
	for line := range strings.SplitSeq(to.String(), "\n") {
		if n := len([]rune(regexp.MustCompile(`\x1b\[\d*[AJ]`).ReplaceAllString(line, ""))); n > 80 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	p.Spinner("again")
	p.Close()
}

// Where nobody watches nothing is written.
func TestProgressIsQuietElsewhere(t *testing.T) {
	to := &tape{}
	p := NewProgress(to, NewScreen(to), false)
	p.Spinner("clone").Done()
	p.Close()
	if to.String() != "" || Watched(to) {
		t.Errorf("wrote %q", to.String())
	}
}
