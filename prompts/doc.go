// Package prompts holds what an agent is told and what it may answer: the
// typed context of a turn, one template and one answer schema for each kind of
// prompt, the decoding of answers, and the rendering of what is published of them
// (design documents, bodies for GitHub).
//
// Two sides are hostile here. People's text goes into prompts as data, between
// fences with a nonce that its writer cannot know. An agent's answer is
// checked for size, encoding, schema and meaning before anything is done by it,
// and what it wrote is made fit for GitHub by the package public; what must not leave the machine is found by
// the package secrets.
package prompts
