package folder

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Outcome is a pass's result for one turn or merge.
type Outcome struct {
	Key   string // of the turn or merge
	Says  string // its result
	Waits bool   // nothing was done, and the next pass may report the same
}

// reportedWait is the last reported text of a waiting turn or merge.
type reportedWait struct {
	Says string    `json:"says"`
	At   time.Time `json:"at"` // when a pass met it last
}

// waitForgotten is how long a wait must be unseen before it is reported again.
const waitForgotten = 24 * time.Hour

// waitsFile has the reported waits.
func (d Dirs) waitsFile() string { return filepath.Join(d.State, "waits.told") }

// OutcomesToReport returns for each outcome whether to report it, and stores that it was reported.
// Cron mails each line, so a wait is reported once, until its text changes or something is done. If
// that cannot be stored, it is reported again.
func (d Dirs) OutcomesToReport(all []Outcome, now time.Time) []bool {
	told, tell := d.loadReportedWaits(now), make([]bool, len(all))
	before := maps.Clone(told)
	for i, o := range all {
		says := withoutDigits(o.Says)
		tell[i] = !o.Waits || told[o.Key].Says != says
		delete(told, o.Key)
		if o.Waits {
			told[o.Key] = reportedWait{says, now.UTC()}
		}
	}
	if maps.Equal(before, told) {
		return tell
	}
	if b, err := json.Marshal(told); err == nil {
		_ = os.WriteFile(d.waitsFile(), b, 0o600)
	}
	return tell
}

// loadReportedWaits reads the reported waits without those unseen for long.
func (d Dirs) loadReportedWaits(now time.Time) map[string]reportedWait {
	told := map[string]reportedWait{}
	if b, err := os.ReadFile(d.waitsFile()); err != nil || json.Unmarshal(b, &told) != nil {
		return map[string]reportedWait{}
	}
	maps.DeleteFunc(told, func(_ string, t reportedWait) bool { return now.Sub(t.At) >= waitForgotten })
	return told
}

// withoutDigits removes digits, so that changing times and counts leave a text equal.
func withoutDigits(s string) string {
	return string(slices.DeleteFunc([]rune(s), func(r rune) bool { return strings.ContainsRune("0123456789", r) }))
}
