//go:build !linux

package proc

// held is what the family's processes held at the last look: resident, as ps
// says, what they share each time. Windows shows nobody's.
func (f *family) held() int64 { return f.resident }

// shares is the same: only Linux tells what is shared.
func (f *family) shares() int64 { return f.resident }
