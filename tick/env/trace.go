package env

import (
	"context"
	"errors"

	"github.com/mergexo/gh-mergexo/internal/telemetry"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Phase runs a phase of a turn as a child span of its trace, if there is one.
func Phase(name string, run func(context.Context, *Lease) error) func(context.Context, *Lease) error {
	return func(ctx context.Context, l *Lease) error {
		whole := l.Trace
		l.Trace = whole.Child(name, telemetry.Attr{Key: "cicd.pipeline.task.name", Value: name}, telemetry.Attr{Key: "cicd.pipeline.task.run.id", Value: l.Turn.Key + "/" + name})
		err := run(ctx, l)
		why, failed := WhyOf(err)
		l.Trace.Set(telemetry.Attr{Key: "cicd.pipeline.task.run.result", Value: resultOf(err, failed)}, telemetry.Attr{Key: "mergexo.reason_code", Value: why})
		if failed {
			l.Trace.End(why)
		} else {
			l.Trace.End("")
		}
		l.Trace = whole
		return err
	}
}

// resultOf returns OpenTelemetry's word for the result of a task; empty while it waits.
func resultOf(err error, failed bool) string {
	switch {
	case err == nil:
		return "success"
	case errors.Is(err, context.Canceled):
		return "cancellation"
	case failed:
		return "failure"
	}
	return ""
}

// otherWhy is OpenTelemetry's word for an error without a name.
const otherWhy = "_OTHER"

// WhyOf returns an error's code and whether it is a failure. Waiting, interrupted, superseded and
// cancelled turns did not fail.
func WhyOf(err error) (why string, failed bool) {
	var (
		wait       *work.WaitError
		blocked    *work.BlockedError
		superseded *work.SupersededError
		cancelled  *work.CancelledError
	)
	switch {
	case err == nil:
		return "", false
	case errors.Is(err, context.Canceled):
		return "interrupted", false
	case errors.As(err, &wait):
		return string(wait.Reason.Kind), false
	case errors.As(err, &blocked):
		return string(blocked.Reason.Kind), true
	case errors.As(err, &superseded):
		return string(VerdictSuperseded), false
	case errors.As(err, &cancelled):
		return string(VerdictCancelled), false
	}
	return otherWhy, true
}
