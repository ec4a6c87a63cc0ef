package store

import (
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// A repository's validators are its own: neither another's nor the host's.
func TestListValidators(t *testing.T) {
	ctx := t.Context()
	d := newDB(t)
	want := []work.Validator{
		{RepoID: 1, URL: "a", ETag: `"1"`, Next: "b", SeenAt: fromMillis(5)},
		{RepoID: 1, URL: "b", ETag: `"2"`, SeenAt: fromMillis(6)},
	}
	got := inTx(t, d, func(tx *Tx) ([]work.Validator, error) {
		for _, v := range append(want, work.Validator{RepoID: 2, URL: "a", ETag: `"3"`}, work.Validator{URL: "user", ETag: `"4"`}) {
			if err := tx.PutValidator(ctx, v); err != nil {
				return nil, err
			}
		}
		return tx.ListValidators(ctx, 1)
	})
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
