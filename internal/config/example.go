package config

import _ "embed"

// Example is a commented config that loads as it is.
//
//go:embed example.toml
var Example string
