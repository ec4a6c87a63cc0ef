//go:build unix

// Program is what stories start in the place of an agent and of the schedulers' programs.
package main

import "github.com/mergexo/gh-mergexo/internal/story/scripted"

func main() { scripted.Main() }
