// Package folder has what stands in the state folder of this machine: locks, the slots of
// workers and their checkouts, and the pause of everything.
package folder
