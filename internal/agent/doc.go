// Package agent runs coding agents. An adapter turns a request (prompt, context, answer schema,
// session, folder) into a result (answer, session, usage). The answer is hostile input: its size
// and form are checked here, its meaning by package prompts.
//
// An agent gets no credential: its environment is exactly what its Spec names, with a git
// configuration of its own.
package agent
