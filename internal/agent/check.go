package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// checkTime is how long a check may take. It takes a fraction of a second.
const checkTime = time.Minute

// CheckOutput is how much a check may print, in bytes.
const CheckOutput = 8 << 20

// checkScript reads a file, then makes and removes one in each folder. `true` is
// used, for a redirection that fails ends the shell beside `:` with a code of the
// shell's own.
const checkScript = `read=$1 name=$2; shift 2
true < "$read" || exit 9
for dir; do true > "$dir/$name" && rm -f "$dir/$name" || exit 9; done`

// Writes are the folders that a run may write to beside those of its adapter: the
// checkout, unless it only reads.
func Writes(r Request) []string {
	if r.Mode == work.ModeRead {
		return nil
	}
	return []string{r.Dir}
}

// Within is a request with the limits of a check.
func Within(r Request) Request {
	r.Wall, r.Idle = checkTime, 0
	return r
}

// CheckInside runs the script behind a command line, as the agent would be run. It
// leaves nothing in the folders, however it ends.
func (s Spec) CheckInside(ctx context.Context, r Request, before, dirs []string) (proc.Result, error) {
	if runtime.GOOS == "windows" {
		return proc.Result{}, nil // there is no such shell
	}
	name := ".mergexo-check-" + rand.Text()
	defer func() {
		for _, dir := range dirs {
			_ = os.Remove(filepath.Join(dir, name))
		}
	}()
	argv := slices.Concat(before, []string{"/bin/sh", "-c", checkScript, "sh", s.gitConfigPath(), name}, dirs)
	return s.Launch(ctx, Within(r), Launch{Argv: argv, MaxOutput: CheckOutput})
}

// Checked says what became of a check. What it could not do, a turn could not do
// either, for money.
func (s Spec) Checked(res proc.Result, err error) error {
	if err != nil {
		_, slow := errors.AsType[*TimeoutError](err)
		if !slow {
			return err
		}
		return s.unable("it did not end within "+checkTime.String(), err)
	}
	if res.Code != 0 {
		said := ends(s.Redact(strings.ToValidUTF8(string(res.Stderr), "\uFFFD")))
		return s.unable(cmp.Or(said, fmt.Sprintf("it ended with exit code %d", res.Code)), nil)
	}
	return nil
}

// ends is the end of what a program printed, in one line.
func ends(text string) string {
	const most = 400
	words := []rune(strings.Join(strings.Fields(text), " "))
	if len(words) > most {
		return "… " + string(words[len(words)-most:])
	}
	return string(words)
}

func (s Spec) unable(detail string, err error) error {
	return &work.BlockedError{Reason: work.Reason{Kind: work.WhyAgentUnable, Who: s.Name, Local: detail}, Err: err}
}
