// Package schedule lets a machine's own scheduler repeat passes: launchd, a systemd user timer, or
// cron. Pure functions write and read the job for each. What is installed is read before it is
// changed.
package schedule
