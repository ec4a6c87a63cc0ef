package runs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Status is a commit status. Of one context the newest counts.
type Status struct {
	Context     string
	State       string // pending, success, failure or error
	Description string
	URL         string
	At          time.Time
}

// MaxDescription is how long a status' description may be, in characters.
const MaxDescription = 140

type wireStatus struct {
	ID          int64     `json:"id"`
	Context     string    `json:"context"`
	State       string    `json:"state"`
	Description string    `json:"description"`
	TargetURL   string    `json:"target_url"`
	UpdatedAt   time.Time `json:"updated_at"`
}

func (w wireStatus) Check() error {
	if w.ID == 0 || w.Context == "" {
		return errors.New("no status")
	}
	return nil
}

type wireStatuses struct {
	Total    int           `json:"total_count"`
	Statuses *[]wireStatus `json:"statuses"`
}

func (w wireStatuses) Check() error {
	if w.Statuses == nil {
		return errors.New("no list of statuses")
	}
	return nil
}

// Statuses lists the newest status of each context of a commit. Check runs are none.
func (c Checks) Statuses(ctx context.Context, repo work.RepoName, commit string) ([]Status, error) {
	var all []Status
	for page := 1; ; page++ {
		var w wireStatuses
		address := fmt.Sprintf("repos/%s/commits/%s/status?per_page=100&page=%d", repo.FullName(), commit, page)
		if err := c.api.Get(ctx, address, &w); err != nil {
			return nil, fmt.Errorf("list the statuses of %s: %w", commit, err)
		}
		for _, s := range *w.Statuses {
			all = append(all, Status{Context: s.Context, State: s.State, Description: s.Description, URL: s.TargetURL, At: s.UpdatedAt})
		}
		if len(*w.Statuses) == 0 || len(all) >= w.Total {
			return all, nil
		}
	}
}

// SetStatus sets a status of a commit.
func (c Checks) SetStatus(ctx context.Context, repo work.RepoName, commit string, s Status) error {
	request := struct {
		State       string `json:"state"`
		Context     string `json:"context"`
		Description string `json:"description"`
		TargetURL   string `json:"target_url,omitempty"`
	}{s.State, s.Context, s.Description, s.URL}
	if err := c.api.Write(ctx, http.MethodPost, fmt.Sprintf("repos/%s/statuses/%s", repo.FullName(), commit), request, &wireStatus{}); err != nil {
		return fmt.Errorf("set the status %q of %s: %w", s.Context, commit, err)
	}
	return nil
}
