package schedule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/files"
)

// ByHand finds the schedules of passes that install did not write: in the crontab, and in the units and
// agents of this user. unread are the places that could not be read: one may be there.
func (m Machine) ByHand(ctx context.Context) (all []Hand, unread []error) {
	tab, err := cron{m}.list(ctx)
	if _, none := errors.AsType[*NoProgramError](err); err != nil && !none {
		unread = append(unread, err)
	}
	all = handInCron(tab, m.Home)
	units, errs := readFolder(filepath.Join(m.ConfigHome, "systemd", "user"), ".service", ".timer")
	unread = append(unread, errs...)
	for _, h := range handInUnits(units, m.Home) {
		if !m.rests(ctx, h.Repeats) {
			all = append(all, h)
		}
	}
	lists, errs := readFolder(filepath.Join(m.Home, "Library", "LaunchAgents"), ".plist")
	agents, odd := handInAgents(lists, m.Home)
	return append(all, agents...), slices.Concat(unread, errs, odd)
}

// rests reports that certainly nothing starts a unit: systemd answers, and has not enabled it.
func (m Machine) rests(ctx context.Context, unit string) bool {
	s := systemd{m}
	return s.user(ctx, "is-active", "--quiet", unit) != nil && s.user(ctx, "is-enabled", "--quiet", unit) != nil && s.There(ctx) == nil
}

// Bounds of what is read: nobody writes more.
const (
	mostFiles = 1000
	mostText  = 1 << 20
)

// readFolder reads the files of a folder whose names end so. Folders and files may be links, as
// those of home-manager are.
func readFolder(dir string, ends ...string) (all []File, unread []error) {
	names, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, []error{fmt.Errorf("read the folder: %w", err)}
	}
	for _, name := range names {
		at := filepath.Join(dir, name.Name())
		if name.IsDir() || !slices.Contains(ends, filepath.Ext(at)) {
			continue
		}
		if len(all)+len(unread) == mostFiles {
			return all, append(unread, fmt.Errorf("%s has more than %d files: the rest was not read", dir, mostFiles))
		}
		if text, err := readBounded(at); err == nil {
			all = append(all, File{at, text})
		} else if !errors.Is(err, fs.ErrNotExist) { // a link to nothing
			unread = append(unread, err)
		}
	}
	return all, unread
}

func readBounded(at string) (string, error) {
	real, err := filepath.EvalSymlinks(at)
	if err != nil {
		return "", err
	}
	if real == os.DevNull { // a masked unit
		return "", nil
	}
	f, info, err := files.OpenRegular(real)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info.Size() > mostText {
		return "", fmt.Errorf("read %s: it has more than %d bytes", at, mostText)
	}
	text, err := io.ReadAll(io.LimitReader(f, mostText))
	return string(text), err
}
