package git

import (
	"cmp"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Voice sets the author, committer and signer of a mirror's commits. Zero fields mean the user of the
// operator's git.
type Voice struct {
	Author    Identity
	Committer Identity
	SignOff   bool     // commits get a Signed-off-by trailer
	Signer    Identity // of the trailer
}

// WithVoice sets the identities of the mirror's commits.
func (m *Mirror) WithVoice(v Voice) *Mirror {
	m.voice = v
	return m
}

// Named checks that the author of a commit is known, and who signs it off, if that is wanted. Otherwise
// the error is a *work.BlockedError. account is Commit.Account.
func (m *Mirror) Named(account Identity) error {
	_, unsigned := m.signer()
	_, unnamed := m.author(account)
	return cmp.Or(unsigned, unnamed)
}

// signer returns who signs commits off; zero if nobody does.
func (m *Mirror) signer() (Identity, error) {
	switch {
	case !m.voice.SignOff:
		return Identity{}, nil
	case m.voice.Signer != Identity{}:
		return m.voice.Signer, nil
	}
	who := Identity{Name: m.git.operatorConfig("user.name"), Email: m.git.operatorConfig("user.email")}
	if !who.whole() {
		return Identity{}, &work.BlockedError{Reason: work.Reason{Kind: work.WhyAuthorUnknown}}
	}
	return who, nil
}

// author returns whom commits are by: the configured author, else the user of the operator's git, else
// the account.
func (m *Mirror) author(account Identity) (Identity, error) {
	who := cmp.Or(m.voice.Author, m.git.user("author"), account)
	if who == (Identity{}) {
		return who, &work.BlockedError{Reason: work.Reason{Kind: work.WhyAuthorUnknown}}
	}
	return who, nil
}

// committer returns the committer of a commit: the configured one, else who signs off, because checks
// of sign-offs want the author's or the committer's, else the user of the operator's git, else the
// commit's author.
func (m *Mirror) committer(of rawCommit) Identity {
	if of.signing == unsigned {
		return of.author
	}
	signer, _ := m.signer() // without one nothing is committed
	return cmp.Or(m.voice.Committer, signer, m.git.user("committer"), of.author)
}

// trailers returns the trailers of a commit's message, one per line.
func (m *Mirror) trailers(c Commit) ([]string, error) {
	lines := []string{work.TrailerTurn + ": " + work.ShortTurn(c.Turn)}
	for _, key := range c.Handled {
		lines = append(lines, work.TrailerHandled+": "+key)
	}
	lines = append(lines, c.Trailers...)
	signedOff, err := m.signedOff()
	lines = append(lines, signedOff...)
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return lines, err
}

// signedOff returns the Signed-off-by trailer, none if nobody signs off.
func (m *Mirror) signedOff() ([]string, error) {
	signer, err := m.signer()
	if err != nil || signer == (Identity{}) {
		return nil, err
	}
	return []string{"Signed-off-by: " + signer.String()}, nil
}
