package machine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Reviewers may use other accounts than gh's own. gh stores their tokens and is asked when a pass
// first needs one, and once, so that "gh auth switch" in another shell changes nothing while the pass
// runs; a token is kept only in memory.

// accounts are the tokens and clients that were needed.
type accounts struct {
	mu      sync.Mutex
	gh      *ghProgram
	tokens  map[login]tokenOrError
	clients map[login]*github.Client // of other accounts than that of passes
}

// login is an account on a host; empty: that of gh's own login.
type login struct{ host, account string }

type tokenOrError struct {
	token string
	err   error
}

// ghTime limits one call of gh. Its keyring may ask a person to unlock it; we do not wait for that.
const ghTime = 20 * time.Second

// Token returns the token with which passes work on a host: of the account that the config names, else of
// the one that gh is logged in as. An old gh has no other, and a variable's token has no name: whose it is
// GitHub says, see env.Refused.
func (m *Machine) Token(ctx context.Context, host string) (string, error) {
	m.accounts.mu.Lock()
	defer m.accounts.mu.Unlock()
	if account := m.cfg.AccountOn(host); !strings.EqualFold(account, github.LoggedIn(host)) {
		token, err := m.token(ctx, login{host, account})
		if _, none := errors.AsType[*work.BlockedError](err); !none {
			return token, err
		}
	}
	return m.token(ctx, login{host, ""})
}

// TokenVariable returns the environment variable whose token Token returned; empty: none has it.
func (m *Machine) TokenVariable(host string) string {
	m.accounts.mu.Lock()
	defer m.accounts.mu.Unlock()
	if _, used := m.accounts.tokens[login{host, ""}]; !used {
		return ""
	}
	return github.TokenVariable(host)
}

// as returns the client of an account that gh knows besides its active one.
func (m *Machine) as(ctx context.Context, who login, log *slog.Logger) (env.GitHub, error) {
	m.accounts.mu.Lock()
	defer m.accounts.mu.Unlock()
	who.account = strings.ToLower(who.account)
	if c, known := m.accounts.clients[who]; known {
		return c, nil
	}
	token, err := m.token(ctx, who)
	if err != nil {
		return nil, err
	}
	c, err := github.New(transport.Options{Host: who.host, Token: token, Now: m.now, Log: log, Count: m.tally.OfOther(who.host), ReadOnly: m.readOnly})
	if err != nil {
		return nil, err
	}
	m.accounts.clients[who] = c
	return c, nil
}

