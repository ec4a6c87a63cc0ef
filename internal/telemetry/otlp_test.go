package telemetry

import (
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	wireresource "go.opentelemetry.io/proto/otlp/resource/v1"
	wire "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"
)

// OpenTelemetry's own decoder reads from what encodeSpans encodes what was given to it.
func TestEncodedSpansAreDecoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, whole, key := rapid.String().Draw(t, "text"), rapid.Int64().Draw(t, "number"), rapid.StringN(0, 300, -1).Draw(t, "key")
		part, yes := rapid.Float64().Draw(t, "float"), rapid.Bool().Draw(t, "bool")
		id := func(name string) (id trace.SpanID) {
			copy(id[:], rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, name))
			return id
		}
		of := trace.TraceID(bytes.Repeat([]byte{rapid.Byte().Draw(t, "trace")}, 16))
		self, parent := id("span"), id("parent")
		began, ended := rapid.Int64Min(0).Draw(t, "began"), rapid.Int64Min(0).Draw(t, "ended")
		kind := rapid.SampledFrom([]trace.SpanKind{trace.SpanKindInternal, trace.SpanKindClient}).Draw(t, "kind")
		failed := rapid.Bool().Draw(t, "failed")
		stub := tracetest.SpanStub{
			Name: text, SpanKind: kind, StartTime: time.Unix(0, began), EndTime: time.Unix(0, ended),
			SpanContext: trace.NewSpanContext(trace.SpanContextConfig{TraceID: of, SpanID: self}),
			Parent:      trace.NewSpanContext(trace.SpanContextConfig{TraceID: of, SpanID: parent}),
			Attributes:  []attribute.KeyValue{attribute.String(key, text), attribute.Int64("n", whole), attribute.Float64("f", part), attribute.Bool("b", yes)},
			Resource:    resource.NewWithAttributes("schema", attribute.String("r", text)), DroppedAttributes: int(uint16(whole)),
			InstrumentationScope: instrumentation.Scope{Name: "scope", Version: text},
		}
		want := &wire.Span{
			TraceId: of[:], SpanId: self[:], Name: text, StartTimeUnixNano: uint64(began), EndTimeUnixNano: uint64(ended),
			Kind: map[trace.SpanKind]wire.Span_SpanKind{trace.SpanKindInternal: wire.Span_SPAN_KIND_INTERNAL, trace.SpanKindClient: wire.Span_SPAN_KIND_CLIENT}[kind],
			Attributes: []*common.KeyValue{
				{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: text}}},
				{Key: "n", Value: &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: whole}}},
				{Key: "f", Value: &common.AnyValue{Value: &common.AnyValue_DoubleValue{DoubleValue: part}}},
				{Key: "b", Value: &common.AnyValue{Value: &common.AnyValue_BoolValue{BoolValue: yes}}},
			},
			DroppedAttributesCount: uint32(uint16(whole)),
		}
		if parent.IsValid() {
			want.ParentSpanId = parent[:]
		}
		if failed {
			stub.Status.Code = codes.Error
			want.Status = &wire.Status{Code: wire.Status_STATUS_CODE_ERROR}
		}
		spans := tracetest.SpanStubs{stub, stub}.Snapshots()
		var got collector.ExportTraceServiceRequest
		if err := proto.Unmarshal(encodeSpans(spans), &got); err != nil {
			t.Fatal(err)
		}
		all := &collector.ExportTraceServiceRequest{ResourceSpans: []*wire.ResourceSpans{{
			SchemaUrl: "schema", ScopeSpans: []*wire.ScopeSpans{{Scope: &common.InstrumentationScope{Name: "scope", Version: text}, Spans: []*wire.Span{want, want}}},
			Resource: &wireresource.Resource{Attributes: []*common.KeyValue{{Key: "r", Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: text}}}}},
		}}}
		if !math.IsNaN(part) && !proto.Equal(&got, all) {
			t.Errorf("%v\nwant\n%v", &got, all)
		}
	})
}

// Texts that are no UTF-8, which a decoder refuses, are repaired.
func TestABrokenTextIsRepaired(t *testing.T) {
	var got collector.ExportTraceServiceRequest
	if err := proto.Unmarshal(encodeSpans(tracetest.SpanStubs{{Name: "a\xffb"}}.Snapshots()), &got); err != nil {
		t.Fatal(err)
	}
	if name := got.ResourceSpans[0].ScopeSpans[0].Spans[0].Name; name != "a\uFFFDb" {
		t.Errorf("%q", name)
	}
}

