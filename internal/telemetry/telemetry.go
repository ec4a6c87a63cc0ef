// Package telemetry sends traces to an OpenTelemetry collector; it is the only user of
// OpenTelemetry's SDK. The first span sets it up, and only if the environment asks for traces. It
// never causes a failure: spans that cannot be sent are logged once and dropped.
//
// A nil Tracer and a nil Span do nothing.
package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// serviceName is the default of OTEL_SERVICE_NAME.
const serviceName = "gh-mergexo"

// Options configure a Tracer.
type Options struct {
	Lookup  Lookup // required
	Version string // of this program
	// Instance names this installation among those on other machines. The first span calls it.
	// Required.
	Instance func() (string, error)
	Redact   func(string) string // required: removes secrets from all that is sent
	Log      *slog.Logger        // required
}

// Tracer makes spans. It is safe for concurrent use.
type Tracer struct {
	opt     Options
	refused string // why requested traces cannot be sent

	once     sync.Once
	provider *sdk.TracerProvider // nil: set-up failed
	failed   sync.Once
}

// New returns a Tracer, or nil if the environment does not ask for traces. It sends nothing.
func New(o Options) *Tracer {
	wanted, why := wanted(o.Lookup)
	if !wanted && why == "" {
		return nil
	}
	return &Tracer{opt: o, refused: why}
}

// setUp connects OpenTelemetry's SDK to the collector that the environment names. The SDK itself
// reads the variables about sampling, limits and the resource.
func (t *Tracer) setUp(ctx context.Context) {
	if t.refused != "" {
		t.opt.Log.Warn("no traces are sent", "why", t.refused)
		return
	}
	otel.SetLogger(logr.Discard())
	otel.SetErrorHandler(otel.ErrorHandlerFunc(t.fail))
	exporter, err := newExporter(t.opt.Lookup, t.opt.Version)
	if err != nil {
		t.fail(err)
		return
	}
	instance, err := t.opt.Instance()
	if err != nil {
		t.fail(err) // spans are sent without it
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", serviceName), attribute.String("service.version", t.opt.Version), attribute.String("service.instance.id", instance)),
		resource.WithFromEnv())
	if err != nil {
		t.fail(err) // use the parts that are valid
	}
	t.provider = sdk.NewTracerProvider(sdk.WithBatcher(exporter, batching(t.opt.Lookup)...), sdk.WithResource(about), sdk.WithIDGenerator(ids{}))
}

// fail logs an error, once per pass.
func (t *Tracer) fail(err error) {
	t.failed.Do(func() { t.opt.Log.Warn("traces could not be sent", "error", err) })
}

// survive logs a panic of the SDK, which some values of its variables cause.
func (t *Tracer) survive() {
	if r := recover(); r != nil {
		t.fail(fmt.Errorf("panic: %v", r))
	}
}

// Begin begins the trace of a key, or continues it if it is resumed: the same key gives the same
// trace. The span does not end with the context.
func (t *Tracer) Begin(ctx context.Context, name, key string, from Beginning, attrs ...Attr) *Span {
	if t == nil {
		return nil
	}
	defer t.survive()
	ctx = context.WithoutCancel(ctx)
	t.once.Do(func() { t.setUp(ctx) })
	if t.provider == nil {
		return nil
	}
	of, first := idsOf(key)
	if from == Resumed {
		ctx = trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{TraceID: of, SpanID: first, TraceFlags: trace.FlagsSampled, Remote: true}))
	} else {
		ctx = context.WithValue(ctx, chosenIDs{}, chosenIDs{of, first})
	}
	return t.start(ctx, name, trace.SpanKindClient, attrs)
}

// Beginning tells whether a trace begins or resumes.
type Beginning string

const (
	Fresh   Beginning = "fresh"
	Resumed Beginning = "resumed"
)

func (t *Tracer) start(ctx context.Context, name string, kind trace.SpanKind, attrs []Attr) *Span {
	ctx, span := t.provider.Tracer("github.com/mergexo/gh-mergexo", trace.WithInstrumentationVersion(t.opt.Version)).
		Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(t.attributes(attrs)...))
	return &Span{t: t, ctx: ctx, span: span}
}

// flushTime is how long a pass waits for its last spans to be sent.
const flushTime = 2 * time.Second

// Close sends the remaining spans within flushTime, and ends the Tracer.
func (t *Tracer) Close(ctx context.Context) {
	if t == nil || t.provider == nil {
		return
	}
	defer t.survive()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		t.fail(err)
	}
}
