package git

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Voice says whom the commits of a mirror are by. What is zero is ours.
type Voice struct {
	Author    Identity
	Committer Identity
	SignOff   bool     // they carry a Signed-off-by
	Signer    Identity // whose; zero: whom the operator's git names
}

// Speaking has the mirror's commits made by others than us.
func (m *Mirror) Speaking(v Voice) *Mirror {
	m.voice = v
	return m
}

// Signer is who signs the commits off; zero when nobody does. It is an error that a
// person must mend when nobody is known who could.
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

// committer is who signs the commits off, if nobody else is named: whoever checks
// sign-offs wants the author's or the committer's.
func (m *Mirror) committer() Identity {
	if m.voice.Committer != (Identity{}) {
		return m.voice.Committer
	}
	if signer, err := m.Signer(); err == nil && signer != (Identity{}) {
		return signer
	}
	return m.git.opt.Identity
}

// wrote reports whether an author's address is ours, as the config has it now or by
// default.
func (m *Mirror) wrote(email string) bool {
	return email == m.git.opt.Identity.Email || email == m.author().Email
}

// trailers end a commit's message, one a line.
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

// signedOff is the trailer of who signs off; none when nobody does.
func (m *Mirror) signedOff() ([]string, error) {
	signer, err := m.Signer()
	if err != nil || signer == (Identity{}) {
		return nil, err
	}
	return []string{"Signed-off-by: " + signer.String()}, nil
}
