package git

import (
	"errors"
	"strings"
	"testing"

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
	if testing.Short() {
		t.Skip("many repositories")
	}
	w := newWorld(t, tree)
	w.fetch()
	ours := w.git.opt.Identity
	const plain = "S\n\nMergexo-Turn: 1111111111111111\nMergexo-Handled: 1:issue:3:bb"
	for name, c := range map[string]struct {
		voice             Voice
		trailers          []string
		author, committer Identity
		message           string
	}{
		"nothing said": {author: ours, committer: ours, message: plain},
		"both named":   {voice: Voice{Author: ann, Committer: olga}, author: ann, committer: olga, message: plain},
		"signed off":   {voice: Voice{SignOff: true, Signer: olga}, author: ours, committer: olga, message: plain + "\nSigned-off-by: Olga Op <olga@example.com>"},
		"all": {
			voice: Voice{Author: ann, Committer: ours, SignOff: true, Signer: ann}, trailers: []string{"Assisted-by: codex"}, author: ann, committer: ours,
			message: plain + "\nAssisted-by: codex\nSigned-off-by: Ann Example <ann@example.com>",
		},
	} {
		author, committer, message, log := w.spoken(c.voice, c.trailers...)
		if author != c.author.String() || committer != c.committer.String() || message != c.message {
			t.Errorf("%s: %s, %s, %q", name, author, committer, message)
		}
		if !log.Ours || log.Turn != key1[:16] {
			t.Errorf("%s: taken for somebody else's: %+v", name, log)
		}
	}
}

// Commits from before the config named an author still count as ours. Commits that the named author
// makes by hand do not, because they have no turn.
func TestCommitsFromBeforeAreOurs(t *testing.T) {
	w := newWorld(t, tree)
	w.fetch()
	base := w.main()
	c, err := w.mirror.CommitFiles(t.Context(), Commit{Parents: []string{base}, Message: "S", Date: day, Turn: key1}, map[string][]byte{"x": nil})
	w.check(err)
	log, err := w.mirror.WithVoice(Voice{Author: ann}).Log(t.Context(), base, c.OID, 5)
	if err != nil || len(log) != 1 || !log[0].Ours {
		t.Errorf("%+v, %v", log, err)
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

func TestNobodyToSignOffIsAStop(t *testing.T) {
	w := newWorld(t, tree)
	w.cmd(w.root, "config", "--global", "user.name", olga.Name)
	w.open(Options{})
	m := w.mirror.WithVoice(Voice{SignOff: true})
	var blocked *work.BlockedError
	if _, err := m.Signer(); !errors.As(err, &blocked) || !strings.Contains(explain.Reason(blocked.Reason, explain.Place{Comments: true}).Next(), "sign_off") {
		t.Errorf("%v", err)
	}
	w.cmd(w.root, "config", "--global", "user.email", olga.Email)
	w.open(Options{})
	if who, err := w.mirror.WithVoice(Voice{SignOff: true}).Signer(); who != olga || err != nil {
		t.Errorf("%v, %v", who, err)
	}
	if who, err := w.mirror.WithVoice(Voice{}).Signer(); who != (Identity{}) || err != nil {
		t.Errorf("%v, %v", who, err)
	}
}
