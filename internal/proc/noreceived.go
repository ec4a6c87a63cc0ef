//go:build !linux

package proc

// received is nothing: only Linux tells it without a program.
func (f *family) received() uint64 { return 0 }
