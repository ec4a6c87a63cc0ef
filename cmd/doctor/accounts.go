package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/tick/env"
)

func accountChecks() []check {
	return []check{
		{"gh", "whether gh is there, and new enough for accounts of reviewers", here(gh)},
		{"login", "whether the host answers and takes requests now; the account that gh is logged in with, and whether GitHub and passes accept it", hosts(account)},
		{"token", "the kind of token, when it expires, and whether a classic or OAuth token has the scopes that the config needs", hosts(token)},
	}
}

func gh(ctx context.Context, e *exam) []Result {
	says, t := e.machine.Gh(ctx)
	if t != nil {
		return failure(t)
	}
	return ok(says)
}

func account(_ context.Context, e *exam, h *host) []Result {
	err := h.login()
	wait, limited := errors.AsType[*work.WaitError](err)
	switch {
	case h.token == "":
		return fail("gh is not logged in", "gh auth login --hostname "+h.name)
	case errors.Is(err, errNotAsked):
		return nil
	case limited:
		return warn(fmt.Sprintf("GitHub takes no requests until %s (%s)", wait.Until.UTC().Format(time.RFC3339), wait.Reason.Text), "wait until then, as passes do")
	case h.refused(err):
		return failure(h.trouble(err, "gh auth status --hostname "+h.name))
	case err != nil:
		return failure(h.trouble(err, "see whether gh reaches it: gh api --hostname "+h.name+" rate_limit"))
	}
	if why := env.Refused(h.name, h.named, h.variable, h.who, e.stored.accounts[h.name]); why != nil && h.who.ID != 0 {
		says := explain.Reason(*why, explain.Place{})
		return fail(says.What, says.Next())
	}
	who := "as " + h.who.Login
	if h.who.Login == "" {
		who = "as an app"
	}
	return ok(fmt.Sprintf("%s, by the token of %s", who, h.source()))
}

// source names where the token comes from: a variable, a file, gh's keyring.
func (h *host) source() string {
	if h.kept {
		return "gh's login of " + h.named + ", which the config names"
	}
	switch s := github.TokenSource(h.name); s {
	case "oauth_token":
		return "gh's hosts.yml"
	case "gh":
		return "gh's keyring"
	default:
		return s
	}
}

func token(_ context.Context, e *exam, h *host) []Result {
	if h.login() != nil {
		return nil
	}
	workflows := slices.ContainsFunc(e.cfg.Repos, func(r config.Repo) bool {
		return r.Name.Host == h.name && !r.Protects(".github/workflows/ci.yml")
	})
	return append(expiry(h, e.Now()), scopes(h, workflows)...)
}

// kind returns the kind of the token. If the prefix does not tell, it depends on what GitHub
// answered: an account, scopes.
func (h *host) kind() github.TokenKind {
	switch kind := github.TokenKindOf(h.token); {
	case kind != github.UnknownToken:
		return kind
	case h.who.Login == "":
		return github.AppToken
	case h.info.Scoped:
		return github.ClassicToken
	}
	return github.UnknownToken
}

// expiresSoon is how long before its end a token should be replaced.
const expiresSoon = 7 * 24 * time.Hour

func expiry(h *host, now time.Time) []Result {
	words := map[github.TokenKind]string{
		github.ClassicToken: "a classic token", github.OAuthToken: "a token of gh's login", github.AppToken: "a token of an app",
		github.FineGrainedToken: "a fine-grained token", github.UnknownToken: "a token of an unknown kind",
	}[h.kind()]
	switch until := h.info.Expires; {
	case until.IsZero():
		return ok(words)
	case until.Sub(now) < expiresSoon:
		return warn(fmt.Sprintf("%s, which expires at %s", words, until.UTC().Format(time.RFC3339)), "make a new one: "+h.tokenPage())
	default:
		return ok(fmt.Sprintf("%s, until %s", words, until.UTC().Format(time.RFC3339)))
	}
}

// scopes checks classic and OAuth tokens. What other tokens may read shows only when it is tried,
// and what they may write only by writing. A private repository that the token may not see is not there.
func scopes(h *host, workflows bool) []Result {
	if !h.info.Scoped {
		return ok("GitHub does not report the permissions of this token; reads were tested, writes cannot be: " +
			"it needs write permission for contents, issues, pull requests and commit statuses")
	}
	has := func(name string) bool { return slices.Contains(h.info.Scopes, name) }
	told := "none"
	if len(h.info.Scopes) > 0 {
		told = strings.Join(h.info.Scopes, ", ")
	}
	switch {
	case !has("repo") && !has("public_repo"):
		return fail("the token lacks the scope repo, without which nothing can be written (it has: "+told+")", h.moreScopes("repo"))
	case workflows && !has("workflow"):
		return warn("the token lacks the scope workflow: pushes that change .github/workflows, which protected_paths allows, are refused", h.moreScopes("workflow"))
	}
	return ok(told)
}

// moreScopes is how the token gets a scope. What a variable holds gh cannot change.
func (h *host) moreScopes(scope string) string {
	if h.kind() == github.OAuthToken && h.variable == "" {
		return fmt.Sprintf("gh auth refresh --hostname %s --scopes %s", h.name, scope)
	}
	return "give the token of " + h.source() + " that scope, or make another: " + h.tokenPage()
}

func (h *host) tokenPage() string {
	if h.kind() == github.FineGrainedToken {
		return "https://" + h.name + "/settings/personal-access-tokens"
	}
	return "https://" + h.name + "/settings/tokens"
}
