package git

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
)

var (
	ann  = Identity{Name: "Ann Example", Email: "ann@example.com"}
	olga = Identity{Name: "Olga Op", Email: "olga@example.com"}
)

// spoken commits with a voice and returns author, committer and message.
func (w *world) spoken(v Voice, trailers ...string) (author, committer, message string, log Entry) {
	w.t.Helper()
	parent := w.main()
	m := w.mirror.WithVoice(v)
	c, err := m.CommitFiles(w.t.Context(), Commit{
		Parents: []string{parent}, Message: "S", Date: day, Turn: key1, Handled: []string{"1:issue:3:bb"}, Trailers: trailers,
	}, map[string][]byte{"x": []byte("x")})
	w.check(err)
	entries, err := m.Log(w.t.Context(), parent, c.OID, 5)
	w.check(err)
	parts := strings.Split(w.cmd(w.mirror.Dir(), "log", "-1", "--format=%an <%ae>%x00%cn <%ce>%x00%B", c.OID), "\x00")
	return parts[0], parts[1], strings.TrimRight(parts[2], "\n"), entries[0]
}

func TestWhomCommitsAreBy(t *testing.T) {
	testhome.NotShort(t)
	w := newWorld(t, tree)
	w.fetch()
	const plain = "S\n\nMergexo-Turn: 1111111111111111\nMergexo-Handled: 1:issue:3:bb"
	for name, c := range map[string]struct {
		voice             Voice
		trailers          []string
		author, committer Identity
		message           string
	}{
		"nothing said": {author: operator, committer: operator, message: plain},
		"both named":   {voice: Voice{Author: ann, Committer: olga}, author: ann, committer: olga, message: plain},
		"signed off":   {voice: Voice{SignOff: true, Signer: olga}, author: operator, committer: olga, message: plain + "\nSigned-off-by: Olga Op <olga@example.com>"},
		"all": {
			voice: Voice{Author: ann, Committer: operator, SignOff: true, Signer: ann}, trailers: []string{"Assisted-by: codex"}, author: ann, committer: operator,
			message: plain + "\nAssisted-by: codex\nSigned-off-by: Ann Example <ann@example.com>",
		},
	} {
		author, committer, message, log := w.spoken(c.voice, c.trailers...)
		if author != c.author.String() || committer != c.committer.String() || message != c.message {
			t.Errorf("%s: %s, %s, %q", name, author, committer, message)
		}
		if log.Turn != key1[:16] {
			t.Errorf("%s: the turn is not found: %+v", name, log)
		}
	}
}

// A replay keeps author and committer.
func TestAReplayKeepsWhomACommitIsBy(t *testing.T) {
	w := newWorld(t, tree)
	w.fetch()
	base := w.main()
	m := w.mirror.WithVoice(Voice{Author: ann, SignOff: true, Signer: olga})
	c, err := m.CommitFiles(t.Context(), Commit{Parents: []string{base}, Message: "S", Date: day, Turn: key1}, map[string][]byte{"x": nil})
	w.check(err)
	top := w.commit("theirs", map[string]string{"t": "t"})
	w.fetch()
	r, err := m.Replay(t.Context(), c.OID, top)
	w.check(err)
	got := w.cmd(w.mirror.Dir(), "log", "-1", "--format=%ae %ce %(trailers:key=Signed-off-by,valueonly)", r.OID)
	if !strings.HasPrefix(got, "ann@example.com olga@example.com Olga Op <olga@example.com>") {
		t.Errorf("replayed by %s", got)
	}
}

// A trailer with the whole turn key, as in older commits, counts, too.
func TestWholeKeysInTrailersCount(t *testing.T) {
	w := newWorld(t, tree)
	w.commit("C\n\nMergexo-Turn: "+key1, map[string]string{"t": "t"})
	w.fetch()
	if ok, err := w.mirror.ContainsTurn(t.Context(), w.main(), key1, ""); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	if ok, err := w.mirror.ContainsTurn(t.Context(), w.main(), key1[:15]+"2", ""); ok || err != nil {
		t.Errorf("another turn's: %v, %v", ok, err)
	}
}

// Whom commits are by comes from the config, else from git's, else from the account. Half a name in
// git's configuration counts as none.
func TestWhoIsTheAuthorWhereTheConfigNamesNobody(t *testing.T) {
	w := newWorld(t, tree)
	w.fetch()
	account := Identity{Name: "olga", Email: "7+olga@users.noreply.github.com"}
	for _, c := range []struct {
		config            string // of git
		voice             Voice
		author, committer Identity
	}{
		{"[user]\n\tname = Olga Op\n\temail = olga@example.com\n", Voice{}, olga, olga},
		{"[user]\n\tname = Olga Op\n\temail = olga@example.com\n[author]\n\tname = Ann Example\n\temail = ann@example.com\n", Voice{}, ann, olga},
		{"[user]\n\tname = Olga Op\n\temail = olga@example.com\n", Voice{Author: ann}, ann, olga},
		{"[user]\n\tname = Olga Op\n", Voice{}, account, account},
		{"", Voice{}, account, account},
		{"", Voice{SignOff: true, Signer: ann}, account, ann},
	} {
		w.write(filepath.Join(w.home, ".gitconfig"), c.config)
		w.open(Options{})
		m := w.mirror.WithVoice(c.voice)
		w.check(m.Named(account))
		made, err := m.CommitFiles(t.Context(), Commit{Parents: []string{w.main()}, Message: "S", Date: day, Turn: key1, Account: account}, map[string][]byte{"x": nil})
		w.check(err)
		if got, want := w.cmd(w.mirror.Dir(), "log", "-1", "--format=%an <%ae>, %cn <%ce>", made.OID), c.author.String()+", "+c.committer.String(); got != want {
			t.Errorf("%q, %+v: by %s, want %s", c.config, c.voice, got, want)
		}
	}
	var blocked *work.BlockedError
	if err := w.mirror.WithVoice(Voice{}).Named(Identity{}); !errors.As(err, &blocked) || blocked.Reason.Kind != work.WhyAuthorUnknown {
		t.Errorf("nobody is named: %v", err)
	}
}

func TestNobodyToSignOffIsAStop(t *testing.T) {
	w := newWorld(t, tree)
	w.write(filepath.Join(w.home, ".gitconfig"), "[user]\n\tname = "+olga.Name+"\n")
	w.open(Options{})
	m := w.mirror.WithVoice(Voice{SignOff: true})
	var blocked *work.BlockedError
	if err := m.Named(ann); !errors.As(err, &blocked) || !strings.Contains(explain.Reason(blocked.Reason, explain.Place{}).Next(), "sign_off") {
		t.Errorf("%v", err)
	}
	w.cmd(w.root, "config", "--global", "user.email", olga.Email)
	w.open(Options{})
	if err := w.mirror.WithVoice(Voice{SignOff: true}).Named(Identity{}); err != nil {
		t.Error(err)
	}
}
