// Package schedule has a machine's own scheduler repeat passes: launchd, a systemd user
// timer, or cron. What is written for each is a pure function of the job, and is read
// back by another; what stands on the machine is looked at before it is changed.
package schedule
