package files

// OpenSafely is 0 on Windows: an open that creates nothing does not wait.
const OpenSafely = 0
