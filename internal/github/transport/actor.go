package transport

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Ghost is the login that GitHub shows for a deleted account.
const Ghost = "ghost"

// botSuffix ends the logins of apps in REST; GraphQL leaves it out.
const botSuffix = "[bot]"

// IsBotLogin tells an app's login, as REST has it.
func IsBotLogin(login string) bool { return strings.HasSuffix(login, botSuffix) }

// Actor is an account as GraphQL names it.
type Actor struct {
	Kind  string `json:"__typename"`
	ID    int64  `json:"databaseId"`
	Login string `json:"login"`
}

// Account is an account as REST names it: GraphQL leaves "[bot]" out, and has no deleted
// accounts.
func (a *Actor) Account() work.Account {
	if a == nil {
		return work.Account{Login: Ghost}
	}
	acc := work.Account{ID: a.ID, Login: a.Login, Bot: a.Kind == "Bot" || IsBotLogin(a.Login)}
	if acc.Bot && !IsBotLogin(acc.Login) {
		acc.Login += botSuffix
	}
	return acc
}
