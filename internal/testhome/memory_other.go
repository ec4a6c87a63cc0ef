//go:build !linux

package testhome

import "testing"

// Memory gives a folder in memory where the machine has one: here it is not known.
func Memory(*testing.T) string { return "" }

func memory() (dir string, remove func(), err error) { return "", nil, nil }
