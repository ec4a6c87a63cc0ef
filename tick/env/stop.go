package env

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
)

// That nothing is merged in a repository any more is true of the repository: whichever machine
// has it, and whatever that one lost. So its remote says it, too.

// TellStop has a repository's remote say that merging is stopped in it, where it is.
func TellStop(ctx context.Context, p *Env, r *Repo) error {
	var halt merging.Halt
	var stopped bool
	err := p.Store.View(ctx, func(tx *store.Tx) (err error) {
		halt, stopped, err = tx.MergingStopped(ctx, r.Row.ID)
		return err
	})
	if err != nil || !stopped {
		return err
	}
	halt.Why.Local = "" // names this machine's folders
	why, err := json.Marshal(halt.Why)
	if err != nil {
		return fmt.Errorf("encode why merging is stopped: %w", err)
	}
	return r.Git().PutStop(ctx, string(why), halt.At)
}

// AskStop has this machine know what a repository's remote says of that. What nobody can read
// is a stop, too.
func AskStop(ctx context.Context, p *Env, r *Repo) error {
	text, stopped, err := r.Git().ReadStop(ctx)
	if err != nil || !stopped {
		return err
	}
	why := reasonOf(text)
	if err := p.Dirs.StopMerging(r.Row, why); err != nil {
		return err
	}
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		if _, known, err := tx.MergingStopped(ctx, r.Row.ID); err != nil || known {
			return err
		}
		return tx.StopMerging(ctx, r.Row.ID, why)
	})
}

// longestWhy is how much is believed of what a ref says that differs.
const longestWhy = 4000

// reasonOf reads why merging is stopped. Whoever may push can write there: nothing is taken over
// by which it could tell people what to type.
func reasonOf(text string) work.Reason {
	var said work.Reason
	if err := json.Unmarshal([]byte(text), &said); err != nil || said.Kind != work.WhyMergeDiffers {
		return work.Reason{Kind: work.WhyMergeDiffers, Text: "a ref of the repository says that merging is stopped, and cannot be read"}
	}
	differs := []rune(said.Text)
	return work.Reason{Kind: said.Kind, Number: said.Number, Commit: said.Commit, Head: said.Head, Text: string(differs[:min(len(differs), longestWhy)])}
}
