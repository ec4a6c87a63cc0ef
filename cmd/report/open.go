package report

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/cli/browser"

	"github.com/mergexo/gh-mergexo/internal/config/environ"
	"github.com/mergexo/gh-mergexo/internal/proc"
)

// open shows a file in the browser of GH_BROWSER or BROWSER, or else the system's. gh's own
// function rejects files.
func open(ctx context.Context, env environ.Env, file string, said io.Writer) error {
	launcher, _ := env.Lookup("GH_BROWSER")
	if launcher == "" {
		launcher, _ = env.Lookup("BROWSER")
	}
	words := strings.Fields(launcher)
	if len(words) == 0 {
		browser.Stdout, browser.Stderr = said, said
		if err := browser.OpenFile(file); err != nil {
			return fmt.Errorf("open %s in a browser: %w; open it by hand", file, err)
		}
		return nil
	}
	path, err := proc.LookPath(words[0], env.Path)
	if err != nil {
		return fmt.Errorf("open %s in the browser %q: %w", file, launcher, err)
	}
	code, err := proc.Attach(ctx, proc.Cmd{Path: path, Args: append(words[1:], address(file)), Env: env.All()}, proc.Streams{Out: said, Err: said})
	if err == nil && code != 0 {
		err = fmt.Errorf("it ended with exit code %d", code)
	}
	if err != nil {
		return fmt.Errorf("open %s in the browser %q: %w", file, launcher, err)
	}
	return nil
}

// address returns a file's URL.
func address(file string) string {
	path := filepath.ToSlash(file)
	if !strings.HasPrefix(path, "/") { // C:/…
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
