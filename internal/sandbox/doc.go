// Package sandbox keeps a command that nobody trusts (an agent, a repository's
// tests) away from the operator's files and processes. On Linux bubblewrap runs
// it, on macOS sandbox-exec.
//
// A sandbox lets in, it does not keep out: inside there is what a Plan lists and
// nothing else. That is the system's own folders, programs that are found on
// PATH, the known folders of toolchains, the agent's own home, what the config
// names, and the checkout. The home folder is another one, of the work item's
// own; the temporary folders are empty. So no place of a credential has to be
// known by its name. The network stays: a model has to be reached.
package sandbox
