// Package pulse decides, if there are many repositories, which of them a pass reads and which of
// their pull requests it asks about: changed ones at once, quiet ones in turn. Its decisions are
// pure; the light queries of all repositories of a host are sent together.
package pulse
