package env

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// operators are those whose accounts gh is logged in with, by host, as they are named
// to people.
type operators struct {
	login map[string]string // empty where nobody may be named
	apps  map[int64]bool    // accounts that are an app's
}

// Call remembers who gh is logged in as. An app is nobody to be named: with an @ its
// name is that of some other account. Not every answer says that it is one.
func (o *operators) Call(host string, who work.Account) {
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

// Operator is the login of the account that gh is logged in with; empty where nobody
// may be named.
func (a *Accounts) Operator(host string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.Names.login[host]
}
