package telemetry

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// Lookup returns an environment variable.
type Lookup func(name string) (string, bool)

// wanted reports whether the environment asks for traces. why is set if it asks for something
// unsupported.
func wanted(lookup Lookup) (wanted bool, why string) {
	v := func(name string) string {
		value, _ := lookup(name)
		return strings.TrimSpace(value)
	}
	switch protocol := cmp.Or(v("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), v("OTEL_EXPORTER_OTLP_PROTOCOL")); {
	case v("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" && v("OTEL_EXPORTER_OTLP_ENDPOINT") == "":
		return false, ""
	case strings.EqualFold(v("OTEL_SDK_DISABLED"), "true"):
		return false, ""
	case v("OTEL_TRACES_EXPORTER") != "" && v("OTEL_TRACES_EXPORTER") != "otlp":
		return false, ""
	case protocol == "grpc":
		return false, "traces are sent by HTTP alone: set OTEL_EXPORTER_OTLP_TRACES_PROTOCOL to http/protobuf, and the endpoint to the collector's HTTP port, such as 4318"
	}
	return true, ""
}

// batching returns the SDK's settings for sending spans. The SDK itself reads these variables, too,
// but panics at some numbers, fills the memory at others, and sends without a pause at 0.
func batching(lookup Lookup) []sdk.BatchSpanProcessorOption {
	number := func(name string, usual, least, most int) int {
		value, _ := lookup(name)
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil || n < least || n > most {
			return usual
		}
		return n
	}
	queue := number("OTEL_BSP_MAX_QUEUE_SIZE", sdk.DefaultMaxQueueSize, 1, 1<<16)
	return []sdk.BatchSpanProcessorOption{
		sdk.WithMaxQueueSize(queue),
		sdk.WithMaxExportBatchSize(number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", min(sdk.DefaultMaxExportBatchSize, queue), 1, queue)),
		sdk.WithBatchTimeout(time.Duration(number("OTEL_BSP_SCHEDULE_DELAY", sdk.DefaultScheduleDelay, 100, 60_000)) * time.Millisecond),
		sdk.WithExportTimeout(time.Duration(number("OTEL_BSP_EXPORT_TIMEOUT", sdk.DefaultExportTimeout, 100, 60_000)) * time.Millisecond),
	}
}

// secretWords are parts of the names of headers that hold credentials.
var secretWords = []string{"auth", "key", "token", "secret", "pass", "credential", "team"}

// Addresses returns the addresses of the collector.
func Addresses(lookup Lookup) (all []string) {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} {
		if address, _ := lookup(name); address != "" {
			all = append(all, address)
		}
	}
	return all
}

// Credentials returns the values of headers for the collector whose names suggest secrets.
func Credentials(lookup Lookup) (values []string) {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"} {
		all, _ := lookup(name)
		for pair := range strings.SplitSeq(all, ",") {
			header, value, _ := strings.Cut(pair, "=")
			if !slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(strings.ToLower(header), w) }) {
				continue
			}
			if plain, err := url.PathUnescape(value); err == nil {
				value = plain
			}
			words := strings.Fields(value)
			if len(words) > 0 { // "Bearer …": the last word is the secret
				values = append(values, words[len(words)-1])
			}
		}
	}
	return values
}
