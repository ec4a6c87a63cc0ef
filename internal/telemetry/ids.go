package telemetry

import (
	"context"
	"crypto/rand"
	"crypto/sha256"

	"go.opentelemetry.io/otel/trace"
)

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
