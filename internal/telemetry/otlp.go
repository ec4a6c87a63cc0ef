package telemetry

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// exporter sends spans to a collector by OTLP over HTTP. OpenTelemetry's own exporter brings Google's RPC
// and 130 other packages, which took a sixth of the time of every start.
type exporter struct {
	client  *http.Client
	address string
	header  http.Header
	zip     bool
}

// newExporter returns an exporter with the settings of OpenTelemetry's variables.
func newExporter(lookup Lookup, version string) (*exporter, error) {
	v := func(name string) string {
		traces, _ := lookup("OTEL_EXPORTER_OTLP_TRACES_" + name)
		all, _ := lookup("OTEL_EXPORTER_OTLP_" + name)
		return cmp.Or(strings.TrimSpace(traces), strings.TrimSpace(all))
	}
	address, err := url.Parse(v("ENDPOINT"))
	if err != nil || address.Host == "" {
		return nil, errors.New("the collector's address is no URL")
	}
	if traces, _ := lookup("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"); strings.TrimSpace(traces) == "" {
		address = address.JoinPath("v1", "traces")
	}
	header := http.Header{"Content-Type": {"application/x-protobuf"}, "User-Agent": {serviceName + "/" + version}}
	for pair := range strings.SplitSeq(v("HEADERS"), ",") {
		name, value, ok := strings.Cut(pair, "=")
		if plain, err := url.PathUnescape(strings.TrimSpace(value)); ok && err == nil {
			header.Set(strings.TrimSpace(name), plain)
		}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if transport.TLSClientConfig, err = certificates(v("CERTIFICATE"), v("CLIENT_CERTIFICATE"), v("CLIENT_KEY")); err != nil {
		return nil, err
	}
	patience := 10 * time.Second
	if n, err := strconv.Atoi(v("TIMEOUT")); err == nil && n > 0 && n < math.MaxInt32 {
		patience = time.Duration(n) * time.Millisecond
	}
	return &exporter{&http.Client{Transport: transport, Timeout: patience}, address.String(), header, v("COMPRESSION") == "gzip"}, nil
}

// certificates reads the files that are named, if any.
func certificates(authority, own, key string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if authority != "" {
		pem, err := os.ReadFile(authority)
		config.RootCAs = x509.NewCertPool()
		if err == nil && !config.RootCAs.AppendCertsFromPEM(pem) {
			err = fmt.Errorf("%s has no certificate", authority)
		}
		if err != nil {
			return nil, err
		}
	}
	if own != "" {
		pair, err := tls.LoadX509KeyPair(own, key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// pause is how long a busy collector is left alone before the same spans are sent again.
const pause = 5 * time.Second

// ExportSpans implements the interface of OpenTelemetry's SDK. It sends until the collector is no
// longer busy, or the context ends.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	body := encodeSpans(spans)
	for {
		busy, err := e.send(ctx, body)
		if !busy {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

func (e *exporter) send(ctx context.Context, body []byte) (busy bool, err error) {
	header := e.header
	if e.zip {
		var small bytes.Buffer
		w := gzip.NewWriter(&small)
		_, _ = w.Write(body) // to memory
		_ = w.Close()
		body, header = small.Bytes(), header.Clone()
		header.Set("Content-Encoding", "gzip")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.address, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	req.Header = header
	resp, err := e.client.Do(req)
	if err != nil {
		return false, fmt.Errorf("traces: %w", err)
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection is used again
	switch {
	case resp.StatusCode < 300:
		return false, nil
	case resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode >= 502 && resp.StatusCode <= 504:
		busy = true
	}
	return busy, fmt.Errorf("the collector answers traces with %s", resp.Status)
}

// Shutdown implements the interface of OpenTelemetry's SDK.
func (e *exporter) Shutdown(context.Context) error {
	e.client.CloseIdleConnections()
	return nil
}

// message is a message of Protocol Buffers in the making.
type message []byte

func (m *message) key(field, wire int) { *m = binary.AppendUvarint(*m, uint64(field<<3|wire)) }

func (m *message) number(field int, n uint64) {
	m.key(field, 0)
	*m = binary.AppendUvarint(*m, n)
}

func (m *message) fixed(field int, n uint64) {
	m.key(field, 1)
	*m = binary.LittleEndian.AppendUint64(*m, n)
}

func (m *message) bytes(field int, b []byte) {
	m.key(field, 2)
	*m = append(binary.AppendUvarint(*m, uint64(len(b))), b...)
}

func (m *message) text(field int, s string) { m.bytes(field, []byte(strings.ToValidUTF8(s, "\uFFFD"))) }

func (m *message) attributes(field int, all []attribute.KeyValue) {
	for _, a := range all {
		var pair, value message
		pair.text(1, string(a.Key))
		switch a.Value.Type() {
		case attribute.BOOL:
			value.number(2, map[bool]uint64{true: 1}[a.Value.AsBool()])
		case attribute.INT64:
			value.number(3, uint64(a.Value.AsInt64()))
		case attribute.FLOAT64:
			value.fixed(4, math.Float64bits(a.Value.AsFloat64()))
		default: // lists are never set, and would be sent as text
			value.text(1, a.Value.String())
		}
		pair.bytes(2, value)
		m.bytes(field, pair)
	}
}

// encodeSpans encodes spans of one resource and one scope as an ExportTraceServiceRequest of
// opentelemetry-proto. The numbers are those of its fields, which never change.
func encodeSpans(spans []sdk.ReadOnlySpan) []byte {
	var request, resourceSpans, resource, scopeSpans, scope message
	from := spans[0]
	resource.attributes(1, from.Resource().Attributes())
	scope.text(1, from.InstrumentationScope().Name)
	scope.text(2, from.InstrumentationScope().Version)
	scopeSpans.bytes(1, scope)
	for _, s := range spans {
		scopeSpans.bytes(2, encodeSpan(s))
	}
	resourceSpans.bytes(1, resource)
	resourceSpans.bytes(2, scopeSpans)
	resourceSpans.text(3, from.Resource().SchemaURL())
	request.bytes(1, resourceSpans)
	return request
}

func encodeSpan(s sdk.ReadOnlySpan) message {
	var m message
	of, id, parent := s.SpanContext().TraceID(), s.SpanContext().SpanID(), s.Parent().SpanID()
	m.bytes(1, of[:])
	m.bytes(2, id[:])
	if parent.IsValid() {
		m.bytes(4, parent[:])
	}
	m.text(5, s.Name())
	m.number(6, uint64(s.SpanKind()))
	m.fixed(7, uint64(s.StartTime().UnixNano()))
	m.fixed(8, uint64(s.EndTime().UnixNano()))
	m.attributes(9, s.Attributes())
	m.number(10, uint64(s.DroppedAttributes()))
	if s.Status().Code == codes.Error {
		m.bytes(15, []byte{3 << 3, 2})
	}
	return m
}
