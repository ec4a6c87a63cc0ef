package env

import "testing"

// A transaction asks who gh is logged in as, while another goroutine has the accounts and waits for a
// transaction of its own.
func TestATransactionNeedsNoLockOfTheAccounts(t *testing.T) {
	var a Accounts
	a.accepted.Store("github.com", int64(7))
	a.mu.Lock()
	defer a.mu.Unlock()
	if id := a.loggedIn("github.com"); id != 7 {
		t.Errorf("account %d", id)
	}
}
