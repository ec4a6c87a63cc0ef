// Package git keeps a bare mirror of each repository and a checkout for each slot, with plumbing
// commands only.
//
// No command of ours discovers the .git of a checkout, because an agent may have written it. Each
// command gets its repository (the mirror), working tree and index (outside the checkout), and a
// configuration without hooks, file system monitor and filters. New objects are made in a
// quarantine folder and moved into the mirror once the gates have passed.
//
// One git process reads objects for many queries. A landing is compared with the expected result of
// the merge, without a trace in the mirror. A push succeeds only if the branch is where it is
// expected.
package git
