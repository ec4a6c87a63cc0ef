package env

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// someone is GitHub as seen by one account.
type someone struct {
	GitHub

	who    work.Account
	lost   error
	levels map[string]string
	asked  *int
}

func (s someone) Viewer(context.Context, string) (work.Account, string, bool, error) {
	*s.asked++
	return s.who, "", false, s.lost
}

func (s someone) Permission(_ context.Context, _ work.RepoName, who work.Account) (string, error) {
	return s.levels[who.Login], nil
}

const hostOfTests = "github.com"

var (
	operator  = work.Account{ID: 1, Login: "olga"}
	quinnsBot = work.Account{ID: 2, Login: "quinn-bot"}
)

// speech is a pass with a repository whose reviewer quinn has an account.
type speech struct {
	*Env
	r     *Repo
	asked int // requests for the account
	bot   someone
	deny  error // gh's error instead of a token
	gh    int   // calls of gh for a token
}

func (s *speech) speakers() Speakers { return Speakers{s.Env} }

func newSpeech(t *testing.T, path string) *speech {
	t.Helper()
	db := testdb.Open(t, path, time.Now)
	t.Cleanup(func() { _ = db.Close() })
	s := &speech{}
	levels := map[string]string{"olga": "admin", "quinn-bot": "write"}
	s.bot = someone{who: quinnsBot, levels: levels, asked: &s.asked}
	settings := config.Repo{Review: config.Review{Enabled: true}, Reviewers: []config.Reviewer{
		{Name: "quinn", Account: "Quinn-Bot"}, {Name: "sam"}, {Name: "olga-twin", Account: "Olga"},
	}}
	remote := Remote{
		Name: work.RepoName{Host: hostOfTests, Owner: "o", Name: "n"}, Settings: settings,
		GitHub: someone{who: operator, levels: levels, asked: &s.asked},
		As: func(context.Context, string) (GitHub, error) {
			s.gh++
			return s.bot, s.deny
		},
	}
	s.Env = &Env{Config: &config.Config{}, Remotes: []Remote{remote}, Store: db, Log: slog.New(slog.DiscardHandler), Now: time.Now, TokenVariable: func(string) string { return "" }}
	s.r = &Repo{Remote: remote}
	if err := db.View(t.Context(), func(tx *store.Tx) error { return s.LoadAccounts(t.Context(), tx, nil) }); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAReviewerSpeaksAsItsAccount(t *testing.T) {
	s := newSpeech(t, filepath.Join(t.TempDir(), "state.db"))
	if err := s.AcceptAccount(t.Context(), hostOfTests, operator); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := s.speakers().Of(t.Context(), s.r, "quinn")
		if err != nil || got.Who != quinnsBot || !got.MayApprove {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	if s.gh != 1 || s.asked != 1 {
		t.Errorf("gh was asked %d times for a token, GitHub %d times whose it is", s.gh, s.asked)
	}
	s.bot.levels["quinn-bot"] = "read"
	if got, err := s.speakers().Of(t.Context(), s.r, "quinn"); err != nil || got.MayApprove {
		t.Errorf("one that only reads: %+v, %v", got, err)
	}
	for _, reviewer := range []string{"sam", "olga-twin", "who has left"} {
		got, err := s.speakers().Of(t.Context(), s.r, reviewer)
		if err != nil || got.Who != operator || !got.MayApprove || s.gh != 1 {
			t.Errorf("%s, who speaks as we do: %+v, %v; gh was asked %d times", reviewer, got, err, s.gh)
		}
	}
}

// Marked writing of a reviewer's account is ours. gh must not be logged in as it, and nothing else
// that it does is ours.
func TestAReviewersAccountIsNoOperators(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := newSpeech(t, path)
	if err := s.AcceptAccount(t.Context(), hostOfTests, operator); err != nil {
		t.Fatal(err)
	}
	if err := s.speakers().RecordReviewers(t.Context(), s.r); err != nil {
		t.Fatal(err)
	}
	check := func(s *speech) {
		t.Helper()
		writers := s.Accounts.Writers(hostOfTests)
		if slices.Sort(writers); !slices.Equal(writers, []int64{operator.ID, quinnsBot.ID}) || !slices.Equal(s.Accounts.Operators(hostOfTests), []int64{operator.ID}) {
			t.Errorf("writers %v, operators %v", writers, s.Accounts.Operators(hostOfTests))
		}
	}
	check(s)
	_ = s.Store.Close()
	next := newSpeech(t, path)
	check(next)
	if err := next.speakers().RecordReviewers(t.Context(), next.r); err != nil || next.gh != 0 {
		t.Errorf("asked gh %d times about an account that is known, %v", next.gh, err)
	}
	err := next.AcceptAccount(t.Context(), hostOfTests, quinnsBot)
	if blocked, ok := errors.AsType[*work.BlockedError](err); !ok || blocked.Reason.Kind != work.WhyAccountChanged {
		t.Errorf("a pass that is logged in as the reviewer: %v", err)
	}
}

func TestAReviewerThatCannotSpeakIsNamed(t *testing.T) {
	refused := func(status int) error { return &transport.Error{Status: status, Message: "Bad credentials"} }
	for _, c := range []struct {
		name, text string
		change     func(*speech)
	}{
		{"no token", "gh has no token for it", func(s *speech) {
			s.deny = &work.BlockedError{Reason: work.Reason{Kind: work.WhyReviewerAccount, Who: "Quinn-Bot", Text: "gh has no token for it", Advice: "log in with it"}}
		}},
		{"a token that is not accepted", "401: Bad credentials", func(s *speech) { s.bot.lost = refused(401) }},
		{"a token that is refused", "403: Bad credentials", func(s *speech) { s.bot.lost = refused(403) }},
		{"the token of somebody else", "gh's token for it is that of eve", func(s *speech) { s.bot.who = work.Account{ID: 9, Login: "eve"} }},
		{"no access", "it has no access to ", func(s *speech) { s.bot.levels["quinn-bot"] = "none" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSpeech(t, filepath.Join(t.TempDir(), "state.db"))
			c.change(s)
			_, err := s.speakers().Of(t.Context(), s.r, "quinn")
			blocked, ok := errors.AsType[*work.BlockedError](err)
			if !ok {
				t.Fatalf("%v", err)
			}
			r := blocked.Reason
			if r.Kind != work.WhyReviewerAccount || r.Name != "quinn" || r.Who != "Quinn-Bot" || !strings.Contains(r.Text, c.text) || r.Advice == "" {
				t.Errorf("got %+v, want %q", r, c.text)
			}
			if err := s.speakers().RecordReviewers(t.Context(), s.r); err != nil {
				t.Errorf("the others wait, too: %v", err)
			}
			if c.name != "no access" && len(s.Accounts.Writers(hostOfTests)) != 0 {
				t.Errorf("recorded: %v", s.Accounts.Writers(hostOfTests))
			}
		})
	}
}

// A network that is down says nothing about the account.
func TestWhatIsNoRefusalIsNoStop(t *testing.T) {
	s := newSpeech(t, filepath.Join(t.TempDir(), "state.db"))
	s.bot.lost = &transport.UnreachableError{Host: hostOfTests, Err: context.DeadlineExceeded}
	_, err := s.speakers().Of(t.Context(), s.r, "quinn")
	if _, blocked := errors.AsType[*work.BlockedError](err); blocked || !errors.Is(err, s.bot.lost) {
		t.Errorf("%v", err)
	}
	if err := s.speakers().RecordReviewers(t.Context(), s.r); !errors.Is(err, s.bot.lost) {
		t.Errorf("what it wrote would be judged without knowing who it is: %v", err)
	}
	s.bot.lost = nil
	if _, err := s.speakers().Of(t.Context(), s.r, "quinn"); err != nil {
		t.Errorf("asked again: %v", err)
	}
}
