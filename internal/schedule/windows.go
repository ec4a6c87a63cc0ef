package schedule

import (
	"fmt"
	"strings"
	"time"
)

// Schtasks returns the command with which the Task Scheduler of Windows repeats a job.
func Schtasks(j Job, every time.Duration) string {
	minutes := max(int((every+time.Minute-1)/time.Minute), 1)
	var words []string
	for i, w := range j.Command(Launchd) {
		if i == 0 || strings.ContainsRune(w, ' ') {
			w = `\"` + w + `\"`
		}
		words = append(words, w)
	}
	return fmt.Sprintf(`schtasks /Create /SC MINUTE /MO %d /TN %s /TR "%s"`, minutes, j.Name(), strings.Join(words, " "))
}
