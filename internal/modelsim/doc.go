// Package modelsim is a provider of models on loopback: OpenAI's Responses API
// and Anthropic's Messages API, streaming, as far as the real codex and claude
// command lines use them. A test says in a script what the model answers; the
// server remembers what it was asked. It refuses what providers refuse: a
// request without a key, a schema outside the strict subset.
//
// Only tests import it.
package modelsim
