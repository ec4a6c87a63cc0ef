// Package comments takes in what people wrote: comments, reviews, commands, and
// when people paused an item.
package comments
