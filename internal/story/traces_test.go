//go:build unix

package story

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	wire "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// traceCollector is what receives traces in a story.
type traceCollector struct {
	mu    sync.Mutex
	bad   int // status of its answers; 0: it takes what comes
	spans []*wire.Span
	about []string // what resources say of themselves
	raw   []byte   // all that came
	names map[string]string
}

// collectors are those of the stories that play.
var collectors sync.Map

// cmdCollector starts a collector of traces and names it in the environment; with a status
// its answers have that.
func cmdCollector(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: collector [STATUS]")
	}
	c := &traceCollector{names: map[string]string{}}
	if len(args) == 1 {
		_, err := fmt.Sscan(args[0], &c.bad)
		ts.Check(err)
	}
	server := httptest.NewServer(c)
	collectors.Store(ts, c)
	ts.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	ts.Defer(func() {
		server.Close()
		collectors.Delete(ts)
	})
}

func (c *traceCollector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(r.Body)
	}
	text, err := io.ReadAll(body)
	var sent collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(text, &sent)
	}
	if err != nil || c.bad > 0 || r.URL.Path != "/v1/traces" {
		w.WriteHeader(max(c.bad, http.StatusBadRequest))
		return
	}
	c.raw = append(c.raw, text...)
	for _, res := range sent.ResourceSpans {
		c.about = append(c.about, attributes(res.Resource.Attributes)...)
		for _, scope := range res.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
}

// cmdSpans prints the spans that came, by the time of their beginning, a line for each:
// its trace, itself and what it is below, by ordinals; its name and its attributes. --about
// prints what their sender says of itself, --raw all that came as it came.
func cmdSpans(ts *testscript.TestScript, neg bool, args []string) {
	found, ok := collectors.Load(ts)
	if neg || !ok {
		ts.Fatalf("usage: spans [--about|--raw], after collector")
	}
	c, _ := found.(*traceCollector)
	c.mu.Lock()
	defer c.mu.Unlock()
	out := ts.Stdout()
	switch {
	case slices.Equal(args, []string{"--about"}):
		slices.Sort(c.about)
		fmt.Fprintln(out, strings.Join(slices.Compact(c.about), "\n"))
		return
	case slices.Equal(args, []string{"--raw"}):
		fmt.Fprintln(out, string(c.raw))
		return
	}
	slices.SortStableFunc(c.spans, func(a, b *wire.Span) int { return int(a.StartTimeUnixNano) - int(b.StartTimeUnixNano) })
	for _, s := range c.spans {
		line := fmt.Sprintf("%s %s %s", c.name("t", s.TraceId), c.name("s", s.SpanId), s.Name)
		if len(s.ParentSpanId) > 0 {
			line += " below=" + c.name("s", s.ParentSpanId)
		}
		if s.Status.GetCode() == wire.Status_STATUS_CODE_ERROR {
			line += " ERROR"
		}
		all := attributes(s.Attributes)
		slices.Sort(all)
		fmt.Fprintln(out, line+" "+strings.Join(all, " "))
	}
}

// name is an ordinal in place of an id.
func (c *traceCollector) name(kind string, id []byte) string {
	key := kind + string(id)
	if c.names[key] == "" {
		n := 1
		for k := range c.names {
			if k[0] == kind[0] {
				n++
			}
		}
		c.names[key] = fmt.Sprintf("%s%d", kind, n)
	}
	return c.names[key]
}

func attributes(all []*common.KeyValue) (out []string) {
	for _, a := range all {
		var v any
		switch x := a.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			v = x.StringValue
		case *common.AnyValue_IntValue:
			v = x.IntValue
		case *common.AnyValue_DoubleValue:
			v = x.DoubleValue
		case *common.AnyValue_BoolValue:
			v = x.BoolValue
		default:
			v = a.Value
		}
		out = append(out, fmt.Sprintf("%s=%v", a.Key, v))
	}
	return out
}
