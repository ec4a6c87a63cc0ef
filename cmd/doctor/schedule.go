package doctor

import (
	"context"

	"github.com/mergexo/gh-mergexo/cmd/schedule"
)

func scheduleChecks() []check {
	return []check{
		{"schedule", "whether a scheduler repeats passes as `schedule install` wrote it; whether a cron daemon runs", here(repeated)},
		{"scheduled_agents", "whether scheduled passes find the programs that this shell finds, and the logins of agents", here(lacks)},
	}
}

func repeated(_ context.Context, e *exam) (all []Result) {
	if e.invalid != nil || schedule.InDemo(e.App) { // there, nothing is scheduled
		return nil
	}
	st, err := e.scheduled()
	if err != nil {
		return warn(err.Error(), "gh mergexo schedule status")
	}
	for _, t := range st.Warnings() {
		all = append(all, warn(t.Says, t.Do)...)
	}
	if len(all) == 0 {
		return ok(st.Says())
	}
	return all
}

func lacks(_ context.Context, e *exam) (all []Result) {
	if e.invalid != nil || schedule.InDemo(e.App) {
		return nil
	}
	st, _ := e.scheduled() // the check before tells the error
	for _, l := range st.Lacks {
		all = append(all, warn(l.Says, l.Do)...)
	}
	return all
}
