package files

// OpenSafely is nothing here: an open that asks for no creation waits for nobody.
const OpenSafely = 0
