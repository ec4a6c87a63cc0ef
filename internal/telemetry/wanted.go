package telemetry

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// Lookup gives a variable of the environment.
type Lookup func(name string) (string, bool)

// Wanted reports whether the environment asks for traces. why says of what was asked for
// and cannot be.
func Wanted(lookup Lookup) (wanted bool, why string) {
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

// secretWords are in the names of headers that hold credentials.
var secretWords = []string{"auth", "key", "token", "secret", "pass", "credential", "team"}

// Credentials are the values of headers that are sent to the collector and, by their
// names, are secret.
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
			if len(words) > 0 { // "Bearer …": the last one is what must not be seen
				values = append(values, words[len(words)-1])
			}
		}
	}
	return values
}
