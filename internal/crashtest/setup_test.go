//go:build unix

package crashtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// A repository's set-up runs once for its lock files, and every turn gets a copy of what it made:
// all of it. A pass may die while it is made, kept or copied, and the machine with it.

// told is what a prompt says about the set-up.
type told struct {
	Made    []string `json:"made"`
	Failure string   `json:"failure"`
}

// setUp is what the set-up makes in a folder that git ignores.
var setUp = map[string]string{"deps/lock": "v1\n", "deps/one/a.txt": "one\n", "deps/one/b.txt": "two\n", "deps/two/c.txt": "three\n"}

// needsSetup adds a lock file, and has git ignore what is made of it.
func needsSetup(w *world) error {
	_, err := w.repo.PushCommit("main", "ann", map[string]string{".gitignore": "deps\n", "go.sum": "v1\n"}, "Depend on something")
	return err
}

// runSetup is the set-up.
func (w *world) runSetup(dir string) error {
	for name, text := range setUp {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			return err
		}
	}
	w.rig.mu.Lock()
	defer w.rig.mu.Unlock()
	w.rig.runs = append(w.rig.runs, agentRun{kind: setupRun})
	return nil
}

const setupRun = "set-up"

// checkSetup looks whether an agent got all that the set-up made, and was told so. Then it spoils
// its copy.
func (w *world) checkSetup(dir string, r request) error {
	if !w.scenario.setsUp {
		return nil
	}
	if t := r.Context.Surroundings.Setup; t == nil || t.Failure != "" || !slices.Equal(t.Made, []string{"deps"}) {
		return fmt.Errorf("the prompt says about the set-up: %+v", t)
	}
	if err := isSetUp(dir); err != nil {
		return fmt.Errorf("the agent got less than the set-up made: %w", err)
	}
	return os.WriteFile(filepath.Join(dir, "deps", "lock"), []byte("spoiled\n"), 0o600)
}

// isSetUp reports whether a folder has all that the set-up made, and nothing else in its place.
func isSetUp(dir string) error {
	for name, text := range setUp {
		if b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil || string(b) != text {
			return fmt.Errorf("%s is %q: %w", name, b, err)
		}
	}
	for _, in := range []string{"deps", "deps/one", "deps/two"} {
		if all, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(in))); err != nil || len(all) > 3 {
			return fmt.Errorf("%s has %d entries: %w", in, len(all), err)
		}
	}
	return nil
}

// keptSetup is the folder of what the set-up made; "": there is none, or not all of it.
func (w *world) keptSetup() string {
	made, _ := filepath.Glob(w.state("setups", "*", "*", "made-*", "files"))
	if len(made) == 0 || isSetUp(made[0]) != nil {
		return ""
	}
	return made[0]
}

// plantSetup leaves what a pass may leave that dies while it keeps what the set-up made, or copies it
// to a checkout. At every second place it is the machine that dies: then it empties a file of what is
// kept, for nothing of that is synced.
func (w *world) plantSetup(p point) error {
	if !w.scenario.setsUp {
		return nil
	}
	var errs []error
	put := func(path string) {
		errs = append(errs, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600))
	}
	dirs, err := filepath.Glob(w.state("setups", "*", "*"))
	errs = append(errs, err)
	for _, dir := range dirs {
		put(filepath.Join(dir, "new", "files", "deps", "lock"))
		put(filepath.Join(dir, "checkout", "deps", "left"))
	}
	checkouts, err := filepath.Glob(w.state("checkouts", "*", "*", "worker-*", ".git"))
	errs = append(errs, err)
	for _, git := range checkouts {
		put(filepath.Join(filepath.Dir(git), "deps", "left"))
	}
	if made := w.keptSetup(); made != "" && p.n%2 == 0 {
		errs = append(errs, os.Truncate(filepath.Join(made, "deps", "one", "a.txt"), 0))
	}
	return errors.Join(errs...)
}
