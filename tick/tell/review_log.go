package tell

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/store"
)

// LogReview logs an event of a pull request's reviews, in flat fields like every log line.
func LogReview(ctx context.Context, log *slog.Logger, n store.ReviewLog, attrs ...any) {
	var data map[string]any
	d := json.NewDecoder(strings.NewReader(n.Data))
	d.UseNumber() // GitHub's ids are long
	if err := d.Decode(&data); err != nil {
		log.ErrorContext(ctx, "could not read the log entries of a review", "key", n.Key, "error", err)
	}
	attrs = append(attrs, "key", n.Key)
	for _, key := range slices.Sorted(maps.Keys(data)) {
		value := data[key]
		if list, ok := value.([]any); ok {
			value = strings.Trim(fmt.Sprint(list), "[]")
		}
		if value != nil {
			attrs = append(attrs, key, value)
		}
	}
	log.InfoContext(ctx, n.What, attrs...) //nolint:sloglint // one of the fixed names of the reviews' events
}
