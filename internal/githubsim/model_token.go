package githubsim

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// tokenFacts are what a token was made with.
type tokenFacts struct {
	finely  bool     // it is fine-grained: it has no scopes
	scopes  []string // of a classic one
	expires time.Time
}

// usualToken is one as gh's login gets it.
func usualToken() tokenFacts { return tokenFacts{scopes: []string{"repo", "workflow", "read:org"}} }

// header tells of a token what GitHub tells with every answer, and the simulator with that about
// the account.
func (t tokenFacts) header() http.Header {
	h := http.Header{}
	if !t.finely {
		h.Set("X-Oauth-Scopes", strings.Join(t.scopes, ", "))
	}
	if !t.expires.IsZero() {
		h.Set("Github-Authentication-Token-Expiration", t.expires.UTC().Format("2006-01-02 15:04:05 MST"))
	}
	return h
}

// reaches tells whether the token's scopes let it near a repository for reading or for writing.
func (t tokenFacts) reaches(r *Repo, level string) bool {
	if t.finely || slices.Contains(t.scopes, "repo") {
		return true
	}
	return !r.private && (level == "read" || slices.Contains(t.scopes, "public_repo"))
}

// SetScopes makes a user's token a classic one with these scopes.
func (h *Hub) SetScopes(login string, scopes []string) error {
	return h.setToken(login, func(t *tokenFacts) { t.finely, t.scopes = false, scopes })
}

// SetFineGrained makes a user's token a fine-grained one, which has no scopes.
func (h *Hub) SetFineGrained(login string) error {
	return h.setToken(login, func(t *tokenFacts) { t.finely = true })
}

// SetExpiry says until when a user's token holds.
func (h *Hub) SetExpiry(login string, at time.Time) error {
	return h.setToken(login, func(t *tokenFacts) { t.expires = at })
}

func (h *Hub) setToken(login string, change func(*tokenFacts)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	u := h.user(login)
	if u == nil {
		return unknownUser(login)
	}
	change(&u.token)
	return nil
}
