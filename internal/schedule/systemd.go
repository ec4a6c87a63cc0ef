package schedule

import (
	"fmt"
	"strings"
	"time"
)

// unitNames are the names of the job's service and timer.
func (j Job) unitNames() (service, timer string) { return j.Name() + ".service", j.Name() + ".timer" }

// unitService is the service that starts one pass. The pass outlives it.
func unitService(j Job) string {
	var env, line strings.Builder
	for _, v := range j.Env {
		fmt.Fprintf(&env, "Environment=%s\n", unitWord(v.Name+"="+v.Value))
	}
	for _, w := range j.Command(Systemd) {
		line.WriteString(" " + unitWord(strings.ReplaceAll(w, "$", "$$"))) // otherwise a leading $ would begin a variable
	}
	return fmt.Sprintf(`# %s
[Unit]
Description=One pass of gh mergexo, with %s

[Service]
Type=oneshot
%sExecStart=/usr/bin/env%s
# The pass works on when this has ended.
KillMode=process
`, j.header(), unitText(j.Config), env.String(), line.String())
}

// unitTimer is the timer that starts the service.
func unitTimer(j Job) string {
	service, _ := j.unitNames()
	return fmt.Sprintf(`# %s
[Unit]
Description=Repeats passes of gh mergexo, with %s

[Timer]
OnBootSec=10s
%s
AccuracySec=1s
Unit=%s

[Install]
WantedBy=timers.target
`, j.header(), unitText(j.Config), onUnitActive(j.Every), service)
}

func onUnitActive(every time.Duration) string {
	return fmt.Sprintf("OnUnitActiveSec=%ds", int(every/time.Second))
}

// unitText escapes text in a unit: a % would begin a specifier, and a backslash at the end would
// join the next line.
func unitText(s string) string {
	s = strings.ReplaceAll(s, "%", "%%")
	if strings.HasSuffix(s, `\`) {
		s += "."
	}
	return s
}

// unitWord quotes a word for a unit. A unit's program name cannot hold every path, so env starts
// the program.
func unitWord(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%").Replace(s) + `"`
}
