package metrics

import (
	"math"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Known returns all metrics without samples.
func Known() []Family {
	return []Family{
		gauge("mergexo_build_info", "Version of gh mergexo that wrote this file, and its build; always 1.", "version", "goversion", "goos", "goarch", "machine"),
		gauge("mergexo_passes_work", "Whether passes work: 1, or 0 while they fail, hang or read nothing."),
		gauge("mergexo_pass_last_timestamp_seconds", "When the last pass ended, in seconds since 1970."),
		gauge("mergexo_pass_last_success_timestamp_seconds", "When the last pass ended that read a repository and did not fail, in seconds since 1970; 0: never."),
		gauge("mergexo_pass_duration_seconds", "How long the last pass took."),
		gauge("mergexo_pass_consecutive_failures", "How many passes failed in a row, up to the last one; a pass that was killed failed."),
		counter("mergexo_passes_total", "Passes by outcome.", "outcome"),
		gauge("mergexo_queue_size", "Turns that the last pass planned and that have not started."),
		gauge("mergexo_workers", "Turns that may run in parallel (runtime.workers)."),
		gauge("mergexo_running_workers", "Turns that run."),
		gauge("mergexo_items", "Work items by repository and state; machines that share a database write the same.", "repo", "state"),
		gauge("mergexo_machine_silent", "Whether no pass has begun on a machine for much longer than usual: 1, else 0; each of several machines that share a database writes all.", "machine"),
		counter("mergexo_turns_total", "Turns that ended, by kind, agent and outcome.", "kind", "agent", "outcome"),
		histogram("mergexo_turn_duration_seconds", "Time from the claim of a turn to its end, including waits."),
		histogram("mergexo_review_response_latency_seconds", "Time from a person's comment to its answer."),
		counter("mergexo_failures_total", "Attempts that failed and turns that stopped for a person, by the kind of reason.", "kind"),
		counter("mergexo_runs_total", "Runs of agents' programs that ended.", "agent"),
		counter("mergexo_runs_unknown_usage_total", "Ended runs of agents' programs whose tokens, or whose cost, are not fully known.", "agent", "type"),
		counter("mergexo_tokens_total", "Tokens that agents used in ended runs.", "agent", "type"),
		counter("mergexo_cost_usd_total", "Cost of ended runs in US dollars, as far as it is known.", "agent"),
		counter("mergexo_github_requests_total", "Requests to GitHub by API and HTTP status.", "host", "api", "status"),
		gauge("mergexo_github_ratelimit_remaining", "Remaining requests or points of a GitHub rate limit at its last answer.", "host", "resource"),
		gauge("mergexo_github_ratelimit_limit", "Requests or points that the limit allows.", "host", "resource"),
		gauge("mergexo_github_ratelimit_reset_timestamp_seconds", "When the limit resets, in seconds since 1970.", "host", "resource"),
	}
}

// Families returns all metrics with the samples of values.
func Families(v Values) []Family {
	all := Known()
	by := map[string]*Family{}
	for i := range all {
		by[all[i].Name] = &all[i]
	}
	fillPasses(by, v)
	fillWork(by, v)
	fillAgents(by, v)
	fillGitHub(by, v)
	return all
}

func zeroOrOne(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func fillPasses(by map[string]*Family, v Values) {
	by["mergexo_build_info"].add(1, v.Build.Version, v.Build.Go, v.Build.OS, v.Build.Arch, v.Build.Machine)
	by["mergexo_passes_work"].add(zeroOrOne(v.Work))
	by["mergexo_pass_last_timestamp_seconds"].add(seconds(v.Last.At))
	by["mergexo_pass_last_success_timestamp_seconds"].add(seconds(v.Last.GoodAt))
	by["mergexo_pass_duration_seconds"].add(v.Last.Took.Seconds())
	by["mergexo_pass_consecutive_failures"].add(float64(v.Last.Failures))
	counts := map[work.PassOutcome]int{}
	for _, p := range v.Passes {
		counts[p.Outcome] = p.Count
	}
	for _, o := range work.PassOutcomes { // also outcomes that never occurred: a rate begins at 0
		by["mergexo_passes_total"].add(float64(counts[o]), string(o))
	}
}

func fillWork(by map[string]*Family, v Values) {
	if v.Queue >= 0 {
		by["mergexo_queue_size"].add(float64(v.Queue))
	}
	by["mergexo_workers"].add(float64(v.Workers))
	by["mergexo_running_workers"].add(float64(v.Running))
	for _, i := range v.Items {
		by["mergexo_items"].add(float64(i.Count), i.Repo, string(i.State))
	}
	for _, m := range v.Machines {
		by["mergexo_machine_silent"].add(zeroOrOne(m.Silent), m.Name)
	}
	for _, t := range v.Turns {
		by["mergexo_turns_total"].add(float64(t.Count), t.Kind, t.Agent, t.Outcome)
	}
	by["mergexo_turn_duration_seconds"].addTimes(v.TurnTime)
	by["mergexo_review_response_latency_seconds"].addTimes(v.Answers)
	for _, f := range v.Failures {
		by["mergexo_failures_total"].add(float64(f.Count), string(f.Kind))
	}
}

func fillAgents(by map[string]*Family, v Values) {
	for _, u := range v.Used {
		by["mergexo_runs_total"].add(float64(u.Runs), u.Agent)
		by["mergexo_runs_unknown_usage_total"].add(float64(u.UnknownTokens), u.Agent, "tokens")
		by["mergexo_runs_unknown_usage_total"].add(float64(u.UnknownCost), u.Agent, "cost")
		by["mergexo_tokens_total"].add(float64(u.InputTokens), u.Agent, "input")
		by["mergexo_tokens_total"].add(float64(u.OutputTokens), u.Agent, "output")
		by["mergexo_cost_usd_total"].add(dollars(u.CostUSD), u.Agent)
	}
}

func fillGitHub(by map[string]*Family, v Values) {
	for _, r := range v.Requests {
		by["mergexo_github_requests_total"].add(float64(r.Count), r.Host, r.API, r.Status)
	}
	for _, l := range v.Limits {
		by["mergexo_github_ratelimit_remaining"].add(float64(l.Remaining), l.Host, l.Resource)
		by["mergexo_github_ratelimit_limit"].add(float64(l.Most), l.Host, l.Resource)
		by["mergexo_github_ratelimit_reset_timestamp_seconds"].add(seconds(l.ResetAt), l.Host, l.Resource)
	}
}

func gauge(name, help string, labels ...string) Family {
	return Family{Name: name, Help: help, Kind: Gauge, Labels: labels}
}

func counter(name, help string, labels ...string) Family {
	return Family{Name: name, Help: help, Kind: Counter, Labels: labels}
}

func histogram(name, help string, labels ...string) Family {
	return Family{Name: name, Help: help, Kind: Histogram, Labels: labels}
}

// add adds a sample; values belong to the family's labels in order.
func (f *Family) add(value float64, values ...string) {
	var labels []string
	for i, name := range f.Labels {
		labels = append(labels, name, values[i])
	}
	f.samples = append(f.samples, sample{labels: labels, value: value})
}

// addTimes adds the samples of a histogram, whose buckets are cumulative.
func (f *Family) addTimes(t Times) {
	n := 0
	for _, most := range t.Bounds {
		n += t.Counts[most]
		f.samples = append(f.samples, sample{"_bucket", []string{"le", strconv.FormatFloat(most.Seconds(), 'f', -1, 64)}, float64(n)})
	}
	n += t.Counts[0]
	f.samples = append(f.samples,
		sample{"_bucket", []string{"le", "+Inf"}, float64(n)}, sample{suffix: "_sum", value: t.Sum.Seconds()}, sample{suffix: "_count", value: float64(n)})
}

// dollars rounds a sum. Once rows are pruned, the sum is added up in another order and may differ
// in its last digit, and Prometheus takes a decreasing counter as a restart.
func dollars(sum float64) float64 { return max(0, math.Round(sum*1e9)/1e9) }

func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}
