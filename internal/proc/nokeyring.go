//go:build !linux

package proc

// joinNewKeyring does nothing: only Linux has such keyrings, and Android kills programs that
// request one.
func joinNewKeyring() error { return nil }
