// Package git keeps one bare mirror for each repository and one checkout for
// each slot, by plumbing commands only.
//
// No command of ours ever discovers the .git of a checkout, because an agent
// has written there: each one is told its repository (the mirror), its working
// tree and its index (outside the checkout), with a configuration that names
// no hook, no file system monitor and no filter. New objects are made in a
// quarantine folder and moved into the mirror once the gates have passed.
//
// Here are checkouts and commits. The rooms below are gate (what may become a commit),
// landing (what merging gives, and what landed), push (what goes to the remote), mirror
// (branches, objects, refs of our own) and plumbing (how git is run); nobody else imports
// them.
package git
