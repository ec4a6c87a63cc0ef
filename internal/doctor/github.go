package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

func config(f Facts) []Check {
	a := &about{}
	for _, p := range f.Config.Problems {
		a.fail(CodeConfig, p, f.Config.Do)
	}
	if len(f.Config.Problems) == 0 {
		a.ok(CodeConfig, fmt.Sprintf("%s, %s", f.Config.Path, count(f.Config.Repos, "repository", "repositories")))
	}
	for _, d := range f.Config.Doubts {
		a.warn(CodeSetting, d, "")
	}
	return a.all
}

func github(f Facts) []Check {
	a := &about{}
	if f.Gh != nil {
		program(a, CodeGh, "gh", *f.Gh)
	}
	all := a.all
	for _, h := range f.Hosts {
		all = append(all, host(h, f.Now)...)
	}
	return all
}

// program checks a required program.
func program(a *about, code Code, name string, p Program) {
	if p.Trouble != "" {
		a.fail(code, p.Trouble, p.Do)
		return
	}
	a.ok(code, strings.TrimSpace(name+" "+p.Version)+", "+p.Path)
}

func host(h Host, now time.Time) []Check {
	a := &about{name: h.Name}
	if !h.LoggedIn {
		a.fail(CodeLogin, "gh is not logged in", "gh auth login --hostname "+h.Name)
		return a.all
	}
	switch {
	case !h.Asked:
		return nil
	case h.Down != nil:
		a.fail(CodeNetwork, h.Down.Says, h.Down.Do)
		return a.all
	case h.Limited != "":
		a.warn(CodeRateLimit, h.Limited, "wait until then, as passes do")
		return a.all
	}
	a.ok(CodeNetwork, "it answers")
	if h.Refused != nil {
		a.fail(CodeLogin, h.Refused.Says, h.Refused.Do)
		return a.all
	}
	who := "as " + h.Account
	if h.Account == "" {
		who = "as an app"
	}
	a.ok(CodeLogin, fmt.Sprintf("%s, by the token of %s", who, h.Source))
	token(a, h, now)
	return a.all
}

// expiresSoon is how long before its end a token should be replaced.
const expiresSoon = 7 * 24 * time.Hour

func token(a *about, h Host, now time.Time) {
	words := map[TokenKind]string{
		TokenClassic: "a classic token", TokenOAuth: "a token of gh's login", TokenApp: "a token of an app", TokenUnknown: "a token of an unknown kind",
		TokenFineGrained: "a fine-grained token",
	}[h.Token.Kind]
	switch until := h.Token.Expires; {
	case until.IsZero():
		a.ok(CodeToken, words)
	case until.Sub(now) < expiresSoon:
		a.warn(CodeToken, fmt.Sprintf("%s, which expires at %s", words, until.UTC().Format(time.RFC3339)), "make a new one: "+tokenPage(h))
	default:
		a.ok(CodeToken, fmt.Sprintf("%s, until %s", words, until.UTC().Format(time.RFC3339)))
	}
	scopes(a, h)
}

// scopes checks classic and OAuth tokens. What other tokens may read shows only when it is tried,
// and what they may write only by writing.
func scopes(a *about, h Host) {
	t := h.Token
	if !t.Scoped {
		a.ok(CodeScopes, "GitHub does not report the permissions of this token; reads were tested, writes cannot be: "+
			"it needs write permission for contents, issues, pull requests and commit statuses")
		return
	}
	has := func(name string) bool { return slices.Contains(t.Scopes, name) }
	told := "none"
	if len(t.Scopes) > 0 {
		told = strings.Join(t.Scopes, ", ")
	}
	switch {
	case !has("repo") && h.Needs.Private:
		a.fail(CodeScopes, "the token lacks the scope repo, without which private repositories can be neither read nor written (it has: "+told+")", moreScopes(h, "repo"))
	case !has("repo") && !has("public_repo"):
		a.fail(CodeScopes, "the token lacks the scope repo, without which nothing can be written (it has: "+told+")", moreScopes(h, "repo"))
	case h.Needs.Workflows && !has("workflow"):
		a.warn(CodeScopes, "the token lacks the scope workflow: pushes that change .github/workflows, which protected_paths allows, are refused", moreScopes(h, "workflow"))
	default:
		a.ok(CodeScopes, told)
	}
}

func moreScopes(h Host, scope string) string {
	if h.Token.Kind == TokenOAuth && !strings.HasSuffix(h.Source, "_TOKEN") {
		return fmt.Sprintf("gh auth refresh --hostname %s --scopes %s", h.Name, scope)
	}
	return "give the token of " + h.Source + " that scope, or make another: " + tokenPage(h)
}

func tokenPage(h Host) string {
	if h.Token.Kind == TokenFineGrained {
		return "https://" + h.Name + "/settings/personal-access-tokens"
	}
	return "https://" + h.Name + "/settings/tokens"
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
