package sandbox

import (
	"strconv"
	"strings"
)

// profile is what sandbox-exec reads. The last rule that matches counts, so the
// paths come in the order in which they lie within one another.
//
// macOS cannot show other files in place of those that are there, so temporary
// folders are shared, and hidden ones are refused. The keychain, in which gh may
// keep its token, is out of reach; so is an agent's login in it.
func profile(mounts []mount) string {
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
	for _, m := range mounts {
		where := "(subpath " + strconv.Quote(m.path) + ")"
		if m.file {
			where = "(literal " + strconv.Quote(m.path) + ")"
		}
		switch m.view {
		case hidden:
			b.WriteString("(deny file-read* file-write* " + where + ")\n")
		case readable:
			b.WriteString("(allow file-read* " + where + ")\n")
		case writable, private:
			b.WriteString("(allow file-read* file-write* " + where + ")\n")
		}
	}
	return b.String()
}
