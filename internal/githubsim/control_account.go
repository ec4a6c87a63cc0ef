package githubsim

import (
	"fmt"
	"strings"
	"time"
)

// AddUser makes a person and returns a token for them.
func (h *Hub) AddUser(login string) (token string, err error) { return h.addAccount(login, "User") }

// AddBot makes a bot; "[bot]" is added to the login. Bots may write checks.
func (h *Hub) AddBot(login string) (token string, err error) {
	return h.addAccount(strings.TrimSuffix(login, "[bot]")+"[bot]", "Bot")
}

// AddOrg makes an organisation, which can own repositories.
func (h *Hub) AddOrg(login string) error {
	_, err := h.addAccount(login, "Organization")
	return err
}

func (h *Hub) addAccount(login, kind string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.users[strings.ToLower(login)] != nil {
		return "", fmt.Errorf("there is a user %q already", login)
	}
	u := h.makeUser(login, kind)
	token := TokenOf(u.login)
	h.byToken[token] = u
	return token, nil
}

func (h *Hub) makeUser(login, kind string) *user {
	id, node := h.newID(kindUser)
	u := &user{id: id, nodeID: node, login: login, kind: kind, created: h.now(), limits: map[string]*bucket{}, token: usualToken()}
	h.users[strings.ToLower(login)] = u
	h.nodes[node] = u
	return u
}

// HasUser tells whether there is an account with that login.
func (h *Hub) HasUser(login string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.user(login) != nil
}

// RevokeToken makes a token bad credentials.
func (h *Hub) RevokeToken(token string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.byToken, token)
}

// RestoreToken lets an account's own token in again.
func (h *Hub) RestoreToken(login string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	u := h.user(login)
	if u == nil {
		return unknownUser(login)
	}
	h.byToken[TokenOf(login)] = u
	return nil
}

// TokenOf is the token that an account is made with.
func TokenOf(login string) string { return "token-" + strings.TrimSuffix(login, "[bot]") }

// RequireSSO has an owner want tokens to be authorized on a page for it (SAML single sign-on); with the
// page "" they are.
func (h *Hub) RequireSSO(owner, page string) {
	defer h.enter()()
	h.sso[strings.ToLower(owner)] = page
}

const samlMessage = "Resource protected by organization SAML enforcement. You must grant your OAuth token access to this organization."

// shutOut reports whether the owner of a repository wants the token to be authorized for it.
func (c *call) shutOut(r *Repo) bool {
	if r == nil || c.viewer == nil || c.h.sso[strings.ToLower(r.owner.login)] == "" {
		return false
	}
	c.sso = c.h.sso[strings.ToLower(r.owner.login)]
	return true
}

// ForbidStatuses makes a user's token one that may set no commit status.
func (h *Hub) ForbidStatuses(login string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	u := h.user(login)
	if u == nil {
		return unknownUser(login)
	}
	h.mute[u] = true
	return nil
}

// UserID is the database id of an account; 0 when there is none.
func (h *Hub) UserID(login string) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if u := h.user(login); u != nil {
		return u.id
	}
	return 0
}

// DeleteUser deletes an account: what it wrote stays, its author becomes null.
func (h *Hub) DeleteUser(login string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	u := h.user(login)
	if u == nil {
		return unknownUser(login)
	}
	u.deleted = true
	return nil
}

// RenameUser gives an account another login; the old one is free for anybody.
func (h *Hub) RenameUser(login, to string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	u := h.user(login)
	if u == nil {
		return unknownUser(login)
	}
	if h.users[strings.ToLower(to)] != nil {
		return fmt.Errorf("there is a user %q already", to)
	}
	delete(h.users, strings.ToLower(login))
	h.users[strings.ToLower(to)], u.login = u, to
	return nil
}

// email is the address that the account commits with.
func (u *user) email() string { return u.login + "@users.noreply.github.com" }

func (u *user) signature(at time.Time) signature {
	return signature{name: u.login, email: u.email(), at: at}
}

// Lag keeps the next count objects (-1 for all) of a kind out of the lists for so many reads, or
// for a time by the hub's clock. Kinds: issues, pulls, comments, review-comments, reviews,
// timeline. A count of 0 ends it.
func (h *Hub) Lag(kind string, count, reads int, wait time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lags[kind] = &lagOrder{count: count, reads: reads, wait: wait}
}

// LagMergeable lets the next n computations of mergeability answer "unknown".
func (h *Hub) LagMergeable(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mergeUnknown = n
}

// SetMaxComments sets how many comments an issue takes (2,500 at GitHub).
func (h *Hub) SetMaxComments(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.maxComments = n
}

// SetMaxPage sets the deepest page= that the issues list answers.
func (h *Hub) SetMaxPage(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.maxPage = n
}

// SetOpenPage has each page of a list of open issues hold at most this many, even if more are asked for.
func (h *Hub) SetOpenPage(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.openPage = n
}

// BumpOnReaction makes reactions bump the stamp of what they are on.
func (h *Hub) BumpOnReaction(bump bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reactionsBump = bump
}
