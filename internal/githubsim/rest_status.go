package githubsim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// What GitHub bounds of statuses.
const (
	maxStatuses    = 1000 // of one name on one commit
	maxDescription = 140  // characters
)

// simpleStatusJSON is a commit status among others.
type simpleStatusJSON struct {
	URL         string    `json:"url"`
	AvatarURL   *string   `json:"avatar_url"`
	ID          int64     `json:"id"`
	NodeID      string    `json:"node_id"`
	State       string    `json:"state"`
	Description *string   `json:"description"`
	TargetURL   *string   `json:"target_url"`
	Context     string    `json:"context"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// statusJSON is a commit status by itself.
type statusJSON struct {
	simpleStatusJSON
	Creator *simpleUser `json:"creator"`
}

func (c *call) simpleStatus(s *status) simpleStatusJSON {
	out := simpleStatusJSON{
		URL: fmt.Sprintf("%s/statuses/%s", c.urls.at(s.repo), s.sha), ID: s.id, NodeID: s.nodeID, State: s.state,
		Description: orNull(s.description), TargetURL: orNull(s.targetURL), Context: s.context, CreatedAt: s.created, UpdatedAt: s.created,
	}
	if u := c.urls.user(s.creator); u != nil {
		out.AvatarURL = &u.AvatarURL
	}
	return out
}

func postStatus(c *call) (reply, *apiError) {
	var in struct {
		State, Description, Context string
		TargetURL                   string `json:"target_url"`
	}
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	if c.h.mute[c.viewer] {
		return reply{}, forbidden("Resource not accessible by personal access token")
	}
	if e := c.repo.need(c.viewer, "write"); e != nil {
		return reply{}, e
	}
	sha, found := c.repo.git.resolve(c.r.PathValue("sha"))
	if !found {
		return reply{}, refusal(http.StatusUnprocessableEntity, "No commit found for SHA: "+c.r.PathValue("sha"))
	}
	asked := newStatus{sha: sha, context: in.Context, state: in.State, description: in.Description, targetURL: in.TargetURL}
	if e := c.repo.checkStatus(asked); e != nil {
		return reply{}, e
	}
	s := c.repo.addStatus(c.viewer, asked)
	return created(statusJSON{c.simpleStatus(s), c.urls.user(s.creator)}), nil
}

// checkStatus refuses what GitHub refuses of a status.
func (r *Repo) checkStatus(in newStatus) *apiError {
	bad := func(field, why string) *apiError {
		return invalid(errorItem{Resource: "Status", Field: field, Code: "custom", Message: field + " " + why})
	}
	same := 0
	for _, s := range r.statuses[in.sha] {
		if strings.EqualFold(s.context, in.context) {
			same++
		}
	}
	switch {
	case !slices.Contains([]string{"error", "failure", "pending", "success"}, in.state):
		return bad("state", "is not included in the list")
	case len([]rune(in.description)) > maxDescription:
		return bad("description", fmt.Sprintf("is too long (maximum is %d characters)", maxDescription))
	case same >= maxStatuses:
		return bad("base", "This SHA and context has reached the maximum number of statuses.")
	}
	return nil
}

// combinedJSON is what all statuses of a commit come to.
type combinedJSON struct {
	State      string             `json:"state"`
	SHA        string             `json:"sha"`
	Total      int                `json:"total_count"`
	Statuses   []simpleStatusJSON `json:"statuses"`
	Repository *repoJSON          `json:"repository"`
	CommitURL  string             `json:"commit_url"`
	URL        string             `json:"url"`
}

func getCombinedStatus(c *call) (reply, *apiError) {
	sha, found := c.repo.git.resolve(c.r.PathValue("ref"))
	if !found {
		return reply{}, refusal(http.StatusNotFound, "No commit found for SHA: "+c.r.PathValue("ref"))
	}
	list := slices.DeleteFunc(c.repo.latestStatuses(sha), func(s *status) bool { return s.state == expected })
	at := c.urls.at(c.repo) + "/commits/" + sha
	out := combinedJSON{
		State: combined(list), SHA: sha, Total: len(list), Statuses: []simpleStatusJSON{}, Repository: c.repoOnce(c.repo), CommitURL: at, URL: at + "/status",
	}
	part, header := paged(c, list)
	for _, s := range part {
		out.Statuses = append(out.Statuses, c.simpleStatus(s))
	}
	return reply{status: http.StatusOK, body: out, header: header}, nil
}
