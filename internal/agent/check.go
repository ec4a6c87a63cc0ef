package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// checkTime limits a check. It usually takes a fraction of a second.
const checkTime = time.Minute

// CheckOutput is how much a check may print, in bytes.
const CheckOutput = 8 << 20

// checkScript reads a file, then creates and removes one in each folder. It uses `true` instead of
// `:`, because a failed redirection on `:` ends the shell with its own exit code.
const checkScript = `read=$1 name=$2; shift 2
true < "$read" || exit 9
for dir; do true > "$dir/$name" && rm -f "$dir/$name" || exit 9; done`

// Writes returns the folders that a run may write to besides its adapter's: the checkout, unless
// the run only reads.
func Writes(r Request) []string {
	if r.Mode == work.ModeRead {
		return nil
	}
	return []string{r.Dir}
}

// Within returns the request with the time limits of a check.
func Within(r Request) Request {
	r.Wall, r.Idle = checkTime, 0
	return r
}

// CheckInside runs the check script behind a command line as the agent would run. It leaves no
// files in the folders, however it ends.
func (s Spec) CheckInside(ctx context.Context, r Request, before, dirs []string) (proc.Result, error) {
	return s.CheckBehind(ctx, r, Launch{Argv: before}, dirs)
}

// CheckBehind is CheckInside for a command line that depends on what can be written inside.
func (s Spec) CheckBehind(ctx context.Context, r Request, before Launch, dirs []string) (proc.Result, error) {
	name := ".mergexo-check-" + rand.Text()
	defer func() {
		for _, dir := range dirs {
			_ = os.Remove(filepath.Join(dir, name))
		}
	}()
	s.MaxDisk = 0 // it writes empty files, so nothing is measured before it
	script := slices.Concat([]string{"/bin/sh", "-c", checkScript, "sh", s.gitConfigPath(), name}, dirs)
	l := Launch{Argv: slices.Concat(before.Argv, script), MaxOutput: CheckOutput}
	if before.Rest != nil {
		l.Argv, l.Rest = before.Argv, func(writable []string) []string { return slices.Concat(before.Rest(writable), script) }
	}
	return s.Launch(ctx, Within(r), l)
}

// Checked turns the result of a check into an error. If the check failed, a paid turn would fail
// too.
func (s Spec) Checked(res proc.Result, err error) error {
	if err != nil {
		_, slow := errors.AsType[*TimeoutError](err)
		if !slow {
			return err
		}
		return s.unable("it did not end within "+checkTime.String(), err)
	}
	if res.Code != 0 {
		return s.unable(s.lastWords(res), nil)
	}
	return nil
}

// lastWords is what a failed program said at its end, or its exit code.
func (s Spec) lastWords(res proc.Result) string {
	said := lastWords(s.Redact(strings.ToValidUTF8(string(res.Stderr), "\uFFFD")))
	return cmp.Or(said, fmt.Sprintf("it ended with exit code %d", res.Code))
}

// lastWords returns the end of a program's output as one line.
func lastWords(text string) string {
	const most = 400
	words := []rune(strings.Join(strings.Fields(text), " "))
	if len(words) > most {
		return "… " + string(words[len(words)-most:])
	}
	return string(words)
}

// Unable reports that the program cannot work on this machine, as was found before any token was
// used.
func (s Spec) Unable(detail string) error { return s.unable(detail, nil) }

func (s Spec) unable(detail string, err error) error {
	return &work.BlockedError{Reason: work.Reason{Kind: work.WhyAgentUnable, Who: s.Name, Local: detail}, Err: err}
}
