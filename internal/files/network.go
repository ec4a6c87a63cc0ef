package files

// Pretend is the file system that every folder is on. Only tests set it, before the program begins.
var Pretend string

// NetworkFileSystem returns the kind of the file system that holds a folder,
// if other machines may write to it at the same time: locks and shared memory of one machine are not those of another.
func NetworkFileSystem(dir string) string {
	if Pretend != "" {
		return Pretend
	}
	return networkKind(dir)
}
