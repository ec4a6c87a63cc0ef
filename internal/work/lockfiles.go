package work

import (
	"path"
	"slices"
)

// lockFiles are the names of the files in which package managers record exact versions, sorted.
var lockFiles = []string{
	".terraform.lock.hcl", "Cargo.lock", "Cartfile.resolved", "Chart.lock", "Gemfile.lock", "Gopkg.lock", "MODULE.bazel.lock", "Package.resolved", "Pipfile.lock", "Podfile.lock",
	"buildscript-gradle.lockfile", "bun.lock", "bun.lockb", "cabal.project.freeze", "composer.lock", "conan.lock", "conda-lock.yml", "deno.lock", "dub.selections.json", "flake.lock",
	"gems.locked", "go.sum", "go.work.sum", "gradle.lockfile", "mix.lock", "npm-shrinkwrap.json", "package-lock.json", "packages.lock.json", "paket.lock", "pdm.lock", "pixi.lock",
	"pnpm-lock.yaml", "poetry.lock", "pubspec.lock", "pylock.toml", "rebar.lock", "renv.lock", "shard.lock", "stack.yaml.lock", "uv.lock", "yarn.lock",
}

// IsLockFile reports whether a path, with slashes, is the lock file of a known package manager.
func IsLockFile(name string) bool {
	_, found := slices.BinarySearch(lockFiles, path.Base(name))
	return found
}
