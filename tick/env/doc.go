// Package env is what every part of a pass works with: config, store, clock and log, the
// repositories and the clients for them, a turn in progress with its slot (Lease), folders and
// locks, and the pass's report.
package env
