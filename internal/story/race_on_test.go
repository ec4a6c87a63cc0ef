//go:build unix && race

package story

// raceDetector makes everything several times slower.
const raceDetector = true
