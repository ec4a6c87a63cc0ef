package git

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Voice sets the author, committer and signer of a mirror's commits. Zero fields mean our own
// identity.
type Voice struct {
	Author    Identity
	Committer Identity
	SignOff   bool     // commits get a Signed-off-by trailer
	Signer    Identity // of the trailer; zero: the user of the operator's git
}

// WithVoice sets the identities of the mirror's commits.
func (m *Mirror) WithVoice(v Voice) *Mirror {
	m.voice = v
	return m
}

// Signer returns who signs commits off; zero if nobody does. It is a *work.BlockedError if a
// sign-off is wanted and nobody is configured.
func (m *Mirror) Signer() (Identity, error) {
	switch {
	case !m.voice.SignOff:
		return Identity{}, nil
	case m.voice.Signer != Identity{}:
		return m.voice.Signer, nil
	}
	who := Identity{Name: m.git.operatorConfig("user.name"), Email: m.git.operatorConfig("user.email")}
	if who.Name == "" || who.Email == "" {
		return Identity{}, &work.BlockedError{Reason: work.Reason{Kind: work.WhyNobodySignsOff}}
	}
	return who, nil
}

func (m *Mirror) author() Identity {
	if m.voice.Author != (Identity{}) {
		return m.voice.Author
	}
	return m.git.opt.Identity
}

// committer returns the configured committer, else who signs off, else our identity. Checks of
// sign-offs want the author's or the committer's.
func (m *Mirror) committer() Identity {
	if m.voice.Committer != (Identity{}) {
		return m.voice.Committer
	}
	if signer, err := m.Signer(); err == nil && signer != (Identity{}) {
		return signer
	}
	return m.git.opt.Identity
}

// isOurAddress reports whether an author's address is ours, by default or by the current config.
func (m *Mirror) isOurAddress(email string) bool {
	return email == m.git.opt.Identity.Email || email == m.author().Email
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
	signer, err := m.Signer()
	if err != nil || signer == (Identity{}) {
		return nil, err
	}
	return []string{"Signed-off-by: " + signer.String()}, nil
}
