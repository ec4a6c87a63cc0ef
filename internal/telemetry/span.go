package telemetry

import (
	"context"
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
