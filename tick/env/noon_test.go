package env

import (
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

var (
	noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	ann  = work.Account{ID: 7, Login: "ann"}
)
