package github

import (
	"context"
	"fmt"
	"net/http"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
)

// find reads a document that may be gone.
func find(ctx context.Context, api *transport.Client, address string, into transport.Plausible) (bool, error) {
	err := api.Get(ctx, address, into)
	if IsStatus(err, http.StatusNotFound, http.StatusGone) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", address, err)
	}
	return true, nil
}
