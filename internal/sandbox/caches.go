package sandbox

import (
	"fmt"
	"path/filepath"
)

// caches are the folders below a home in which programs keep what they downloaded
// or built. None holds settings or a login.
var caches = []string{
	".cache", ".npm", ".yarn", ".bun/install/cache", "go/pkg", ".cargo/registry", ".cargo/git", ".rustup/tmp", ".gradle", ".m2", ".ivy2", ".sbt", ".nuget", ".pub-cache",
	".bundle", ".gem", ".composer/cache", ".cpan", ".local/share/pnpm", ".local/share/NuGet", ".local/share/virtualenv",
}

// Caches are the cache folders of a home. In the private home of an agent they are
// there from the beginning: an agent's own sandbox lets its commands write only to
// folders that it finds when it starts.
func Caches(home string) []string {
	if !filepath.IsAbs(home) {
		return nil
	}
	var all []string
	for _, name := range caches {
		all = append(all, filepath.Join(home, filepath.FromSlash(name)))
	}
	return all
}

// makeCaches makes them in a private home, which an agent wrote to before: it
// follows no link that was left there.
func makeCaches(home string) error {
	for _, dir := range Caches(home) {
		if err := mountPoint(home, dir, Entry{How: Write}); err != nil {
			return fmt.Errorf("make a cache folder for the sandbox: %w", err)
		}
	}
	return nil
}
