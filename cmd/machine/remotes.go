package machine

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// remotes connects every configured repository. Repositories of one host share a client.
func (m *Machine) remotes(ctx context.Context, log *slog.Logger) ([]env.Remote, error) {
	var all []env.Remote
	for _, r := range m.cfg.Repos {
		client, ok := m.clients[r.Name.Host]
		if !ok {
			var err error
			client, err = m.client(ctx, r.Name.Host, log)
			if _, out := errors.AsType[*transport.NotLoggedInError](err); out { // each of its repositories reports that itself
				client, err = github.Refusing(r.Name.Host, m.now, err), nil
			}
			if err != nil {
				return nil, err
			}
			m.clients[r.Name.Host] = client
		}
		all = append(all, env.Remote{
			Name: r.Name, Settings: r, GitHub: client,
			Mirror: func(repo work.Repo) env.Mirror { return m.mirror(r, repo) },
			As: func(ctx context.Context, account string) (env.GitHub, error) {
				return m.as(ctx, login{r.Name.Host, account}, log)
			},
		})
	}
	return all, nil
}

// Hosts returns the hosts of the configured repositories.
func Hosts(cfg *config.Config) (all []string) {
	for _, r := range cfg.Repos {
		if !slices.Contains(all, r.Name.Host) {
			all = append(all, r.Name.Host)
		}
	}
	return all
}

// otherHost returns the client of a host that the config does not name; nil without a login.
func (m *Machine) otherHost(ctx context.Context, name string, log *slog.Logger) env.GitHub {
	client, err := m.client(ctx, name, log)
	if err != nil {
		return nil
	}
	return client
}

func (m *Machine) client(ctx context.Context, host string, log *slog.Logger) (*github.Client, error) {
	token, err := m.Token(ctx, host)
	if err != nil {
		return nil, err
	}
	return github.New(transport.Options{Host: host, Token: token, Now: m.now, Log: log, Count: m.tally.Of(host), ReadOnly: m.readOnly})
}

func (m *Machine) mirror(r config.Repo, repo work.Repo) env.Mirror {
	return m.git.Mirror(m.dirs.MirrorDir(repo), m.remoteURL(r, repo), m.dirs.RepoLock(repo)).WithBase(repo.DefaultBranch).WithVoice(voice(r.Voice))
}

// voice returns the identities of a repository's commits.
func voice(v config.Voice) git.Voice {
	return git.Voice{SignOff: v.SignOff, Signer: git.Identity{Name: v.Signer.Name, Email: v.Signer.Mail}}
}

func (m *Machine) remoteURL(r config.Repo, repo work.Repo) string {
	if r.RemoteURL != "" {
		return r.RemoteURL
	}
	return github.RemoteURL(repo.Current)
}

// ReadMirror opens the mirror of a configured repository for reading.
func ReadMirror(ctx context.Context, m *Machine, repo work.Repo) (*git.Mirror, error) {
	if err := m.preflight(ctx); err != nil {
		return nil, err
	}
	return m.git.Mirror(m.dirs.MirrorDir(repo), "", m.dirs.RepoLock(repo)), nil
}

// TryRemote asks a repository's remote for its branches as a pass does. It needs no mirror.
func (m *Machine) TryRemote(ctx context.Context, r config.Repo, repo work.Repo) (url string, err error) {
	if _, err := m.Git(ctx); err != nil {
		return "", err
	}
	url = m.remoteURL(r, repo)
	_, err = m.git.Mirror(m.dirs.MirrorDir(repo), url, "").RemoteHeads(ctx, work.BranchRoot+"/")
	return url, err
}

// ScratchMirror returns a mirror in a temporary folder. It borrows the objects of the real one.
func (m *Machine) ScratchMirror(dir string, r env.Remote, repo work.Repo) env.Mirror {
	return m.git.Mirror(filepath.Join(dir, "mirror.git"), m.remoteURL(r.Settings, repo), filepath.Join(dir, "lock")).
		WithBase(repo.DefaultBranch).WithVoice(voice(r.Settings.Voice)).WithAlternate(m.dirs.MirrorDir(repo))
}
