package store

// Shared reports whether other machines may have the same database.
func (d *DB) Shared() bool { return d.shared }

// Machine returns the name of the machine that this program runs on.
func (t *Tx) Machine() string { return t.machine }
