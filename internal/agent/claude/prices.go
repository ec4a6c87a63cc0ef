package claude

import (
	"regexp"
	"strings"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// prices are Anthropic's list prices in USD per million tokens: those that claude 2.1.330 uses, and
// for the old opus those that were published. They apply when claude reports no cost: when a turn
// is stopped, or fails.
var prices = map[string]spending.Prices{
	"claude-opus-5-5":   {Input: 4, CacheWrite: 5, CacheRead: 0.2, Output: 20},
	"claude-opus-5":     opusPrice,
	"claude-opus-4-8":   opusPrice,
	"claude-opus-4-7":   opusPrice,
	"claude-opus-4-6":   opusPrice,
	"claude-opus-4-5":   opusPrice,
	"claude-opus-4-1":   dearest,
	"claude-opus-4-0":   dearest,
	"claude-opus-4":     dearest,
	"claude-sonnet-5-5": {Input: 2, CacheWrite: 2.5, CacheRead: 0.1, Output: 10},
	"claude-sonnet-5":   {Input: 2, CacheWrite: 2.5, CacheRead: 0.2, Output: 10},
	"claude-sonnet-4-6": sonnetPrice,
	"claude-sonnet-4-5": sonnetPrice,
	"claude-sonnet-4-0": sonnetPrice,
	"claude-sonnet-4":   sonnetPrice,
	"claude-3-7-sonnet": sonnetPrice,
	"claude-fable-5-2":  {Input: 8, CacheWrite: 10, CacheRead: 0.2, Output: 40},
	"claude-fable-5-1":  {Input: 10, CacheWrite: 12.5, CacheRead: 0.25, Output: 50},
	"claude-fable-5":    {Input: 10, CacheWrite: 12.5, CacheRead: 1, Output: 50},
	"claude-haiku-5-5":  {Input: 0.1, CacheWrite: 0.125, CacheRead: 0.01, Output: 0.5},
	"claude-haiku-4-5":  {Input: 1, CacheWrite: 1.25, CacheRead: 0.1, Output: 5},
	"claude-3-5-haiku":  {Input: 0.8, CacheWrite: 1, CacheRead: 0.08, Output: 4},
}

var (
	opusPrice   = spending.Prices{Input: 5, CacheWrite: 6.25, CacheRead: 0.5, Output: 25}
	sonnetPrice = spending.Prices{Input: 3, CacheWrite: 3.75, CacheRead: 0.3, Output: 15}
	// dearest applies to unlisted models, too: a budget that stops too early is better than one
	// that never does.
	dearest = spending.Prices{Input: 15, CacheWrite: 18.75, CacheRead: 1.5, Output: 75}
)

// versionSuffix matches what may follow a model's family in its name: a date, a provider's version,
// the size of its window.
var versionSuffix = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(-\d{8}|-latest)?(-v\d.*|[@:\[].*)?$`) })

// PriceOf returns the prices of an Anthropic model.
func PriceOf(model string) spending.Prices {
	for family, price := range prices {
		if _, version, found := strings.Cut(model, family); found && versionSuffix().MatchString(version) {
			return price
		}
	}
	return dearest
}
