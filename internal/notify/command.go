package notify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/proc"
)

// mostOutput bounds a program's output, in bytes.
const mostOutput = 64 << 10

// run starts the program without a shell. On a timeout, the program and all its processes are
// killed; none of them outlives us.
func run(ctx context.Context, t Target, m Message) Answer {
	res, err := proc.Run(ctx, proc.Cmd{
		Path: t.Command[0], Args: t.Command[1:], Dir: t.Dir, Env: t.Env, Stdin: []byte(m.Body + "\n"),
		Grace: time.Second, MaxOutput: mostOutput, MaxStderr: mostOutput, DieWithParent: true,
	})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return Answer{Refused, said(fmt.Sprintf("it did not end within %s", t.Timeout), res.Stderr, res.Stdout)}
	case err != nil && ctx.Err() != nil: // see Send
		return Answer{Fate: Refused}
	case err != nil:
		return unreached("%v", err)
	case res.Truncated || res.Passed != proc.NoLimit:
		return Answer{Refused, "it printed more than may be, and was ended"}
	case res.Code != 0:
		return Answer{Refused, said(fmt.Sprintf("it ended with exit code %d", res.Code), res.Stderr, res.Stdout)}
	}
	return Answer{Taken, said("it ended with exit code 0", res.Stdout, res.Stderr)}
}
