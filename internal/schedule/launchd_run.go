package schedule

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// launchd is a user's launchd.
type launchd struct{ Machine }

func (launchd) Kind() Kind { return Launchd }

func (l launchd) There(ctx context.Context) error {
	_, err := l.domain(ctx)
	return err
}

// domain returns the domain of the user's jobs: gui, or user if nobody is logged in at the screen.
func (l launchd) domain(ctx context.Context) (string, error) {
	var errs []error
	for _, kind := range []string{"gui", "user"} {
		domain := fmt.Sprintf("%s/%d", kind, l.UID)
		err := l.tell(ctx, "", "launchctl", "print", domain)
		if err == nil {
			return domain, nil
		}
		errs = append(errs, err)
	}
	return "", errs[0]
}

// AtScreen reports whether the jobs of this user's launchd belong to a session at the screen, where the
// keychain is unlocked.
func (m Machine) AtScreen(ctx context.Context) bool {
	domain, err := launchd{m}.domain(ctx)
	return err == nil && strings.HasPrefix(domain, "gui/")
}

func (l launchd) path(j Job) string {
	return filepath.Join(l.Home, "Library", "LaunchAgents", j.label()+".plist")
}

func (l launchd) Files(j Job) ([]File, error) {
	if err := j.check(); err != nil {
		return nil, err
	}
	return []File{{l.path(j), property(j)}}, nil
}

func (l launchd) Installed(ctx context.Context, j Job) (Installed, error) {
	all, err := readFiles(l.path(j))
	if err != nil || len(all) == 0 {
		return Installed{}, err
	}
	found := Installed{Job: jobOf(all[0], startInterval), Files: all}
	if domain, err := l.domain(ctx); err == nil {
		found.Runs = l.tell(ctx, "", "launchctl", "print", domain+"/"+j.label()) == nil
	}
	return found, nil
}

// again is how often loading a job is tried until launchd has released the previous one, and
// againAfter the interval.
const (
	again      = 10
	againAfter = 300 * time.Millisecond
)

func (l launchd) Install(ctx context.Context, j Job) error {
	all, err := l.Files(j)
	if err != nil {
		return err
	}
	if _, err := readFiles(l.path(j)); err != nil { // another program's file is in its place
		return err
	}
	domain, err := l.domain(ctx)
	if err != nil {
		return err
	}
	if err := writeFiles(all); err != nil {
		return err
	}
	at := domain + "/" + j.label()
	_ = l.tell(ctx, "", "launchctl", "bootout", at) // it may not be loaded
	_ = l.tell(ctx, "", "launchctl", "enable", at)  // somebody may have disabled it
	for range again {
		if err = l.tell(ctx, "", "launchctl", "bootstrap", domain, l.path(j)); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(againAfter):
		}
	}
	return err
}

func (l launchd) Remove(ctx context.Context, j Job) error {
	all, err := readFiles(l.path(j))
	if err != nil || len(all) == 0 {
		return err
	}
	var stopped error
	if domain, err := l.domain(ctx); err == nil {
		at := domain + "/" + j.label()
		if l.tell(ctx, "", "launchctl", "print", at) == nil {
			stopped = l.tell(ctx, "", "launchctl", "bootout", at)
		}
	}
	return errors.Join(stopped, removeFiles(all))
}
