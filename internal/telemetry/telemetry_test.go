package telemetry

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	wire "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// received is what a collector received.
type received struct {
	mu        sync.Mutex
	resources []*wire.ResourceSpans
	headers   http.Header
	asked     int
}

// collect starts a collector on loopback that answers by a function, and sets the environment for
// it.
func collect(t *testing.T, answer func(http.ResponseWriter, *http.Request)) *received {
	t.Helper()
	got := &received{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var sent collector.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &sent)
		}
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL, err)
		}
		got.mu.Lock()
		got.resources, got.headers = append(got.resources, sent.ResourceSpans...), r.Header
		got.asked++
		got.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	return got
}

func fine(http.ResponseWriter, *http.Request) {}

func (r *received) spans() map[string]*wire.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[string]*wire.Span{}
	for _, res := range r.resources {
		for _, scope := range res.ScopeSpans {
			for _, s := range scope.Spans {
				all[s.Name] = s
			}
		}
	}
	return all
}

func attributesOf(s *wire.Span) (all []string) {
	for _, a := range s.Attributes {
		all = append(all, a.Key+"="+strings.Trim(strings.SplitN(a.Value.String(), ":", 2)[1], `" `))
	}
	slices.Sort(all)
	return all
}

// tracer makes a Tracer from the process's environment, which OpenTelemetry's SDK also reads.
func tracer(t *testing.T) (*Tracer, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer

	made := New(Options{
		Lookup: os.LookupEnv, Version: "v1", Log: slog.New(slog.NewTextHandler(&log, nil)),
		Redact:   func(s string) string { return strings.ReplaceAll(s, "hunter2hunter2", "[secret]") },
		Instance: func() (string, error) { return "here", nil },
	})
	return made, &log
}

func TestTraceOfATurn(t *testing.T) {
	got := collect(t, fine)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-api-key=hunter2hunter2")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	made, log := tracer(t)
	root := made.Begin(t.Context(), "invoke_agent codex", "key", Fresh, Attr{"gen_ai.agent.name", "codex"}, Attr{"empty", ""}, Attr{"zero", 0})
	part := root.Child("execute", Attr{"note", "it is hunter2hunter2"})
	environ := part.Environ()
	part.End("tests_fail")
	root.Set(Attr{"gen_ai.usage.input_tokens", 12}, Attr{"mergexo.cost_usd", 0.5}, Attr{"flag", true})
	root.End("")
	made.Close(t.Context())
	spans := got.spans()
	outer, inner := spans["invoke_agent codex"], spans["execute"]
	if outer == nil || inner == nil {
		t.Fatalf("%d spans, %s", len(spans), log)
	}
	if !bytes.Equal(outer.TraceId, inner.TraceId) || !bytes.Equal(inner.ParentSpanId, outer.SpanId) || len(outer.ParentSpanId) > 0 {
		t.Errorf("%v is not below %v", inner, outer)
	}
	if got, want := fmt.Sprint(attributesOf(outer)), "[flag=true gen_ai.agent.name=codex gen_ai.usage.input_tokens=12 mergexo.cost_usd=0.5]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := fmt.Sprint(attributesOf(inner)), "[error.type=tests_fail note=it is [secret]]"; got != want || inner.Status.GetCode() != wire.Status_STATUS_CODE_ERROR {
		t.Errorf("%s, %v; want %s", got, inner.Status, want)
	}
	if outer.Kind != wire.Span_SPAN_KIND_CLIENT || inner.Kind != wire.Span_SPAN_KIND_INTERNAL {
		t.Errorf("%v, %v", outer.Kind, inner.Kind)
	}
	if want := fmt.Sprintf("TRACEPARENT=00-%x-%x-01", inner.TraceId, inner.SpanId); !slices.Equal(environ, []string{want}) {
		t.Errorf("%q, want %q", environ, want)
	}
	if got.headers.Get("X-Api-Key") != "hunter2hunter2" {
		t.Errorf("headers %v", got.headers)
	}
	about := fmt.Sprint(got.resources[0].Resource)
	for _, want := range []string{"gh-mergexo", "service.version", "service.instance.id", "deployment.environment.name", "telemetry.sdk.name"} {
		if !strings.Contains(about, want) {
			t.Errorf("the resource lacks %s: %s", want, about)
		}
	}
	if log.Len() > 0 {
		t.Errorf("logged: %s", log)
	}
}

// Another pass with the same key continues the trace, below its first span.
func TestAResumedTurnIsInTheSameTrace(t *testing.T) {
	got := collect(t, fine)
	t.Setenv("OTEL_SERVICE_NAME", "mine")
	for _, c := range []struct {
		name string
		from Beginning
	}{{"first", Fresh}, {"second", Resumed}} {
		made, _ := tracer(t)
		s := made.Begin(t.Context(), c.name, "key", c.from)
		s.End("")
		made.Close(t.Context())
	}
	first, second := got.spans()["first"], got.spans()["second"]
	if !bytes.Equal(first.TraceId, second.TraceId) || !bytes.Equal(second.ParentSpanId, first.SpanId) || bytes.Equal(first.SpanId, second.SpanId) {
		t.Errorf("%v and %v", first, second)
	}
	if about := fmt.Sprint(got.resources[0].Resource); !strings.Contains(about, "mine") || strings.Contains(about, "gh-mergexo") {
		t.Errorf("the resource is %s", about)
	}
}

