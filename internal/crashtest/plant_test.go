//go:build unix

package crashtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// meet makes passes while another one waits for its agent.
func (w *world) meet() error {
	defer w.on(w.machines()[0])
	for i := range 2 {
		if err := w.fleet.visit(i); err != nil {
			return err
		}
		ended, err := w.pass()
		if err == nil && !ended {
			err = errors.New("it was killed")
		}
		if err != nil {
			return fmt.Errorf("a pass beside another: %w", err)
		}
	}
	return nil
}

// plantWork leaves in the checkouts what an agent that outlives its pass may
// still write there. Nothing of it belongs to any turn.
func (w *world) plantWork() error {
	found, err := filepath.Glob(w.state("checkouts", "*", "*", "worker-*"))
	if len(found) == 0 {
		err = errors.Join(err, w.unlessAgentsRan("checkout"))
	}
	for _, dir := range found {
		if info, statErr := os.Stat(dir); statErr != nil || !info.IsDir() {
			continue
		}
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, "left-behind.txt"), []byte("half a thought\n"), 0o600))
	}
	return err
}

// unlessAgentsRan is an error where an agent has worked, and what it needs is not
// found: then nothing is planted, and its deaths show nothing.
func (w *world) unlessAgentsRan(what string) error {
	w.rig.mu.Lock()
	defer w.rig.mu.Unlock()
	if len(w.rig.runs) > 0 {
		return fmt.Errorf("no %s is found to plant what a dead pass leaves", what)
	}
	return nil
}
