// Package pulse decides, where there are many repositories, which of them a pass reads and
// which of their pull requests it asks about: what changed at once, what is quiet in turn.
// Its decisions are pure; the light queries of all repositories of a host go out together.
package pulse
