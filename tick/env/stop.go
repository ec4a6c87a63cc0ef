package env

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
)

// That nothing is merged in a repository any more is true of the repository, whichever machine
// has it. So its remote says it, too, and is not believed before it was told.

// TellStop has a repository's remote say that merging is stopped in it, where it is. Where that
// fails it is due again after as long as it has been so, an hour at most.
func TellStop(ctx context.Context, p *Env, r *Repo) error {
	halt, stopped, err := haltOf(ctx, p, r)
	if err != nil || !stopped {
		return err
	}
	why, err := wordsOf(halt)
	if err != nil {
		return err
	}
	if err = r.Git().Ensure(ctx); err == nil {
		err = r.Git().PutStop(ctx, why, halt.At)
	}
	if halt.TellAt.IsZero() || err != nil && ctx.Err() != nil {
		return err
	}
	var again time.Time // never
	if err != nil {
		again = p.Now().Add(min(max(p.Now().Sub(halt.At), time.Minute), time.Hour))
	}
	ctx = context.WithoutCancel(ctx)
	return errors.Join(err, p.Store.Update(ctx, func(tx *store.Tx) error { return tx.TellHaltAt(ctx, r.Row.ID, again) }))
}

// UntoldStop gives, in the words of the ref, why merging is stopped in a repository, where its
// remote is still to be told; empty: it is not.
func UntoldStop(ctx context.Context, p *Env, r *Repo) (string, error) {
	halt, stopped, err := haltOf(ctx, p, r)
	if err != nil || !stopped || halt.TellAt.IsZero() {
		return "", err
	}
	return wordsOf(halt)
}

func haltOf(ctx context.Context, p *Env, r *Repo) (halt merging.Halt, stopped bool, err error) {
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		halt, stopped, err = tx.MergingStopped(ctx, r.Row.ID)
		return err
	})
	return halt, stopped, err
}

func wordsOf(halt merging.Halt) (string, error) {
	halt.Why.Local = "" // names this machine's folders
	halt.Why.At = halt.At.UnixMilli()
	why, err := json.Marshal(halt.Why)
	if err != nil {
		return "", fmt.Errorf("encode why merging is stopped: %w", err)
	}
	return string(why), nil
}

// AskStop has this machine know what a repository's remote says of that. What nobody can read
// is a stop, too.
func AskStop(ctx context.Context, p *Env, r *Repo) error {
	text, stopped, err := r.Git().ReadStop(ctx)
	if err != nil || !stopped {
		return err
	}
	why := StopReason(text)
	if err := p.Dirs.StopMerging(r.Row, why); err != nil {
		return err
	}
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.StopMerging(ctx, r.Row.ID, why); err != nil {
			return err
		}
		return tx.TellHaltAt(ctx, r.Row.ID, time.Time{})
	})
}

// longestWhy is how much is believed of what a ref says that differs.
const longestWhy = 4000

// StopReason reads why merging is stopped. Whoever may push can write there: nothing is taken
// over by which it could tell people what to type.
func StopReason(text string) work.Reason {
	var said work.Reason
	if err := json.Unmarshal([]byte(text), &said); err != nil || said.Kind != work.WhyMergeDiffers {
		return work.Reason{Kind: work.WhyMergeDiffers, Text: "a ref of the repository says that merging is stopped, and cannot be read"}
	}
	differs := []rune(said.Text)
	return work.Reason{Kind: said.Kind, Number: said.Number, Commit: said.Commit, Head: said.Head, At: max(0, said.At), Text: string(differs[:min(len(differs), longestWhy)])}
}
