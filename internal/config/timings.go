package config

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/environ"
)

// Timings are the waits and limits that no key of the config sets.
type Timings struct {
	IdleTimeout      time.Duration // for an agent without activity
	RetryBase        time.Duration // after the first failure; doubled each time
	QuietPeriod      time.Duration // comments are answered once there was no new one for this long
	MinInterval      time.Duration // between two reads of GitHub
	IngestTimeout    time.Duration // for one repository in one pass
	SettleAfter      time.Duration // before a request that got no answer is sent again
	RemindAfter      time.Duration // how long something waits for people before a comment tells them
	FallbackAfter    time.Duration // how long a provider must be out before the fallback takes over
	TestTimeout      time.Duration // for one run of the required tests
	SetupTimeout     time.Duration // for one run of the set-up
	ChecksTimeout    time.Duration // for a required check that does not report at all
	MaxTurnsPerPass  int
	MaxEventsPerTurn int
	MaxProcesses     int   // of a run at a time
	LogMaxSize       int64 // bytes of all logs together
	MaxFiles         int   // changed files of one push
	MaxFileBytes     int64 // of each
}

// defaultTimings returns the timings of every released program.
func defaultTimings() Timings {
	return Timings{
		IdleTimeout: 10 * time.Minute, RetryBase: time.Minute, QuietPeriod: time.Minute, MinInterval: 10 * time.Second, IngestTimeout: 15 * time.Second,
		SettleAfter: time.Minute, RemindAfter: 24 * time.Hour,
		FallbackAfter: 30 * time.Minute, // outlasts most troubles of providers
		TestTimeout:   15 * time.Minute, SetupTimeout: 15 * time.Minute, ChecksTimeout: time.Hour,
		MaxTurnsPerPass: 20, MaxEventsPerTurn: 50, MaxProcesses: 2000, LogMaxSize: 1 << 30, MaxFiles: 1000, MaxFileBytes: 10 << 20,
	}
}

// Budgets that no key sets: they exceed what honest work needs.
const (
	feedbackRounds = 20
	tokensPerTurn  = 100_000_000
)

// TimingsVariable names an environment variable with other timings, such as
// "quiet_period=0s,max_files=3". It is empty in released programs, which read none: what an agent may
// do follows from the config alone. Tests set it, or link the program with it.
var TimingsVariable string

// timings sets the timings, and what the environment of a test has instead.
func (r *Runtime) timings(env environ.Env, host string) error {
	r.Timings = defaultTimings()
	r.Budgets.FeedbackRounds, r.Budgets.TokensPerTurn = feedbackRounds, tokensPerTurn
	if strings.HasSuffix(host, ".localhost") { // GitHub is simulated on this machine, and nobody is to wait for it: gh mergexo demo
		r.QuietPeriod, r.MinInterval = 0, 0
	}
	if TimingsVariable == "" {
		return nil
	}
	text, _ := env.Lookup(TimingsVariable)
	for pair := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == ',' }) {
		name, value, _ := strings.Cut(pair, "=")
		if err := r.setTiming(name, value); err != nil {
			return fmt.Errorf("%s: %s: %w", TimingsVariable, pair, err)
		}
	}
	return nil
}

// setTiming sets the timing or the budget whose field has the name of the variable's key.
func (r *Runtime) setTiming(name, value string) (err error) {
	named := func(field string) bool {
		return strings.EqualFold(field, strings.ReplaceAll(name, "_", "")) || strings.EqualFold("max"+field, strings.ReplaceAll(name, "_", ""))
	}
	var to any
	for _, in := range []any{&r.Timings, &r.Budgets} {
		if field := reflect.ValueOf(in).Elem().FieldByNameFunc(named); field.IsValid() {
			to = field.Addr().Interface()
		}
	}
	switch to := to.(type) {
	case *time.Duration:
		*to, err = time.ParseDuration(value)
	case *int:
		*to, err = strconv.Atoi(value)
	case *int64:
		*to, err = strconv.ParseInt(value, 10, 64)
	default:
		err = errors.New("there is no such timing")
	}
	return err
}
