package schedule

import (
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// least is the shortest interval: launchd itself waits that long.
const least = 10 * time.Second

// CheckEvery returns an error if a scheduler cannot keep an interval.
func CheckEvery(k Kind, every time.Duration) error {
	switch {
	case every < least:
		return fmt.Errorf("--every %s: want %s or more; shorter intervals find little sooner", work.IntervalText(every), work.IntervalText(least))
	case every%time.Second != 0:
		return fmt.Errorf("--every %s: want whole seconds", every)
	case every > 24*time.Hour:
		return fmt.Errorf("--every %s: want 24h or less", work.IntervalText(every))
	case k != Cron:
		return nil
	case every < time.Minute:
		return fmt.Errorf("--every %s: cron runs at most once a minute; use --every 1m, or another scheduler: --kind %s", work.IntervalText(every), finer)
	}
	_, err := cronTimes(every)
	return err
}

// finer names the schedulers with intervals in seconds.
const finer = string(Systemd) + ", on a Mac --kind " + string(Launchd)

// cronTimes returns the first five fields of a cron line. Cron only knows minutes of an hour and
// hours of a day, so other intervals are errors.
func cronTimes(every time.Duration) (string, error) {
	minutes := int(every / time.Minute)
	switch {
	case minutes < 1 || every%time.Minute != 0 || minutes < 60 && 60%minutes != 0 || minutes > 60 && (minutes%60 != 0 || 24%(minutes/60) != 0):
		return "", fmt.Errorf("--every %s: cron runs at the same minutes of each hour; use 1m, 2m, 3m, 4m, 5m, 6m, 10m, 12m, 15m, 20m, 30m, or 1h, 2h, 3h, 4h, 6h, 8h, 12h, 24h", work.IntervalText(every))
	case minutes == 1:
		return "* * * * *", nil
	case minutes < 60:
		return fmt.Sprintf("*/%d * * * *", minutes), nil
	case minutes == 60:
		return "0 * * * *", nil
	case minutes == 24*60:
		return "0 0 * * *", nil
	}
	return fmt.Sprintf("0 */%d * * *", minutes/60), nil
}
