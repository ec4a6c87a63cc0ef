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

// Outcome is what a pass says of one turn or merge.
type Outcome struct {
	Key   string // what it is about
	Says  string // how it ended
	Waits bool   // nothing was done, and the next pass may say the same
}

// toldWait is what was last said of something that waits.
type toldWait struct {
	Says string    `json:"says"`
	At   time.Time `json:"at"` // when a pass met it last
}

// waitForgotten is when it is told again, after no pass met it.
const waitForgotten = 24 * time.Hour

// waitsFile holds what was last said of what waits.
func (d Dirs) waitsFile() string { return filepath.Join(d.State, "waits.told") }

// TellOutcomes gives for each outcome whether it is still to be told, and notes that it is
// told now: under cron each line is mailed, so what only waits is told once, until it waits
// for something else or something is done. Where that cannot be noted, it is told again.
func (d Dirs) TellOutcomes(all []Outcome, now time.Time) []bool {
	told, tell := d.toldWaits(now), make([]bool, len(all))
	before := maps.Clone(told)
	for i, o := range all {
		says := withoutDigits(o.Says)
		tell[i] = !o.Waits || told[o.Key].Says != says
		delete(told, o.Key)
		if o.Waits {
			told[o.Key] = toldWait{says, now.UTC()}
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

// toldWaits reads what was said; nothing of what no pass met for long.
func (d Dirs) toldWaits(now time.Time) map[string]toldWait {
	told := map[string]toldWait{}
	if b, err := os.ReadFile(d.waitsFile()); err != nil || json.Unmarshal(b, &told) != nil {
		return map[string]toldWait{}
	}
	maps.DeleteFunc(told, func(_ string, t toldWait) bool { return now.Sub(t.At) >= waitForgotten })
	return told
}

// withoutDigits is a text as it stays while times and counts in it change.
func withoutDigits(s string) string {
	return string(slices.DeleteFunc([]rune(s), func(r rune) bool { return strings.ContainsRune("0123456789", r) }))
}
