// Package folder has the files in this machine's state folder: locks, slots of workers with their
// checkouts, and `pause --all`.
package folder
