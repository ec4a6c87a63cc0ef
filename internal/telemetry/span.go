package telemetry

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Attr is an attribute of a span: a string, a bool, an int or a float64. Zero values are omitted.
type Attr struct {
	Key   string
	Value any
}

// Span is a part of a trace.
type Span struct {
	t    *Tracer
	ctx  context.Context
	span trace.Span
}

// Child begins a child span.
func (s *Span) Child(name string, attrs ...Attr) *Span {
	if s == nil {
		return nil
	}
	defer s.t.survive()
	return s.t.start(s.ctx, name, trace.SpanKindInternal, attrs)
}

// Set adds attributes.
func (s *Span) Set(attrs ...Attr) {
	if s != nil {
		defer s.t.survive()
		s.span.SetAttributes(s.t.attributes(attrs)...)
	}
}

// End ends a span. kind is the kind of failure, for programs; empty: success.
func (s *Span) End(kind string) {
	if s == nil {
		return
	}
	defer s.t.survive()
	if kind != "" {
		s.span.SetAttributes(attribute.String("error.type", s.t.opt.Redact(kind)))
		s.span.SetStatus(codes.Error, "")
	}
	s.span.End()
}

// Environ returns the variables for a program that adds spans below this one.
func (s *Span) Environ() []string {
	if s == nil {
		return nil
	}
	defer s.t.survive()
	carried := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(s.ctx, carried)
	if carried["traceparent"] == "" {
		return nil
	}
	return []string{"TRACEPARENT=" + carried["traceparent"]}
}

// attributes converts attributes for OpenTelemetry and removes secrets.
func (t *Tracer) attributes(all []Attr) (out []attribute.KeyValue) {
	for _, a := range all {
		switch v := a.Value.(type) {
		case bool:
			if v {
				out = append(out, attribute.Bool(a.Key, v))
			}
		case int:
			if v != 0 {
				out = append(out, attribute.Int(a.Key, v))
			}
		case float64:
			if v != 0 {
				out = append(out, attribute.Float64(a.Key, v))
			}
		default:
			if text := fmt.Sprint(v); text != "" {
				out = append(out, attribute.String(a.Key, t.opt.Redact(text)))
			}
		}
	}
	return out
}

// chosenIDs are the ids of a context's next span.
type chosenIDs struct {
	of    trace.TraceID
	first trace.SpanID
}

// idsOf derives the ids of a trace and its first span from a key.
func idsOf(key string) (of trace.TraceID, first trace.SpanID) {
	sum := sha256.Sum256([]byte("trace of turn " + key))
	copy(of[:], sum[:])
	copy(first[:], sum[len(of):])
	return of, first
}

// ids gives the first span of a trace the ids of its key, and all others random ones.
type ids struct{}

func (ids) NewIDs(ctx context.Context) (of trace.TraceID, first trace.SpanID) {
	if chosen, ok := ctx.Value(chosenIDs{}).(chosenIDs); ok {
		return chosen.of, chosen.first
	}
	_, _ = rand.Read(of[:])
	return of, randomID()
}

func (ids) NewSpanID(context.Context, trace.TraceID) trace.SpanID { return randomID() }

func randomID() (id trace.SpanID) {
	_, _ = rand.Read(id[:])
	return id
}
