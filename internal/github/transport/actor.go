package transport

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Ghost is the login of deleted accounts on GitHub.
const Ghost = "ghost"

// botSuffix ends app logins in REST; GraphQL omits it.
const botSuffix = "[bot]"

// IsBotLogin reports whether a login is an app's in REST's form.
func IsBotLogin(login string) bool { return strings.HasSuffix(login, botSuffix) }

// Actor is an account in GraphQL.
type Actor struct {
	Kind  string `json:"__typename"`
	ID    int64  `json:"databaseId"`
	Login string `json:"login"`
}

// Account converts an actor to REST's form: GraphQL omits "[bot]" and has null for deleted
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
