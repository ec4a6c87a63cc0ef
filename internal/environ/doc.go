// Package environ reads the process's environment: the places of config and state, the variables
// for agents and git, and the secrets. Nothing else in the program reads it.
package environ
