// Package config reads the operator's config and the environment; nothing else in the program does.
// The config is decoded strictly: an unknown key is an error with its line and the nearest known
// key, because a misspelt setting must not be silently ignored.
package config
