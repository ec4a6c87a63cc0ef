package env

import (
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// IgnoredStamps zeroes times of a repository's row that lie too far in the future, which passes
// ignore, and returns a text for each.
func IgnoredStamps(r *work.Repo, now time.Time) (told []string) {
	const why = ", which lies in the future: a clock was wrong then, and the time is ignored"
	if Future(r.HeartbeatAt, now, ClockWarning) {
		told = append(told, "last read at "+work.Stamp(r.HeartbeatAt)+why)
		r.HeartbeatAt = time.Time{}
	}
	if Future(r.NotBefore, now, work.LongestWait) {
		told = append(told, fmt.Sprintf("not to be asked before %s%s", work.Stamp(r.NotBefore), why))
		r.NotBefore = time.Time{}
	}
	return told
}
