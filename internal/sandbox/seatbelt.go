package sandbox

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// closedOnMac are the folders of people, of other disks and of the machine's
// services. All else of macOS is the system's own; a closed folder inside is
// opened again for what is let in.
var closedOnMac = []string{
	"/Users", "/Volumes", "/Network", "/private/var", "/private/tmp",
}

// openOnMac is what programs need of the closed folders: which shell sh is,
// where Xcode is, the time zone.
var openOnMac = []string{
	"/private/var/select", "/private/var/db/timezone", "/private/var/db/xcode_select_link", "/private/var/db/dyld", "/private/var/run/resolv.conf",
}

// profile is what sandbox-exec reads. The last rule that matches counts, so the
// paths come in the order in which they lie within one another.
//
// macOS cannot show other files in place of those that are there, so the home is
// closed but for what is let in, and temporary folders are shared. The keychain,
// in which gh may keep its token, is out of reach; so is an agent's login in it.
func profile(all []Entry) string {
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
		case e.How == Read: // also within what can be written to
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

// onTheWay are the folders above what is let in: a program that asks where it is
// looks at each, without a look into it.
func onTheWay(all []Entry) []string {
	seen := map[string]bool{}
	for _, e := range all {
		for dir := filepath.Dir(e.Path); !seen[dir]; dir = filepath.Dir(dir) {
			seen[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
