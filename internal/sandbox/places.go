package sandbox

import (
	"path/filepath"
	"slices"
	"strings"
)

// places are the folders below the home that a sandbox treats apart, each named once. Read ones show
// programs of the machine; if credentials are beside the programs, only their own folders are
// listed. Private ones are caches for downloads and build results, without settings or a login: they
// show the run's own, even within a readable folder. The inner place counts.
var places = slices.Concat(
	inWay(Read,
		"bin", ".local/bin", ".local/lib", ".local/libexec",
		".cargo/bin", ".rustup", "go/bin", "sdk", ".goenv", ".g/versions",
		".nvm", ".fnm", ".local/share/fnm", ".volta", ".nodenv", ".n", ".npm-global/bin", ".npm-global/lib", ".npm-packages/bin", ".npm-packages/lib", ".bun/bin", ".deno/bin",
		".yarn/bin", ".config/yarn/global/node_modules", ".local/share/pnpm", "Library/pnpm", "node_modules",
		".pyenv", ".local/share/pipx", ".local/pipx", ".local/share/uv/python", ".local/share/uv/tools", ".rye/py", ".rye/tools", ".rye/shims", ".rye/self", ".local/share/hatch",
		"miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", ".pixi/bin", ".pixi/envs",
		".rbenv", ".rvm", ".gem/ruby", ".local/share/gem/ruby",
		".asdf", ".tool-versions", ".asdfrc", ".local/share/mise", ".local/share/rtx", ".proto/bin", ".proto/tools", ".proto/shims",
		".sdkman/candidates", ".jenv", ".jabba/jdk", ".local/share/coursier/bin",
		".ghcup/bin", ".ghcup/ghc", ".cabal/bin", ".stack/programs", ".opam", ".elan", ".juliaup", ".swiftly", ".local/share/swiftly",
		".dotnet/dotnet", ".dotnet/host", ".dotnet/sdk", ".dotnet/shared", ".dotnet/packs", ".dotnet/tools",
		".phpenv", ".plenv", ".composer/vendor", ".config/composer/vendor", ".krew/bin", ".foundry/bin", "flutter",
		".linuxbrew", ".nix-profile", ".local/state/nix/profiles",
	),
	inWay(Private,
		".cache", ".npm", ".yarn", ".bun/install/cache", "go/pkg", ".cargo/registry", ".cargo/git", ".rustup/tmp", ".gradle", ".m2", ".ivy2", ".sbt", ".nuget", ".pub-cache",
		".bundle", ".gem", ".composer/cache", ".cpan", ".local/share/pnpm/store", ".local/share/NuGet", ".local/share/virtualenv",
	),
)

// place is a folder below the home, with slashes, and how it appears.
type place struct {
	name string
	how  How
}

func inWay(how How, names ...string) []place {
	var all []place
	for _, name := range names {
		all = append(all, place{name, how})
	}
	return all
}

// Known returns all folders below a home that a sandbox treats apart.
func Known(home string) []string { return slices.Concat(placesIn(home, Read), placesIn(home, Private)) }

// placesIn returns the places of a home that appear in this way.
func placesIn(home string, how How) []string {
	if !filepath.IsAbs(home) {
		return nil
	}
	var all []string
	for _, p := range places {
		if p.how == how {
			all = append(all, filepath.Join(home, filepath.FromSlash(p.name)))
		}
	}
	return all
}

// toolchainSecrets are inside readable places: settings of registries and logins of publishing tools.
var toolchainSecrets = []string{
	".nvm/versions/*/*/etc", ".nvm/versions/*/*/.npmrc", ".n/etc", ".fnm/node-versions/*/installation/etc", ".volta/tools/image/*/*/etc",
	".opam/plugins", ".linuxbrew/etc", ".linuxbrew/var",
	"miniconda3/.condarc", "anaconda3/.condarc", "miniforge3/.condarc", "mambaforge/.condarc", "micromamba/.condarc",
}

// coverToolchains hides toolchainSecrets.
func (l *layout) coverToolchains() {
	for _, name := range toolchainSecrets {
		found, err := filepath.Glob(filepath.Join(l.box.Home, name))
		if err == nil {
			l.cover(found, "settings and logins of a toolchain")
		}
	}
	l.cover([]string{"/home/linuxbrew/.linuxbrew/etc", "/home/linuxbrew/.linuxbrew/var"}, "settings and logins of a toolchain")
}

func (l *layout) toolchains() {
	for _, path := range placesIn(l.box.Home, Read) {
		l.let(path, Read, "known folder of a toolchain")
	}
	l.let("/home/linuxbrew/.linuxbrew", Read, "known folder of a toolchain")
}

// paths lets in the folders of PATH with the libraries beside them.
func (l *layout) paths() {
	for _, dir := range filepath.SplitList(l.box.Path) {
		_, at, err := l.follow(dir)
		if err == nil && filepath.IsAbs(dir) && l.mayBeOnPath(at) {
			l.let(dir, Read, "on PATH")
			l.installation(filepath.Join(at, "any"), "on PATH")
		}
	}
}

// mayBeOnPath refuses folders that contain more than programs: the home and its parents, parents of
// our state, top-level folders and other disks.
func (l *layout) mayBeOnPath(dir string) bool {
	if holdsAny(dir, l.reals(append([]string{l.box.Home}, l.box.Kept...))) || strings.Count(dir, "/") < 2 {
		return false
	}
	return !insideAny(dir, []string{"/mnt", "/media", "/proc", "/sys", "/dev"})
}

// beside lets in the other folders of an installation with a folder bin or sbin. The home and
// ~/.local are no installations: their share contains more.
func (l *layout) beside(bin, why string) {
	if !slices.Contains([]string{"bin", "sbin"}, filepath.Base(bin)) {
		return
	}
	prefix := filepath.Dir(bin)
	if l.readNode(filepath.Join(prefix, "go.env")).err == nil { // Go's installation includes its sources
		l.let(prefix, Read, why)
		return
	}
	members := []string{"lib", "lib64", "libexec"}
	home := l.real(l.box.Home)
	if prefix != home && prefix != filepath.Join(home, ".local") {
		members = append(members, "include", "share", "pyvenv.cfg")
	}
	for _, m := range members {
		l.let(filepath.Join(prefix, m), Read, why)
	}
}
