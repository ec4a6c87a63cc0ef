package tell

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// asideTime limits each part that only observes a pass. A pass continues without a part that takes
// longer; the sender of messages has shorter limits of its own.
const asideTime = 15 * time.Second

// Aside runs what only observes a pass: messages, metrics, its report. An error, a panic or
// a hang of it is logged and goes no further.
func Aside(ctx context.Context, log *slog.Logger, name string, do func(context.Context) error) {
	aside(ctx, log, name, asideTime, do)
}

func aside(ctx context.Context, log *slog.Logger, name string, most time.Duration, do func(context.Context) error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- work.Contain(name, func() error { return do(ctx) }) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = fmt.Errorf("not done after %s: %w", most, ctx.Err())
	}
	if err != nil {
		log.WarnContext(ctx, "the pass continues without what only observes it", "what", name, "error", err)
	}
}