// The exporter follows OpenTelemetry's variables; those for traces win.
func TestVariablesOfTheExporter(t *testing.T) {
	var asked atomic.Pointer[http.Request]
	var body atomic.Value
	answer := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		body.Store(b)
		asked.Store(r)
	})
	plain, safe := httptest.NewServer(answer), httptest.NewUnstartedServer(answer)
	safe.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	safe.StartTLS()
	t.Cleanup(plain.Close)
	t.Cleanup(safe.Close)
	authority := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: safe.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		environ []string
		path    string
		header  string // that must be there, as "name: value"
		fails   string
	}{
		{environ: []string{"ENDPOINT=" + plain.URL}, path: "/v1/traces", header: "Content-Type: application/x-protobuf"},
		{environ: []string{"ENDPOINT=" + plain.URL + "/otlp/"}, path: "/otlp/v1/traces"},
		{environ: []string{"ENDPOINT=http://nowhere", "TRACES_ENDPOINT=" + plain.URL + "/mine"}, path: "/mine"},
		{environ: []string{"ENDPOINT=" + plain.URL, "HEADERS=a=b, api-key = k%20v ,broken"}, path: "/v1/traces", header: "Api-Key: k v"},
		{environ: []string{"ENDPOINT=" + plain.URL, "HEADERS=x=general", "TRACES_HEADERS=x=special"}, path: "/v1/traces", header: "X: special"},
		{environ: []string{"ENDPOINT=" + plain.URL, "COMPRESSION=gzip"}, path: "/v1/traces", header: "Content-Encoding: gzip"},
		{environ: []string{"ENDPOINT=" + safe.URL, "CERTIFICATE=" + authority}, path: "/v1/traces"},
		{environ: []string{"ENDPOINT=" + safe.URL}, fails: "certificate"},
		{environ: []string{"ENDPOINT=" + safe.URL, "CERTIFICATE=/nonexistent"}, fails: "no such file"},
		{environ: []string{"ENDPOINT=" + safe.URL, "CLIENT_CERTIFICATE=/nonexistent", "CLIENT_KEY=/nonexistent"}, fails: "no such file"},
		{environ: []string{"ENDPOINT=localhost:4318"}, fails: "no URL"},
	} {
		for i := range c.environ {
			c.environ[i] = "OTEL_EXPORTER_OTLP_" + c.environ[i]
		}
		asked.Store(nil)
		e, err := newExporter(of(c.environ), "v1")
		if err == nil {
			err = e.ExportSpans(t.Context(), tracetest.SpanStubs{{Name: "it"}}.Snapshots())
		}
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%q: %v", c.environ, err)
			}
			continue
		}
		r := asked.Load()
		if err != nil || r == nil || r.URL.Path != c.path {
			t.Errorf("%q: %v, %+v", c.environ, err, r)
			continue
		}
		name, value, _ := strings.Cut(c.header, ": ")
		if name != "" && !slices.Equal(r.Header.Values(name), []string{value}) {
			t.Errorf("%q: %v", c.environ, r.Header)
		}
		b := body.Load().([]byte)
		if r.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(bytes.NewReader(b))
			if err == nil {
				b, err = io.ReadAll(z)
			}
			if err != nil {
				t.Errorf("%q: %v", c.environ, err)
			}
		}
		if err := proto.Unmarshal(b, &collector.ExportTraceServiceRequest{}); err != nil {
			t.Errorf("%q: %v", c.environ, err)
		}
	}
}

// A busy collector gets the same spans again, one that refuses them does not.
func TestABusyCollectorIsAskedAgain(t *testing.T) {
	testhome.OnlyLong(t)
	for first, want := range map[int]int32{http.StatusServiceUnavailable: 2, http.StatusTooManyRequests: 2, http.StatusInternalServerError: 1, http.StatusForbidden: 1} {
		t.Run(http.StatusText(first), func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if asked.Add(1) == 1 {
					w.WriteHeader(first)
				}
			}))
			t.Cleanup(server.Close)
			e, err := newExporter(of([]string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + server.URL}), "v1")
			if err != nil {
				t.Fatal(err)
			}
			err = e.ExportSpans(t.Context(), tracetest.SpanStubs{{Name: "it"}}.Snapshots())
			if n := asked.Load(); n != want || (err == nil) != (want > 1) {
				t.Errorf("asked %d times: %v", n, err)
			}
		})
	}
}