// A collector that is dead, refuses, or does not answer delays a pass only within the limit, and is
// logged once.
func TestACollectorThatDoesNotWork(t *testing.T) {
	whole, ended := t, make(chan struct{})
	defer close(ended)
	for name, c := range map[string]struct {
		endpoint string
		answer   func(http.ResponseWriter, *http.Request)
		says     string
	}{
		"dead":    {endpoint: "http://" + nobody(t), says: "connection refused"},
		"refuses": {answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, says: "500"},
		"busy":    {answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, says: "traces"},
		"silent":  {answer: func(http.ResponseWriter, *http.Request) { <-ended }, says: "deadline"},
		"no URL":  {endpoint: "://", says: ""},
	} {
		t.Run(name, func(t *testing.T) {
			if !testhome.Long() && name != "dead" {
				t.Skip("it waits")
			}
			if c.answer != nil {
				// Its server ends after all subtests: otherwise the next one would receive what is
				// still being sent to it.
				collect(whole, c.answer)
			} else {
				t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.endpoint)
			}
			// The exporter's timeout is far longer than a loaded machine takes, so any wait for the
			// collector shows.
			t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "120000")
			const enough = time.Minute
			made, log := tracer(t)
			began := time.Now()
			for range 3000 { // more than the queue for a collector holds
				s := made.Begin(t.Context(), "invoke_agent x", "key", Fresh)
				s.Child("execute").End("")
				s.End("")
			}
			if took := time.Since(began); took > enough {
				t.Errorf("spans took %s", took)
			}
			began = time.Now()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			made.Close(ctx)
			if took := time.Since(began); took > enough {
				t.Errorf("the end took %s", took)
			}
			if n := strings.Count(log.String(), "level=WARN"); c.says != "" && (n != 1 || !strings.Contains(log.String(), c.says)) || n > 1 {
				t.Errorf("logged: %s", log)
			}
		})
	}
}

// Nothing is set up before the first span, and nothing at all if the environment does not ask for
// traces.
func TestNobodyAsks(t *testing.T) {
	var none *Tracer
	s := none.Begin(t.Context(), "x", "key", Fresh).Child("y", Attr{"a", "b"})
	s.Set(Attr{"a", "b"})
	if got := s.Environ(); got != nil {
		t.Errorf("%q", got)
	}
	s.End("failed")
	none.Close(t.Context())

	got := collect(t, fine)
	made, _ := tracer(t)
	made.Close(t.Context())
	if made.provider != nil || got.asked > 0 {
		t.Error("a pass without a turn set something up")
	}
}

func TestWanted(t *testing.T) {
	const url = "OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318"
	for _, c := range []struct {
		environ []string
		wanted  bool
		why     string
	}{
		{nil, false, ""},
		{[]string{"OTEL_SERVICE_NAME=x"}, false, ""},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT= "}, false, ""},
		{[]string{url}, true, ""},
		{[]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://localhost:4318/v1/traces"}, true, ""},
		{[]string{url, "OTEL_SDK_DISABLED=true"}, false, ""},
		{[]string{url, "OTEL_SDK_DISABLED=false"}, true, ""},
		{[]string{url, "OTEL_TRACES_EXPORTER=none"}, false, ""},
		{[]string{url, "OTEL_TRACES_EXPORTER=otlp"}, true, ""},
		{[]string{url, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, false, "by HTTP alone"},
		{[]string{url, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json"}, true, ""},
	} {
		wanted, why := wanted(of(c.environ))
		if wanted != c.wanted || !strings.Contains(why, c.why) || (why == "") != (c.why == "") {
			t.Errorf("%q: %v, %q", c.environ, wanted, why)
		}
	}
}

// Only headers whose names suggest secrets are secret: a tenant's name must not be redacted
// everywhere.
func TestCredentials(t *testing.T) {
	got := Credentials(of([]string{
		"OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20abcdefghijkl,x-tenant=production-europe, x-honeycomb-team = team-secret-1 ",
		"OTEL_EXPORTER_OTLP_TRACES_HEADERS=api-key=k=v==",
	}))
	if want := []string{"abcdefghijkl", "team-secret-1", "k=v=="}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func of(environ []string) Lookup {
	return func(name string) (string, bool) {
		for _, v := range environ {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}
}

// nobody is an address without a listener.
func nobody(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// No value of a variable of the SDK makes a pass fail, wait or send without a pause.
func TestNoVariableHarms(t *testing.T) {
	names := []string{
		"OTEL_BSP_MAX_QUEUE_SIZE", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "OTEL_BSP_SCHEDULE_DELAY", "OTEL_BSP_EXPORT_TIMEOUT", "OTEL_ATTRIBUTE_COUNT_LIMIT", "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT",
		"OTEL_SPAN_EVENT_COUNT_LIMIT", "OTEL_SPAN_LINK_COUNT_LIMIT", "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG", "OTEL_EXPORTER_OTLP_TIMEOUT",
		"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_COMPRESSION", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_EXPORTER_OTLP_CERTIFICATE", "OTEL_EXPORTER_OTLP_CLIENT_KEY",
	}
	for _, name := range names {
		for _, value := range []string{"-1", "0", "-9223372036854775808", "9223372036854775807", "99999999999999999999", "nonsense=", "\x7f%zz"} {
			t.Run(name+"="+value, func(t *testing.T) {
				got := collect(t, fine)
				t.Setenv(name, value)
				tr, _ := tracer(t)
				for i := range 20 {
					s := tr.Begin(t.Context(), "invoke_agent", fmt.Sprint(i), Fresh, Attr{"a", "b"})
					s.Child("run").End("x")
					s.Set(Attr{"c", 1})
					s.End("")
				}
				began := time.Now()
				tr.Close(t.Context())
				if took := time.Since(began); took > flushTime+time.Second {
					t.Errorf("it took %s", took)
				}
				got.mu.Lock()
				defer got.mu.Unlock()
				if got.asked > 50 {
					t.Errorf("%d requests", got.asked)
				}
			})
		}
	}
}
