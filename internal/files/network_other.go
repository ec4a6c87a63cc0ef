//go:build !linux && !darwin

package files

func networkKind(string) string { return "" }
