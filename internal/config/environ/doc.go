// Package environ reads the process's environment: where the config and the state are,
// what an agent and git are given of it, and which secrets it holds. Nothing else in the
// program reads it.
package environ
