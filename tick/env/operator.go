package env

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// operators are the accounts that gh is logged in with, by host, as they are mentioned.
type operators struct {
	login map[string]string // empty: mention nobody
	apps  map[int64]bool    // accounts of GitHub Apps
}

// SetLogin stores who gh is logged in as on a host. An app is not mentioned: @ and its name is
// another account. Not every answer says that an account is an app's, so SetLogin remembers its id.
func (o *operators) SetLogin(host string, who work.Account) {
	if o.login == nil {
		o.login, o.apps = map[string]string{}, map[int64]bool{}
	}
	if who.Bot || strings.HasSuffix(who.Login, "[bot]") {
		o.apps[who.ID] = true
	}
	o.login[host] = who.Login
	if o.apps[who.ID] {
		o.login[host] = ""
	}
}

// Operator returns the login that gh is logged in with; empty: mention nobody.
func (a *Accounts) Operator(host string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.Names.login[host]
}
