package sandbox

import "path/filepath"

// Below the home folder; what does not exist is no matter.
var homeSecrets = []string{
	".ssh", ".gnupg", ".gitconfig", ".git-credentials", ".1password", ".bitwarden-ssh-agent.sock", ".colima", ".lima", ".rd", ".netrc", "_netrc", ".password-store",
	".aws", ".azure", ".kube", ".docker", ".terraform.d", ".vault-token", ".s3cfg", ".boto", ".oci",
	".npmrc", ".yarnrc.yml", ".pypirc", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml",
	".gradle/gradle.properties", ".pgpass", ".my.cnf", ".mozilla", ".thunderbird", ".Xauthority", ".ICEauthority",
	".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".psql_history", ".mysql_history",
	".local/share/keyrings", ".local/share/fish", ".local/state/gh",
	"Library/Keychains", "Library/Cookies", "Library/Application Support/Google/Chrome", "Library/Application Support/Firefox",
}

// Below the folder of configurations.
var configSecrets = []string{
	"gh", "git", "hub", "glab-cli", "gcloud", "op", "rclone", "sops", "age", "doctl", "heroku",
	"google-chrome", "chromium", "BraveSoftware", "systemd/user",
}

// sockets are folders through which a process talks to others of the machine
// (the session bus, key agents, container engines). What a system needs from
// there to find names and programs is shown again.
var (
	sockets     = []string{"/run", "/var/run"}
	stillNeeded = []string{"/etc/resolv.conf", "/run/current-system", "/run/opengl-driver"}
)

// secrets are the paths that nothing in a sandbox may see.
func (b Box) secrets() []string {
	config := b.Config
	if config == "" {
		config = filepath.Join(b.Home, ".config")
	}
	var all []string
	for _, name := range homeSecrets {
		all = append(all, filepath.Join(b.Home, name))
	}
	for _, name := range configSecrets {
		all = append(all, filepath.Join(config, name))
	}
	return append(all, b.Hidden...)
}
