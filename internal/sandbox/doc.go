// Package sandbox keeps a command that nobody trusts (an agent, a repository's
// tests) away from the operator's files and processes. On Linux bubblewrap runs
// it, on macOS sandbox-exec.
//
// Inside, the machine can be read, but not what holds credentials: those of
// git, GitHub, SSH and the clouds, the state folder with the other checkouts,
// the sockets below /run, the temporary folders of others, and (Linux) every
// process but its own. It can write its checkout, temporary and cache folders of
// its own, and what its Box names. The network stays: a model has to be reached.
package sandbox
