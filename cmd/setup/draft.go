package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// draft is a config before it is saved.
type draft struct {
	path string // as the person named it
	text string
	cfg  *config.Config // the parsed text; without repositories if it names none
	env  environ.Env
	repo DraftRepo // to be added; empty name: none
	used string    // the agent of a new config
}

// readDraft reads the existing config. A broken one is not changed.
func (r *room) readDraft() (*draft, error) {
	d := &draft{env: r.Environ()}
	if d.env.ConfigPath == "" {
		return nil, errors.New("HOME is not set and the user database knows no home folder: set HOME, or name the config by --config or MERGEXO_CONFIG")
	}
	var err error
	if d.path, err = filepath.Abs(environ.ExpandHome(d.env.ConfigPath, d.env.Home)); err != nil {
		return nil, fmt.Errorf("find the config: %w", err)
	}
	b, err := os.ReadFile(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		d.cfg = config.Without(d.env)
		d.cfg.Path, d.cfg.Runtime.Agent = d.path, ""
		return d, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the config: %w", err)
	}
	d.text = string(b)
	if d.cfg, err = d.parse(d.text); err == nil {
		return d, nil
	}
	cfg, lacking := d.parse(AddRepo(d.text, DraftRepo{Name: "a/b"}))
	if lacking != nil {
		return nil, fmt.Errorf("%w\nfix the config first: nothing was changed", err)
	}
	cfg.Repos = nil // it only lacked a repository
	d.cfg = cfg
	return d, nil
}

func (d *draft) parse(text string) (*config.Config, error) {
	return config.Parse(d.path, []byte(text), d.env, github.DefaultHost())
}

// only returns the single repository of the config: outside a checkout, a person may mean that one.
func (d *draft) only() string {
	if len(d.cfg.Repos) != 1 {
		return ""
	}
	return d.cfg.Repos[0].Name.String()
}

// written returns the text with the addition. It must parse to the same config plus exactly the
// addition.
func (d *draft) written(name work.RepoName) (string, *config.Config, error) {
	if d.repo.Name == "" {
		return d.text, d.cfg, nil
	}
	now := AddRepo(d.text, d.repo)
	if strings.TrimSpace(d.text) == "" {
		now = d.text + NewConfig(d.used, d.repo)
	}
	cfg, err := d.parse(now)
	if err == nil && len(cfg.Repos) != len(d.cfg.Repos)+1 {
		err = errors.New("the result would not have one more repository")
	}
	if err == nil {
		_, known := cfg.Repo(name)
		if !known {
			err = fmt.Errorf("the result would not have %s", name)
		}
	}
	if all, ok := config.Problems(err); ok { // their lines are those of a text that nobody has
		err = errors.New(strings.Join(terminal.Each(all, func(p config.Problem) string { return p.Text }), "; "))
	}
	if err != nil {
		return "", nil, fmt.Errorf("%s cannot be extended by init (%w): add the repository by hand; nothing was changed", d.path, err)
	}
	return now, cfg, nil
}

// save replaces the config's file atomically. It does not overwrite a file that has changed
// since it was read, and it writes through a link instead of replacing it.
func (d *draft) save(now string) error {
	path := d.path
	if at, err := filepath.EvalSymlinks(path); err == nil {
		path = at
	}
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the config: %w", err)
	}
	if string(b) != d.text {
		return fmt.Errorf("%s was changed by somebody else: nothing was written; try again: gh mergexo init", d.path)
	}
	if err := files.Replace(path, now); err != nil {
		return fmt.Errorf("write the config: %w", err)
	}
	return nil
}

// called returns the repository's name for the config, with its host: cron may have another default
// host.
func called(name work.RepoName) string {
	if name.Host == "github.com" {
		return name.FullName()
	}
	return name.String()
}

// reload reads the config as every other command does.
func (r *room) reload() (*config.Config, error) {
	cfg, err := r.Config()
	if err != nil {
		return cfg, &cli.CodedError{Code: cli.CodeBadConfig, Err: err}
	}
	return cfg, nil
}
