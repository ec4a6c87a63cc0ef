package work

import "time"

// LongestWait is how long a repository is left alone at most, whatever GitHub
// said: then it is tried once.
const LongestWait = time.Hour
