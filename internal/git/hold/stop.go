package hold

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// StopRef is the ref, on the remote and in the mirror, that says why nothing is merged in a
// repository any more. It outlives every machine that knew of it.
const StopRef = "refs/mergexo/merging-stopped"

var toStop = signal{StopRef, "whether merging is stopped in the repository"}

// ReadStop asks the remote why merging is stopped in the repository, in whatever words that was
// stored; false: it is not.
func (h Holds) ReadStop(ctx context.Context) (why string, stopped bool, err error) {
	message, oid, _, err := h.read(ctx, toStop, "")
	return strings.TrimSpace(message), oid != "", err
}

// PutStop stores that merging is stopped since some time. Where it is so already the first
// reason stays.
func (h Holds) PutStop(ctx context.Context, why string, since time.Time) error {
	if at, err := h.remote(ctx, toStop); err != nil || at != "" {
		return err
	}
	oid, err := h.commit(ctx, why, since)
	if err != nil {
		return fmt.Errorf("store that merging is stopped: %w", err)
	}
	err = h.move(ctx, toStop, "", oid)
	if _, moved := errors.AsType[*TakenError](err); moved { // another machine was first
		return nil
	}
	return err
}

// DropStop has merging resume, and tells whether it was stopped.
func (h Holds) DropStop(ctx context.Context) (stopped bool, err error) {
	at, err := h.remote(ctx, toStop)
	if err != nil || at == "" {
		return false, err
	}
	return true, h.move(ctx, toStop, at, "")
}
