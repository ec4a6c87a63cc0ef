// Package githubsim is a GitHub that fits into a test process: GitHub's own REST (flavour 2022-11-28) and a GraphQL
// subset over HTTP, backed by real bare git repositories, with faults that can be ordered at run time. It serves the
// demo and the tests; the product never imports it otherwise.
//
// # Parts
//
//   - Hub: everything there is; New makes one, ServeUnix, ServeTCP and ServeAt let clients in, Close ends it.
//   - The model (state.go): user, Repo, issue, pull, comment, review, thread, reviewComment, reaction, label, event,
//     checkRun, status. Its fields are guarded by Hub.mu. What git knows (heads, mergeability, files, commits) is not
//     in the model but read from git, cached by object id.
//   - The deeds (model_*.go): each changes the model as GitHub would, with stamps, timeline entries and GitHub's
//     refusals (*apiError). They expect Hub.mu held. REST handlers, GraphQL mutations and the control API all use them.
//   - The wire: rest_*.go (handlers), encode_*.go (one encoder for each resource).
//   - The control API (control_*.go, exported methods of Hub and Repo): what people do, and what tests want to read.
//   - Faults, limits, lag and the request log.
//
// # Locking
//
// The dispatcher holds Hub.mu while a REST or GraphQL handler runs, after Hub.refresh took notice of pushes made
// straight to the bare repositories. Exported methods take the lock themselves. Inside a handler use unexported names
// only. The git caches have a lock of their own, so that resolvers may read side by side.
package githubsim
