package store

import "testing"

// While the walk over the open pull requests of a repository stands in the middle, something of
// it is unread, also when the pass that walked died before it stored what the pulse showed.
func TestUnreadWhileAdoptionStandsInTheMiddle(t *testing.T) {
	d := openAt(t, newPath(t))
	r := addRepo(t, d)
	unread := func(adopted string) bool {
		t.Helper()
		update(t, d, func(tx *Tx) error { return tx.SetWalk(t.Context(), r.ID, "adopted", adopted) })
		return inTx(t, d, func(tx *Tx) (bool, error) {
			all, err := tx.ListUnread(t.Context(), t0)
			return all[r.ID], err
		})
	}
	if !unread("") {
		t.Error("nothing was looked at, and it counts as read")
	}
	if unread("done") {
		t.Error("all was looked at, and it counts as unread")
	}
	if !unread(`{"after":"Y3Vyc29yOjUw","seen":50,"all":3000}`) {
		t.Error("50 of 3,000 pull requests were looked at, and it counts as read")
	}
}
