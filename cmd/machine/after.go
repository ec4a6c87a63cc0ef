package machine

import (
	"runtime"

	"github.com/mergexo/gh-mergexo/internal/metrics"
	"github.com/mergexo/gh-mergexo/internal/telemetry"
	"github.com/mergexo/gh-mergexo/tick"
	"github.com/mergexo/gh-mergexo/tick/folder"
	"github.com/mergexo/gh-mergexo/tick/observe"
)

// after returns the observers of a pass's end.
func after(m *Machine, opt PassOptions) []observe.After {
	var all []observe.After
	if m.cfg.Runtime.MetricsFile != "" {
		build := metrics.Build{Version: opt.Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
		all = append(all, observe.Metrics(m.cfg.Runtime.MetricsFile, build))
	}
	return all
}

// trace traces a pass's turns if the environment asks for it. Remaining spans are sent at the very
// end: that may wait.
func trace(m *Machine, pass *tick.Pass, version string) {
	for _, value := range telemetry.Credentials(m.env.Lookup) {
		m.secrets.Add(value, "a header for the collector of traces")
	}
	pass.Tracer = telemetry.New(telemetry.Options{
		Lookup: m.env.Lookup, Version: version, Redact: m.secrets.Redact, Log: pass.Log,
		Instance: func() (string, error) { return m.dirs.Installation(folder.MachineID()) },
	})
	if pass.Tracer != nil {
		pass.After = append(pass.After, observe.Traces(pass.Tracer))
	}
}
