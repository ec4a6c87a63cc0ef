package metrics

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// full are values with something in every metric, and names that need escapes.
func full() Values {
	at := time.UnixMilli(1_700_000_000_250)
	v := Values{
		Build:    Build{Version: "v1.2.3", Go: "go1.26", OS: "linux", Arch: "amd64", Machine: "build1"},
		Last:     work.LastPass{At: at, GoodAt: at.Add(-time.Minute), Took: 1500 * time.Millisecond, Failures: 2},
		Passes:   []work.PassCount{{Outcome: work.PassOK, Count: 40}, {Outcome: work.PassFailed, Count: 2}},
		Queue:    3,
		Workers:  2,
		Running:  1,
		Items:    []Items{{Repo: "octo/app", State: work.StateBlocked, Count: 4}},
		Turns:    []Turns{{Kind: "fix", Agent: "a\"b\\c\nd", Outcome: "done", Count: 7}},
		TurnTime: Times{Bounds: []time.Duration{5 * time.Second, time.Minute}},
		Answers:  Times{Bounds: []time.Duration{5 * time.Second, time.Minute}},
		Failures: []Failures{{Kind: work.WhyFailed, Count: 5}},
		Used:     []Used{{Agent: "codex", Runs: 9, UsageSum: work.UsageSum{Usage: work.Usage{InputTokens: 1 << 53, OutputTokens: 12, CostUSD: 0.1 + 0.2}, UnknownTokens: 1, UnknownCost: 2}}},
		Requests: []work.RequestCount{{Host: "github.com", API: "rest", Status: "304", Count: 1_000_000}},
		Limits:   []work.RateLimit{{Host: "github.com", Resource: "core", Remaining: 4990, Most: 5000, ResetAt: at}},
		Machines: []Machine{{Name: "build1"}, {Name: "build2", Silent: true}},
	}
	v.TurnTime.Add(5*time.Second, 2, 6*time.Second)
	v.TurnTime.Add(time.Minute, 1, 30*time.Second)
	v.TurnTime.Add(0, 4, time.Hour)
	return v
}

func parse(t *testing.T, text string) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("Prometheus's parser: %v\n%s", err, text)
	}
	return families
}

// Prometheus's own parser reads what is written, and its linter finds nothing.
func TestPrometheusReadsIt(t *testing.T) {
	text := Text(Families(full()))
	read := parse(t, text)
	for _, f := range Known() {
		if read[f.Name] == nil || len(read[f.Name].Metric) == 0 {
			t.Errorf("no sample of %s was read", f.Name)
		}
	}
	if got, want := len(read), len(Known()); got != want {
		t.Errorf("%d metrics were read, not %d", got, want)
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	for _, p := range problems {
		t.Errorf("promlint: %s: %s", p.Metric, p.Text)
	}
	if err != nil {
		t.Error(err)
	}
}

func TestValuesArriveAsTheyWere(t *testing.T) {
	read := parse(t, Text(Families(full())))
	value := func(name string, labels ...string) float64 {
		t.Helper()
		for _, m := range read[name].GetMetric() {
			var has []string
			for _, l := range m.Label {
				has = append(has, l.GetName()+"="+l.GetValue())
			}
			if fmt.Sprint(has) == fmt.Sprint(labels) {
				return m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
		t.Errorf("%s%q was not read", name, labels)
		return -1
	}
	for _, c := range []struct {
		want float64
		got  float64
	}{
		{1_700_000_000.25, value("mergexo_pass_last_timestamp_seconds")},
		{1_699_999_940.25, value("mergexo_pass_last_success_timestamp_seconds")},
		{1.5, value("mergexo_pass_duration_seconds")},
		{40, value("mergexo_passes_total", "outcome=ok")},
		{0, value("mergexo_passes_total", "outcome=cancelled")},
		{4, value("mergexo_items", "repo=octo/app", "state=blocked")},
		{7, value("mergexo_turns_total", "kind=fix", "agent=a\"b\\c\nd", "outcome=done")},
		{1 << 53, value("mergexo_tokens_total", "agent=codex", "type=input")},
		{0.3, value("mergexo_cost_usd_total", "agent=codex")},
		{1_000_000, value("mergexo_github_requests_total", "host=github.com", "api=rest", "status=304")},
	} {
		if c.got != c.want {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
	h := read["mergexo_turn_duration_seconds"].GetMetric()[0].GetHistogram()
	var buckets []uint64
	for _, b := range h.Bucket {
		buckets = append(buckets, b.GetCumulativeCount())
	}
	if fmt.Sprint(buckets) != "[2 3 7]" || h.GetSampleCount() != 7 || h.GetSampleSum() != 3636 {
		t.Errorf("buckets %v, %d, %v", buckets, h.GetSampleCount(), h.GetSampleSum())
	}
}

// What a pass that failed before it planned does not know is left out, and what never was
// is a 0.
func TestUnknownAndNever(t *testing.T) {
	read := parse(t, Text(Families(Values{Queue: -1})))
	if read["mergexo_queue_size"] != nil && len(read["mergexo_queue_size"].Metric) > 0 {
		t.Error("a queue that nobody knows has a size")
	}
	if got := read["mergexo_pass_last_success_timestamp_seconds"].Metric[0].GetGauge().GetValue(); got != 0 {
		t.Errorf("a success that never was is at %v", got)
	}
}

// A sum in another order, or less what it counted before, is the same counter.
func TestACounterDoesNotFallByRounding(t *testing.T) {
	if a, b := dollars(0.1+0.2+0.3), dollars(0.3+0.2+0.1); a != b || a != 0.6 {
		t.Errorf("%v and %v", a, b)
	}
	if got := number(dollars(0.3 - 0.1 - 0.2)); got != "0" {
		t.Errorf("nothing is %s", got)
	}
}
