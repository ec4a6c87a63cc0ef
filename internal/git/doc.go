// Package git keeps one bare mirror for each repository and one checkout for
// each slot, by plumbing commands only.
//
// No command of ours ever discovers the .git of a checkout, because an agent
// has written there: each one is told its repository (the mirror), its working
// tree and its index (outside the checkout), with a configuration that names
// no hook, no file system monitor and no filter. New objects are made in a
// quarantine folder and moved into the mirror once the gates have passed.
//
// Objects are read by one git process that answers many questions. A landing is
// compared with what merging must give, without a trace in the mirror. A push goes
// only where the branch is expected to be.
package git
