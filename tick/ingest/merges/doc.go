// Package merges reads what GitHub says of merging pull requests that nothing of ours holds
// any more: their merge boxes, and what their bases demand.
package merges
