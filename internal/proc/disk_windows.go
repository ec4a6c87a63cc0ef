package proc

import "io/fs"

func blocks(info fs.FileInfo) (n int64, id fileID, shared bool) { return info.Size(), fileID{}, false }

// fileSystem reports nothing, so folders are walked from time to time.
func fileSystem(string) (id uint64, used int64, ok bool) { return 0, 0, false }
