//go:build unix

package scripted

import (
	"os"
	"path/filepath"
)

// Programs are the names under which the program is started.
var Programs = map[string]func(){
	"scripted-agent": agent,

	// No story touches what repeats things on the machine that it is played on.
	"crontab": crontab, "systemctl": systemctl, "loginctl": loginctl, "launchctl": launchctl,
}

// Main is the program's main: its name says what it does.
func Main() { Programs[filepath.Base(os.Args[0])]() }
