// Package config reads the operator's config and the environment; nothing else
// in the program does. The config is decoded strictly: a key that nothing uses
// is an error that names its line and the nearest key that there is, because a
// misspelt setting that is silently ignored is worse than none.
package config
