package schedule

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
)

// cron is a user's crontab.
type cron struct{ Machine }

func (cron) Kind() Kind { return Cron }

func (c cron) There(ctx context.Context) error {
	_, err := c.list(ctx)
	return err
}

// noCrontab matches crons' messages that there is no crontab yet.
var noCrontab = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)no crontab for|can't open .*no such file`) })

// list returns the whole crontab. Any unclear answer is an error, because the crontab would be
// overwritten.
func (c cron) list(ctx context.Context) (string, error) {
	res, err := c.ask(ctx, "", "crontab", "-l")
	switch {
	case err != nil:
		return "", err
	case res.Truncated:
		return "", errors.New("crontab -l gives more than anybody writes")
	case res.Code == 0:
		return string(res.Stdout), nil
	case len(res.Stdout) == 0 && noCrontab().MatchString(said(res)):
		return "", nil
	}
	return "", fmt.Errorf("crontab -l: %s", said(res))
}

func (c cron) Files(j Job) ([]File, error) {
	if err := j.check(); err != nil {
		return nil, err
	}
	block, err := cronBlock(j)
	return []File{{"crontab", block}}, err
}

func (c cron) Installed(ctx context.Context, j Job) (Installed, error) {
	tab, err := c.list(ctx)
	if err != nil {
		return Installed{}, err
	}
	_, block, _, err := cutCron(j, tab)
	if err != nil || block == "" {
		return Installed{}, err
	}
	f := File{"crontab", block}
	return Installed{Job: jobOf(f, cronBegins), Files: []File{f}, Runs: true}, nil
}

func (c cron) Install(ctx context.Context, j Job) error {
	all, err := c.Files(j)
	if err != nil {
		return err
	}
	tab, err := c.list(ctx)
	if err != nil {
		return err
	}
	tab, err = intoCron(j, tab, all[0].Text)
	if err != nil {
		return err
	}
	return c.store(ctx, tab)
}

func (c cron) Remove(ctx context.Context, j Job) error {
	tab, err := c.list(ctx)
	if err != nil {
		return err
	}
	before, block, after, err := cutCron(j, tab)
	switch {
	case err != nil || block == "":
		return err
	case before+after == "":
		return c.tell(ctx, "", "crontab", "-r")
	}
	return c.store(ctx, before+after)
}

// store replaces the crontab, and checks that cron has it.
func (c cron) store(ctx context.Context, tab string) error {
	if err := c.tell(ctx, tab, "crontab", "-"); err != nil {
		return err
	}
	now, err := c.list(ctx)
	if err == nil && now != tab {
		err = errors.New("the crontab differs from what was just written: somebody else changed it; see crontab -l")
	}
	return err
}
