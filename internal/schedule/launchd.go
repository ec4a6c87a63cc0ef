package schedule

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// label is the job's name in launchd.
func (j Job) label() string { return "io.github.mergexo." + j.Name() }

// property returns the job's property list.
func property(j Job) string {
	var args, env strings.Builder
	for _, w := range j.Command(Launchd) {
		fmt.Fprintf(&args, "\t\t<string>%s</string>\n", xmlText(w))
	}
	for _, v := range j.Env {
		fmt.Fprintf(&env, "\t\t<key>%s</key>\n\t\t<string>%s</string>\n", xmlText(v.Name), xmlText(v.Value))
	}
	log := xmlText(filepath.Join(j.Logs, "launchd.log"))
	return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- %s -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>%s</string>
	<key>ProgramArguments</key>
	<array>
%s	</array>
	<key>EnvironmentVariables</key>
	<dict>
%s	</dict>
	%s
	<key>RunAtLoad</key>
	<true/>
	<!-- The pass works on when this has ended. -->
	<key>AbandonProcessGroup</key>
	<true/>
	<key>StandardOutPath</key>
	<string>%s</string>
	<key>StandardErrorPath</key>
	<string>%s</string>
</dict>
</plist>
`, j.header(), j.label(), args.String(), env.String(), startInterval(j.Every), log, log)
}

func startInterval(every time.Duration) string {
	return fmt.Sprintf("<key>StartInterval</key>\n\t<integer>%d</integer>", int(every/time.Second))
}

func xmlText(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}
