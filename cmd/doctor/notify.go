package doctor

import (
	"context"
	"sync"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/doctor"
	"github.com/mergexo/gh-mergexo/internal/notify"
	"github.com/mergexo/gh-mergexo/internal/work/news"
)

// sendTests sends a test message to each [[notify]], side by side. Nothing of it is recorded.
func sendTests(ctx context.Context, a *cli.App, cfg *config.Config) []doctor.Message {
	m, err := a.Machine(cfg)
	if err != nil { // a check of its own says so
		return nil
	}
	sent := make([]doctor.Message, len(cfg.Notify))
	var all sync.WaitGroup
	for i, n := range cfg.Notify {
		all.Go(func() {
			at := a.Now()
			message := news.Trial(n.Name, at)
			answer := m.Notify(ctx, n.Name, notify.Message{ID: message.ID, Event: string(message.Event), Body: message.JSON(), At: at})
			sent[i] = doctor.Message{Target: n.Name, Arrived: answer.Fate == notify.Taken, Says: answer.Says}
		})
	}
	all.Wait()
	if len(sent) == 0 {
		sent = []doctor.Message{{Says: "the config has no [[notify]]"}}
	}
	return sent
}
