// Package prompts holds the input and output of agents: the typed context of a turn, one template
// and one answer schema per kind of prompt, the decoding of answers, and the rendering of the parts
// that are published (design documents, bodies for GitHub).
//
// Both sides are hostile. People's text goes into prompts as data, between fences with a nonce that
// its writer cannot know. An agent's answer is checked for size, encoding, schema and meaning
// before it is used. Package public makes its text fit for GitHub; package secrets finds what must
// not leave the machine.
package prompts
