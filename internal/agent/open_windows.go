package agent

// openSafely is nothing here: an open that asks for no creation waits for nobody.
const openSafely = 0
