package notice

import "github.com/mergexo/gh-mergexo/internal/work"

// sendsLeft reports whether a notice of a repository that was left is sent.
func sendsLeft(a work.Action) bool { return a.Kind == work.ActionLabels }
