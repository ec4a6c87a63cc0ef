package sandbox

import (
	"path/filepath"
	"slices"
	"strings"
)

// toolchains are folders of programs below the home. If credentials or caches are beside them, only
// the programs' own folders are listed.
var toolchains = []string{
	"bin", ".local/bin", ".local/lib", ".local/libexec",
	".cargo/bin", ".rustup", "go/bin", "sdk", ".goenv", ".g/versions",
	".nvm", ".fnm", ".local/share/fnm", ".volta", ".nodenv", ".n", ".npm-global/bin", ".npm-global/lib", ".npm-packages/bin", ".npm-packages/lib", ".bun/bin", ".deno/bin",
	".yarn/bin", ".config/yarn/global/node_modules", ".local/share/pnpm", "Library/pnpm", "node_modules",
	".pyenv", ".local/share/pipx", ".local/pipx", ".local/share/uv/python", ".local/share/uv/tools", ".rye/py", ".rye/tools", ".rye/shims", ".rye/self", ".local/share/virtualenv", ".local/share/hatch",
	"miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", ".pixi/bin", ".pixi/envs",
	".rbenv", ".rvm", ".gem/ruby", ".local/share/gem/ruby",
	".asdf", ".tool-versions", ".asdfrc", ".local/share/mise", ".local/share/rtx", ".proto/bin", ".proto/tools", ".proto/shims",
	".sdkman/candidates", ".jenv", ".jabba/jdk", ".local/share/coursier/bin",
	".ghcup/bin", ".ghcup/ghc", ".cabal/bin", ".stack/programs", ".opam", ".elan", ".juliaup", ".swiftly", ".local/share/swiftly",
	".dotnet/dotnet", ".dotnet/host", ".dotnet/sdk", ".dotnet/shared", ".dotnet/packs", ".dotnet/tools",
	".phpenv", ".plenv", ".composer/vendor", ".config/composer/vendor", ".krew/bin", ".foundry/bin", "flutter",
	".linuxbrew", ".nix-profile", ".local/state/nix/profiles",
}

// toolchainSecrets are inside toolchains: settings of registries and logins of publishing tools.
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
	for _, name := range toolchains {
		l.let(filepath.Join(l.box.Home, name), Read, "known folder of a toolchain")
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
