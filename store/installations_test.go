package store

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Signs have GitHub's time. What a person forgets is gone up to the newest one, also on a machine whose clock
// is behind.
func TestForgettingCoversWhatWasRead(t *testing.T) {
	d := newDB(t)
	repo := addRepo(t, d).ID
	update(t, d, func(tx *Tx) error {
		if err := tx.PutSign(t.Context(), work.Sign{RepoID: repo, ID: "other", At: t0, URL: "u"}); err != nil {
			return err
		}
		_, err := tx.ForgetInstallation(t.Context(), "other", t0.Add(-90*time.Minute))
		return err
	})
	signs := inTx(t, d, func(tx *Tx) ([]KnownSign, error) { return tx.ListSigns(t.Context()) })
	if len(signs) != 1 || !signs[0].Gone.Equal(t0) {
		t.Errorf("%+v", signs)
	}
}
