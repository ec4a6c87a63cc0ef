package sandbox

import (
	"fmt"
	"path/filepath"
)

// caches are the folders below a home for downloads and build results. None contains settings or a
// login.
var caches = []string{
	".cache", ".npm", ".yarn", ".bun/install/cache", "go/pkg", ".cargo/registry", ".cargo/git", ".rustup/tmp", ".gradle", ".m2", ".ivy2", ".sbt", ".nuget", ".pub-cache",
	".bundle", ".gem", ".composer/cache", ".cpan", ".local/share/pnpm", ".local/share/NuGet", ".local/share/virtualenv",
}

// Caches returns the cache folders of a home. In an agent's private home they exist from the start:
// an agent's own sandbox lets its commands write only to folders that exist when it starts.
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

// makeCaches creates the cache folders in a private home. An agent may have left links there; none
// is followed.
func makeCaches(home string) error {
	for _, dir := range Caches(home) {
		if err := mountPoint(home, dir, Entry{How: Write}); err != nil {
			return fmt.Errorf("make a cache folder for the sandbox: %w", err)
		}
	}
	return nil
}
