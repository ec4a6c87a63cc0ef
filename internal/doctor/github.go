package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Reviewers with accounts of their own need a gh that has the tokens of several accounts.
const severalMajor, severalMinor = 2, 40

func gh(f Facts) []Check {
	p := f.Gh
	if p == nil || !p.Accounts {
		return required(p, "install it: https://cli.github.com; under cron PATH is short")
	}
	do := fmt.Sprintf("install gh %d.%d or later (https://cli.github.com), or remove account from the config", severalMajor, severalMinor)
	var major, minor int
	_, err := fmt.Sscanf(p.Version, "%d.%d", &major, &minor) // a build without a version counts as new
	if p.Trouble == "" && err == nil && slices.Compare([]int{major, minor}, []int{severalMajor, severalMinor}) < 0 {
		return fail(fmt.Sprintf("gh %s is too old to have the tokens of several accounts", p.Version), do)
	}
	return required(p, do)
}

// required checks a program that gh mergexo cannot do without.
func required(p *Program, do string) []Check {
	switch {
	case p == nil:
		return nil
	case p.Trouble != "":
		return fail(p.Trouble, do)
	case p.Path == "":
		return fail(p.Name+" is not on PATH", do)
	}
	return ok(strings.TrimSpace(p.Name+" "+p.Version) + ", " + p.Path)
}

// answers reports whether GitHub was asked with a token, and answered.
func (h Host) answers() bool { return h.LoggedIn && h.Asked && h.Down == nil && h.Limited == "" }

func network(h Host) []Check {
	if !h.LoggedIn || !h.Asked || h.Down == nil {
		return nil
	}
	return fail(h.Down.Says, cmp.Or(h.Down.Do, "see whether gh reaches it: gh api --hostname "+h.Name+" rate_limit"))
}

func login(h Host) []Check {
	switch {
	case !h.LoggedIn:
		return fail("gh is not logged in", "gh auth login --hostname "+h.Name)
	case !h.answers():
		return nil
	case h.Refused != nil:
		return fail(h.Refused.Says, cmp.Or(h.Refused.Do, "gh auth status --hostname "+h.Name))
	}
	if h.Foreign != nil {
		return fail(h.Foreign.Says, h.Foreign.Do)
	}
	who := "as " + h.Account
	if h.Account == "" {
		who = "as an app"
	}
	return ok(fmt.Sprintf("%s, by the token of %s", who, h.Source))
}

func rateLimit(h Host) []Check {
	if !h.LoggedIn || !h.Asked || h.Down != nil || h.Limited == "" {
		return nil
	}
	return warn(h.Limited, "wait until then, as passes do")
}

// accepted reports whether GitHub accepts the login.
func (h Host) accepted() bool { return h.answers() && h.Refused == nil }

// expiresSoon is how long before its end a token should be replaced.
const expiresSoon = 7 * 24 * time.Hour

func token(f Facts) []Check {
	return each(f.Hosts, Host.accepted, func(h Host) []Check {
		words := map[TokenKind]string{
			TokenClassic: "a classic token", TokenOAuth: "a token of gh's login", TokenApp: "a token of an app", TokenUnknown: "a token of an unknown kind",
			TokenFineGrained: "a fine-grained token",
		}[h.Token.Kind]
		switch until := h.Token.Expires; {
		case until.IsZero():
			return ok(words)
		case until.Sub(f.Now) < expiresSoon:
			return warn(fmt.Sprintf("%s, which expires at %s", words, until.UTC().Format(time.RFC3339)), "make a new one: "+tokenPage(h))
		default:
			return ok(fmt.Sprintf("%s, until %s", words, until.UTC().Format(time.RFC3339)))
		}
	})
}

// scopes checks classic and OAuth tokens. What other tokens may read shows only when it is tried,
// and what they may write only by writing.
func scopes(h Host) []Check {
	t := h.Token
	switch {
	case !h.accepted():
		return nil
	case !t.Scoped:
		return ok("GitHub does not report the permissions of this token; reads were tested, writes cannot be: " +
			"it needs write permission for contents, issues, pull requests and commit statuses")
	}
	has := func(name string) bool { return slices.Contains(t.Scopes, name) }
	told := "none"
	if len(t.Scopes) > 0 {
		told = strings.Join(t.Scopes, ", ")
	}
	switch {
	case !has("repo") && h.Needs.Private:
		return fail("the token lacks the scope repo, without which private repositories can be neither read nor written (it has: "+told+")", moreScopes(h, "repo"))
	case !has("repo") && !has("public_repo"):
		return fail("the token lacks the scope repo, without which nothing can be written (it has: "+told+")", moreScopes(h, "repo"))
	case h.Needs.Workflows && !has("workflow"):
		return warn("the token lacks the scope workflow: pushes that change .github/workflows, which protected_paths allows, are refused", moreScopes(h, "workflow"))
	}
	return ok(told)
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
