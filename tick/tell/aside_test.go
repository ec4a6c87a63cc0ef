package tell

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// An error, a panic and a delay of a part that only observes a pass are logged, and fail no pass.
func TestAside(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(context.Context) error
		most time.Duration
		want string
	}{
		"nothing":   {func(context.Context) error { return nil }, time.Minute, ""},
		"an error":  {func(context.Context) error { return errors.New("no such folder") }, time.Minute, "no such folder"},
		"a panic":   {func(context.Context) error { panic("out of range") }, time.Minute, "out of range"},
		"it hangs":  {func(context.Context) error { select {} }, 50 * time.Millisecond, "not done after"},
		"it heeds":  {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, 50 * time.Millisecond, "deadline exceeded"},
		"a nil map": {func(context.Context) error { var m map[string]int; m["x"] = 1; return nil }, time.Minute, "nil map"}, //nolint:staticcheck // it has to panic
	} {
		var log bytes.Buffer
		aside(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), "the metrics", c.most, c.do)
		if got := log.String(); (got == "") != (c.want == "") || !strings.Contains(got, c.want) || got != "" && !strings.Contains(got, "the metrics") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
