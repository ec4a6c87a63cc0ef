package sandbox

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// closedOnMac are the folders of users, other disks and the machine's services. All other folders
// of macOS are the system's and stay readable. Paths inside them that the sandbox lets in are
// opened by later rules.
var closedOnMac = []string{
	"/Users", "/Volumes", "/Network", "/private/var", "/private/tmp",
}

// openOnMac are parts of closed folders that programs need: the shell behind sh, the path of Xcode,
// the time zone.
var openOnMac = []string{
	"/private/var/select", "/private/var/db/timezone", "/private/var/db/xcode_select_link", "/private/var/db/dyld", "/private/var/run/resolv.conf",
}

// profile returns the profile for sandbox-exec. The last matching rule wins, so outer paths come
// before inner ones.
//
// macOS cannot replace files by others, so the home is closed except for what is let in, and
// temporary folders are shared. The keychain, which may have gh's token or an agent's login, is not
// accessible.
func profile(all []Entry, offline bool) string {
	var b strings.Builder
	b.WriteString(`(version 1)
(allow default)
(deny file-write*)
(allow file-write* (subpath "/dev"))
(deny process-info* (target others))
(allow process-info* (target same-sandbox))
(deny signal (target others))
(allow signal (target same-sandbox))
(deny mach-lookup (global-name "com.apple.SecurityServer") (global-name "com.apple.securityd.xpc"))
(deny network-outbound (remote unix-socket))
(allow network-outbound (literal "/private/var/run/mDNSResponder"))
`)
	if offline {
		b.WriteString("(deny network*)\n")
	}
	for _, dir := range closedOnMac {
		b.WriteString("(deny file-read* " + where("subpath", dir) + ")\n")
	}
	for _, dir := range openOnMac {
		b.WriteString("(allow file-read* " + where("subpath", dir) + ")\n")
	}
	for _, dir := range onTheWay(all) {
		b.WriteString("(allow file-read-metadata " + where("literal", dir) + ")\n")
	}
	for _, e := range all {
		at := where("subpath", e.Path)
		if e.file || e.How == Link {
			at = where("literal", e.Path)
		}
		switch {
		case e.pin:
			b.WriteString("(deny file-write-unlink " + where("literal", e.Path) + ")\n")
			continue
		case e.How == Read: // also within writable folders
			b.WriteString("(deny file-write* " + at + ")\n")
		}
		switch e.How {
		case Hidden:
			b.WriteString("(deny file-read* file-write* " + at + ")\n")
		case Read, Link:
			b.WriteString("(allow file-read* " + at + ")\n")
		case Write, Private:
			b.WriteString("(allow file-read* file-write* " + at + ")\n")
		}
	}
	return b.String()
}

func where(how, path string) string { return "(" + how + " " + strconv.Quote(path) + ")" }

// onTheWay returns the folders above all entries: a program that determines its working directory
// needs their metadata, not their content.
func onTheWay(all []Entry) []string {
	seen := map[string]bool{}
	for _, e := range all {
		for dir := filepath.Dir(e.Path); !seen[dir]; dir = filepath.Dir(dir) {
			seen[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
