package githubsim

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Options of a Hub.
type Options struct {
	Dir string           // required: where the bare repositories are kept
	Now func() time.Time // required: the clock; stamps are cut to whole seconds
}

// Hub is one GitHub: accounts, repositories and everything in them.
type Hub struct {
	mu    sync.Mutex
	dir   string
	clock func() time.Time
	users map[string]*user // by lower-case login
	// byToken are the tokens that let somebody in.
	byToken map[string]*user
	repos   []*Repo
	byName  map[string]*Repo // by lower-case owner/name, former names included
	nodes   map[string]any
	made    map[kind]int64
	// attachments are uploaded files, by their ids.
	attachments map[string]attachment
	settings
	unknown []string

	graphqlHandler http.Handler
	router         *router

	traffic // has a lock of its own

	servers []*http.Server
	serving sync.WaitGroup
}

// settings are the knobs that no single repository has.
type settings struct {
	maxComments    int // per issue; beyond it commenting is refused for good
	maxPage        int // the deepest page= of the issues list
	openPage       int // most on a page of a list of open issues; 0: as many as are asked for
	reactionsBump  bool
	lags           map[string]*lagOrder
	mute           map[*user]bool     // whose tokens may set no status
	mergeUnknown   int                // number of further answers with the mergeability "unknown"
	anonymous      map[string]*bucket // the budget of requests without a token
	noDependencies bool               // issues have no dependencies
	noSubIssues    bool               // issues have no sub-issues
	sso            map[string]string  // by owner in lower case: the page where a token is authorized for it
}

// New makes a GitHub without accounts or repositories that keeps its git repositories under
// opt.Dir.
func New(opt Options) (*Hub, error) {
	if opt.Dir == "" || opt.Now == nil {
		return nil, errors.New("make a hub: Dir and Now are required")
	}
	dir, err := filepath.Abs(opt.Dir)
	if err != nil {
		return nil, fmt.Errorf("find the hub's folder: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the hub's folder: %w", err)
	}
	h := &Hub{
		dir: dir, clock: opt.Now,
		users: map[string]*user{}, byToken: map[string]*user{}, byName: map[string]*Repo{},
		nodes: map[string]any{}, made: map[kind]int64{},
		router:   newRouter(),
		settings: settings{maxComments: 2500, maxPage: 100, lags: map[string]*lagOrder{}, mute: map[*user]bool{}, anonymous: map[string]*bucket{}, sso: map[string]string{}},
	}
	if h.graphqlHandler, err = newGraphQL(h); err != nil {
		return nil, fmt.Errorf("set up GraphQL: %w", err)
	}
	return h, nil
}

// now is the hub's time as GitHub would stamp it: UTC, whole seconds.
func (h *Hub) now() time.Time { return h.clock().UTC().Truncate(time.Second) }

// Repo finds a repository by its present or a former "owner/name"; nil when there is none.
func (h *Hub) Repo(fullName string) *Repo {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.repo(fullName)
}

// Repos lists all repositories in the order of their making.
func (h *Hub) Repos() []*Repo {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]*Repo(nil), h.repos...)
}

func (h *Hub) repo(fullName string) *Repo { return h.byName[strings.ToLower(fullName)] }

// user finds an account by login, ignoring case; nil when there is none or it was deleted.
func (h *Hub) user(login string) *user {
	u := h.users[strings.ToLower(login)]
	if u == nil || u.deleted {
		return nil
	}
	return u
}

// enter locks the hub and takes notice of what was pushed straight to the bare repositories; the
// control API's methods begin with it: defer h.enter()().
func (h *Hub) enter() func() {
	h.mu.Lock()
	h.refresh()
	return h.mu.Unlock
}

// refresh takes notice of what was pushed straight to the bare repositories.
func (h *Hub) refresh() {
	for _, r := range h.repos {
		r.git.invalidate()
	}
	for _, r := range h.repos {
		r.notice()
	}
}
