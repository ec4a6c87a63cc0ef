package machine

import "io/fs"

// Windows keeps who may do what elsewhere; a profile's folders are its user's.

func ownerOf(fs.FileInfo) (uid int, ours bool) { return 0, true }

func writableByOthers(fs.FileInfo) bool { return false }
