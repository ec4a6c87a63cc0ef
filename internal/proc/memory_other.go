//go:build !linux

package proc

// held returns the family's resident memory at the last look, as ps reports it; shared memory
// counts once per process. On Windows it is 0.
func (f *family) held() int64 { return f.resident }

// shares returns what held returns, because only Linux reports shared memory.
func (f *family) shares() int64 { return f.resident }
