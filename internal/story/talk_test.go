//go:build unix

package story

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/creack/pty"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/rogpeppe/go-internal/testscript"
)

// cmdTalk runs a program on a terminal of 80 columns, and says there what a file says:
//
//	expect TEXT   waits until that is on the screen, behind what was expected before
//	type "KEYS"   types, as a Go string has it
//
// What was on the screen, without colours and moves, is its standard output.
func cmdTalk(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: talk FILE PROGRAM ARGUMENT…")
	}
	cmd := exec.Command(args[1], args[2:]...)
	if path, err := lookPath(args[1], ts.Getenv("PATH")); err == nil {
		cmd.Path, cmd.Err = path, nil
	}
	cmd.Dir, cmd.Env = ts.MkAbs("."), append(environOf(ts), "TERM=xterm")
	screen, err := talk(cmd, ts.ReadFile(args[0]))
	fmt.Fprint(ts.Stdout(), screen)
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && (!failed || !neg) {
		ts.Fatalf("talk: %v; on the screen:\n%s", err, screen)
	}
	if err == nil && neg {
		ts.Fatalf("talk: unexpected success")
	}
}

func lookPath(name, path string) (string, error) {
	for dir := range strings.SplitSeq(path, ":") {
		at := dir + "/" + name
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() {
			return at, nil
		}
	}
	return "", exec.ErrNotFound
}

// environOf is the environment of a story.
func environOf(ts *testscript.TestScript) []string {
	var all []string
	for name := range worldOf(ts).environ() {
		all = append(all, name+"="+ts.Getenv(name))
	}
	for _, name := range []string{"PATH", "TMPDIR", "WORK", "GH_PROMPT_DISABLED", "GOCOVERDIR"} {
		if value := ts.Getenv(name); value != "" {
			all = append(all, name+"="+value)
		}
	}
	return all
}

// whereIs is how a program asks a terminal where its cursor is.
const whereIs = "\x1b[6n"

var moves = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]|\x1b[78]`)

// talker is a program on a terminal.
type talker struct {
	screen *os.File // our end
	tty    *os.File // its end
	said   bytes.Buffer
	chunks chan []byte
	ended  chan error
	late   <-chan time.Time
	seen   int
}

func talk(cmd *exec.Cmd, script string) (screen string, err error) {
	t := &talker{chunks: make(chan []byte), ended: make(chan error, 1), late: time.After(testhome.Patience())}
	if t.screen, t.tty, err = pty.Open(); err != nil {
		return "", err
	}
	defer t.screen.Close()
	defer t.tty.Close()
	if err := pty.Setsize(t.tty, &pty.Winsize{Rows: 40, Cols: 80}); err != nil {
		return "", err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.tty, t.tty, t.tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	go t.readAll()
	go func() {
		err := cmd.Wait()
		_, _ = t.tty.WriteString(theEnd)
		t.ended <- err
	}()
	for line := range strings.Lines(script) {
		if err := t.do(strings.TrimSpace(line)); err != nil {
			_ = cmd.Process.Kill()
			return t.plain(), err
		}
	}
	for err == nil {
		err = t.read(nil)
	}
	if !errors.Is(err, errEnded) {
		_ = cmd.Process.Kill()
		return t.plain(), err
	}
	return t.plain(), <-t.ended
}

// theEnd is written behind what a program said: a terminal has no end of its own while we
// hold it open.
const theEnd = "\x00"

var errEnded = errors.New("the program has ended")

// readAll reads what the program says.
func (t *talker) readAll() {
	for {
		b := make([]byte, 4096)
		n, err := t.screen.Read(b)
		if n > 0 {
			t.chunks <- b[:n]
		}
		if err != nil || bytes.HasSuffix(b[:n], []byte(theEnd)) {
			close(t.chunks)
			return
		}
	}
}

// read takes a chunk of what the program says, and tells it where the cursor is when it
// asks: at the end of the screen where it moved it as far as it goes, to learn the size.
// It drops what it reads together with the answer, so nothing is typed before the answer
// is taken.
func (t *talker) read(wait <-chan time.Time) error {
	select {
	case b, more := <-t.chunks:
		if !more {
			return errEnded
		}
		b = bytes.TrimSuffix(b, []byte(theEnd))
		t.said.Write(b)
		parts := bytes.Split(b, []byte(whereIs))
		for _, before := range parts[:len(parts)-1] {
			where := "\x1b[1;1R"
			if bytes.Contains(before, []byte("999")) {
				where = "\x1b[40;80R"
			}
			fmt.Fprint(t.screen, where)
			t.taken()
		}
	case <-wait:
	case <-t.late:
		return errors.New("it takes too long")
	}
	return nil
}

// taken waits until the program has read what was typed. The kernel hands it over in its
// own time: what is not there yet is not taken.
func (t *talker) taken() {
	arrived := false
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		ahead := typedAhead(t.tty)
		if arrived = arrived || ahead; !ahead && (arrived || time.Since(begin) > handOver) {
			return
		}
	}
}

// handOver is longer than the kernel takes.
const handOver = 100 * time.Millisecond

// typedAhead tells whether something was typed that nobody has read.
func typedAhead(tty *os.File) bool {
	ask := uintptr(0x541b) // FIONREAD of Linux
	if runtime.GOOS == "darwin" {
		ask = 0x4004667f
	}
	var n int32
	_, _, failed := syscall.Syscall(syscall.SYS_IOCTL, tty.Fd(), ask, uintptr(unsafe.Pointer(&n)))
	return failed == 0 && n > 0
}

// listens tells whether a program takes single keys: what is typed before is kept for a
// line.
func listens(tty *os.File) bool {
	ask := uintptr(0x5401) // TCGETS of Linux
	if runtime.GOOS == "darwin" {
		ask = 0x40487413
	}
	var mode syscall.Termios
	_, _, failed := syscall.Syscall(syscall.SYS_IOCTL, tty.Fd(), ask, uintptr(unsafe.Pointer(&mode)))
	return failed == 0 && mode.Lflag&syscall.ICANON == 0
}

// plain is the screen without colours and moves.
func (t *talker) plain() string {
	return strings.ReplaceAll(moves.ReplaceAllString(t.said.String(), ""), "\r", "")
}

// do does a line of the file.
func (t *talker) do(line string) error {
	verb, what, _ := strings.Cut(line, " ")
	switch verb {
	case "":
	case "expect":
		for !strings.Contains(t.plain()[t.seen:], what) {
			if err := t.read(nil); err != nil {
				return fmt.Errorf("waiting for %q: %w", what, err)
			}
		}
		t.seen += strings.Index(t.plain()[t.seen:], what) + len(what)
	case "type":
		keys, err := strconv.Unquote(what)
		if err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
		for !listens(t.tty) {
			if err := t.read(time.After(time.Millisecond)); err != nil {
				return fmt.Errorf("waiting to type %s: %w", what, err)
			}
		}
		fmt.Fprint(t.screen, keys)
	default:
		return fmt.Errorf("%s: want expect or type", line)
	}
	return nil
}
