package schedule

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/files"
)

// systemd is the systemd of a user's session.
type systemd struct{ Machine }

func (systemd) Kind() Kind { return Systemd }

func (s systemd) There(ctx context.Context) error {
	if err := s.user(ctx, "show-environment"); err != nil {
		return fmt.Errorf("no systemd session of this user answers: %w", err)
	}
	return nil
}

func (s systemd) user(ctx context.Context, args ...string) error {
	return s.tell(ctx, "", "systemctl", append([]string{"--user"}, args...)...)
}

func (s systemd) paths(j Job) (service, timer string) {
	service, timer = j.unitNames()
	dir := filepath.Join(s.ConfigHome, "systemd", "user")
	return filepath.Join(dir, service), filepath.Join(dir, timer)
}

func (s systemd) Files(j Job) ([]File, error) {
	if err := j.check(); err != nil {
		return nil, err
	}
	service, timer := s.paths(j)
	return []File{{service, unitService(j)}, {timer, unitTimer(j)}}, nil
}

func (s systemd) Installed(ctx context.Context, j Job) (Installed, error) {
	service, timer := s.paths(j)
	all, err := readFiles(service, timer)
	if err != nil || len(all) == 0 {
		return Installed{}, err
	}
	_, unit := j.unitNames()
	runs := s.user(ctx, "is-enabled", "--quiet", unit) == nil && s.user(ctx, "is-active", "--quiet", unit) == nil
	return Installed{Job: jobOf(all[len(all)-1], onUnitActive), Files: all, Runs: runs}, nil
}

func (s systemd) Install(ctx context.Context, j Job) error {
	all, err := s.Files(j)
	if err != nil {
		return err
	}
	if _, err := s.Installed(ctx, j); err != nil { // another program's file is in its place
		return err
	}
	if err := writeFiles(all); err != nil {
		return err
	}
	_, timer := j.unitNames()
	for _, args := range [][]string{{"daemon-reload"}, {"enable", timer}, {"restart", timer}} {
		if err := s.user(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

func (s systemd) Remove(ctx context.Context, j Job) error {
	service, timer := s.paths(j)
	all, err := readFiles(service, timer)
	if err != nil || len(all) == 0 {
		return err
	}
	unit, timerUnit := j.unitNames()
	if !s.runs() { // then no timer is active, and the next session finds no files
		wanted := filepath.Join(filepath.Dir(timer), "timers.target.wants", timerUnit)
		return removeFiles(append(all, File{Path: wanted}))
	}
	half := len(all) == 1 && all[0].Path == service // an interrupted installation: the timer is missing
	if err := s.user(ctx, "disable", "--now", timerUnit); err != nil && !half {
		return fmt.Errorf("%w; nothing was removed, because the timer may be active: run it in a session of this user", err)
	}
	if err := removeFiles(all); err != nil {
		return err
	}
	_ = s.user(ctx, "reset-failed", unit) // a failed run would otherwise remain listed
	return s.user(ctx, "daemon-reload")
}

// runs reports whether this user has a systemd, even if it cannot be reached from here.
func (s systemd) runs() bool { return files.Exists(filepath.Join(s.RunDir, "systemd")) }

// Lingers reports whether this user's timers run while nobody is logged in; known is false if that
// cannot be found out.
func (m Machine) Lingers(ctx context.Context) (lingers, known bool) {
	res, err := m.ask(ctx, "", "loginctl", "show-user", strconv.Itoa(m.UID), "--property=Linger", "--value")
	if err != nil || res.Code != 0 {
		return false, false
	}
	switch strings.TrimSpace(string(res.Stdout)) {
	case "yes":
		return true, true
	case "no":
		return false, true
	}
	return false, false
}
