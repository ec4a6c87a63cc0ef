// Package origin has what pull requests and commits of ours say about where they come
// from: a mark in a body, trailers in a message.
package origin
