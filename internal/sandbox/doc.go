// Package sandbox isolates untrusted commands (an agent, a repository's tests) from the operator's
// files and processes. Linux uses bubblewrap, macOS sandbox-exec.
//
// A sandbox contains only what a Plan lists: the system's own folders, programs on PATH, known
// folders of toolchains, the agent's own home, what the config names, and the checkout. So
// locations of credentials need not be known. The home folder is the work item's own; temporary
// folders are empty. The network is available, because models are reached by it.
package sandbox