// token asks gh for a token, once.
func (m *Machine) token(ctx context.Context, who login) (string, error) {
	if known, asked := m.accounts.tokens[who]; asked {
		return known.token, known.err
	}
	var t tokenOrError
	if who.account == "" {
		t.token = github.Token(who.host)
		m.secrets.Add(t.token, "gh's token")
	} else {
		t.token, t.err = m.tokenOf(ctx, who)
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	m.accounts.tokens[who] = t
	return t.token, t.err
}

// tokenOf asks gh for the token of one of its accounts.
func (m *Machine) tokenOf(ctx context.Context, who login) (string, error) {
	if m.accounts.gh == nil {
		m.accounts.gh = m.findGh(ctx)
	}
	for _, known := range github.KnownAccounts(who.host) {
		if strings.EqualFold(known, who.account) { // gh distinguishes upper and lower case, GitHub does not
			who.account = known
		}
	}
	token, why := m.accounts.gh.token(ctx, who)
	if why != nil {
		why.Kind, why.Who, why.Text = work.WhyReviewerAccount, who.account, m.secrets.Redact(why.Text)
		return "", &work.BlockedError{Reason: *why}
	}
	m.secrets.Add(token, "the token of "+who.account)
	return token, nil
}

// ghProgram is the installed gh.
type ghProgram struct {
	path, version string
	broken        string // why it cannot be used; empty: it can
	environ       []string
}

var ghVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^gh version v?(\d+\.\d+\S*)`) })

// findGh looks for gh and asks for its version.
func (m *Machine) findGh(ctx context.Context) *ghProgram {
	g := &ghProgram{environ: ghEnviron(m.env.All())}
	var err error
	if g.path, err = proc.LookPath("gh", m.path()); err != nil {
		g.broken = NoGh.Says
		return g
	}
	said, err := g.ask(ctx, "--version")
	if err != nil {
		g.broken = "gh does not start: " + err.Error()
	} else if v := ghVersion().FindStringSubmatch(said); v != nil {
		g.version = v[1]
	}
	return g
}

// NoGh is that there is no gh.
var NoGh = Trouble{"gh is not on PATH", "install it: https://cli.github.com; under cron PATH is short"}

// severalMajor and severalMinor are the first version of gh that has the tokens of several accounts.
const severalMajor, severalMinor = 2, 40

// severalTokens returns why gh cannot have the tokens of several accounts; nil: it can. A build without a
// version counts as new.
func (g *ghProgram) severalTokens() *Trouble {
	why := g.broken
	var major, minor int
	_, unknown := fmt.Sscanf(g.version, "%d.%d", &major, &minor)
	if unknown == nil && slices.Compare([]int{major, minor}, []int{severalMajor, severalMinor}) < 0 {
		why = fmt.Sprintf("gh %s is too old to have the tokens of several accounts", g.version)
	}
	if why == "" {
		return nil
	}
	return &Trouble{why, fmt.Sprintf("install gh %d.%d or later (https://cli.github.com), or remove account from the config", severalMajor, severalMinor)}
}

// Gh returns gh's version and path, or why it cannot be used. Reviewers with accounts of their own need a
// newer one.
func (m *Machine) Gh(ctx context.Context) (says string, t *Trouble) {
	g := m.findGh(ctx)
	says = strings.TrimSpace("gh "+g.version) + ", " + g.path
	if slices.ContainsFunc(m.cfg.Repos, func(r config.Repo) bool {
		return r.Review.Enabled && slices.ContainsFunc(r.Reviewers, func(x config.Reviewer) bool { return x.Account != "" })
	}) {
		return says, g.severalTokens()
	}
	if g.broken != "" {
		return "", &Trouble{g.broken, NoGh.Do}
	}
	return says, nil
}

// token asks gh for the token of an account.
func (g *ghProgram) token(ctx context.Context, who login) (token string, why *work.Reason) {
	if t := g.severalTokens(); t != nil {
		return "", &work.Reason{Text: t.Says, Advice: t.Do}
	}
	said, err := g.ask(ctx, "auth", "token", "--hostname", who.host, "--user", who.account)
	token = strings.TrimSpace(said)
	switch {
	case err != nil:
		why = &work.Reason{Text: "gh has no token for it: " + err.Error()}
	case token == "" || strings.ContainsAny(token, " \t\r\n"):
		why = &work.Reason{Text: "gh has no token for it"}
	default:
		return token, nil
	}
	why.Advice = fmt.Sprintf("log in with it: gh auth login --hostname %s; gh auth status --hostname %s lists gh's accounts", who.host, who.host)
	return "", why
}

// ask returns gh's output. Its error is one line.
func (g *ghProgram) ask(ctx context.Context, args ...string) (string, error) {
	res, err := proc.Run(ctx, proc.Cmd{Path: g.path, Args: args, Env: g.environ, Wall: ghTime, MaxOutput: 64 << 10, DieWithParent: true})
	switch {
	case err != nil:
		return "", err
	case res.TimedOut != proc.NoLimit:
		return "", fmt.Errorf("gh %s did not end within %s", args[0], ghTime)
	case res.Code != 0:
		first, _, _ := strings.Cut(strings.TrimSpace(string(res.Stderr)), "\n")
		return "", fmt.Errorf("gh %s ended with code %d: %s", args[0], res.Code, first[:min(len(first), 200)])
	}
	return string(res.Stdout), nil
}

// TokenVariables are the variables in which gh takes a token.
var TokenVariables = []string{"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"}

// ghEnviron returns gh's environment without tokens, which belong to one account but would be used
// for any, and without prompts.
func ghEnviron(all []string) []string {
	return append(slices.DeleteFunc(all, hasToken), "GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "NO_COLOR=1")
}

// hasToken reports whether a NAME=value has a token for gh.
func hasToken(v string) bool {
	name, _, _ := strings.Cut(v, "=")
	return slices.Contains(TokenVariables, strings.ToUpper(name))
}
