package config

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// The config in effect as TOML.
type (
	configDoc struct {
		Runtime  runtimeDoc          `toml:"runtime"`
		Schedule scheduleDoc         `toml:"schedule"`
		Agents   map[string]agentDoc `toml:"agents"`
		Repos    []repoDoc           `toml:"repo"`
		Notify   []notifyDoc         `toml:"notify"`
	}
	runtimeDoc struct {
		Workers                   int      `toml:"workers"`
		Agent                     string   `toml:"agent"`
		TurnTimeout               string   `toml:"turn_timeout"`
		IdleTimeout               string   `toml:"idle_timeout"`
		RetryBase                 string   `toml:"retry_base"`
		QuietPeriod               string   `toml:"quiet_period"`
		MinInterval               string   `toml:"min_interval"`
		IngestTimeout             string   `toml:"ingest_timeout"`
		SettleAfter               string   `toml:"settle_after"`
		MaxTurnsPerPass           int      `toml:"max_turns_per_pass"`
		MaxEventsPerTurn          int      `toml:"max_events_per_turn"`
		TurnsPerItem              int      `toml:"max_turns_per_item"`
		FeedbackRounds            int      `toml:"max_feedback_rounds"`
		CostPerItem               float64  `toml:"max_cost_per_item_usd"`
		CostPerTurn               float64  `toml:"max_cost_per_turn_usd"`
		TokensPerTurn             int      `toml:"max_tokens_per_turn"`
		TurnsPerDay               int      `toml:"max_turns_per_day"`
		CostPerDay                float64  `toml:"max_cost_per_day_usd"`
		MaxMemory                 string   `toml:"max_memory"`
		MaxDisk                   string   `toml:"max_disk"`
		EnableFeedbackLoop        bool     `toml:"enable_feedback_loop"`
		EnableIssueCommentRouting bool     `toml:"enable_issue_comment_routing"`
		Overlap                   bool     `toml:"overlap"`
		StateDir                  string   `toml:"state_dir"`
		PromptsDir                string   `toml:"prompts_dir"`
		MetricsFile               string   `toml:"metrics_file"`
		Sandbox                   string   `toml:"sandbox"`
		Readable                  []string `toml:"readable"`
		Accounts                  []int64  `toml:"accounts"`
	}
	agentDoc struct {
		Adapter  string   `toml:"adapter"`
		Command  []string `toml:"command"`
		Model    *string  `toml:"model"` // these three are not for programs of one's own
		Effort   *string  `toml:"effort"`
		Args     []string `toml:"args"`
		EnvPass  []string `toml:"env_pass"`
		Session  string   `toml:"session"`
		Sandbox  string   `toml:"sandbox"`
		Readable []string `toml:"readable"`
		Writable []string `toml:"writable"`

		Prices *pricesDoc `toml:"usd_per_million"` // nil: none are stated
	}
	pricesDoc struct {
		Input      float64 `toml:"input"`
		Cached     float64 `toml:"cached"`
		CacheWrite float64 `toml:"cache_write"`
		Output     float64 `toml:"output"`
	}
	repoDoc struct {
		Name         string            `toml:"name"`
		RemoteURL    string            `toml:"remote_url"`
		AllowedUsers []string          `toml:"allowed_users"`
		KeepIgnored  bool              `toml:"keep_ignored"`
		MaxFiles     int               `toml:"max_files"`
		MaxFileBytes int64             `toml:"max_file_bytes"`
		Protected    []string          `toml:"protected_paths"`
		Checks       string            `toml:"checks"`
		Tests        []string          `toml:"required_tests"`
		TestTimeout  string            `toml:"test_timeout"`
		TestFiles    string            `toml:"test_file_regex"`
		Labels       labelsDoc         `toml:"labels"`
		Agents       map[string]string `toml:"agents"`
		Voice        voiceDoc          `toml:"voice"`
		Review       reviewDoc         `toml:"review"`
		Reviewers    []reviewerDoc     `toml:"reviewers"`
	}
	voiceDoc struct {
		Disclosure any      `toml:"disclosure"`
		Author     string   `toml:"author"`
		Committer  string   `toml:"committer"`
		SignOff    any      `toml:"sign_off"`
		Trailers   []string `toml:"trailers"`
		Spending   bool     `toml:"spending"`
	}
	scheduleDoc struct {
		Priority  float64 `toml:"priority_weight"`
		Conflict  float64 `toml:"conflict_weight"`
		Staleness float64 `toml:"staleness_penalty"`
	}
	labelsDoc struct {
		Design   string `toml:"design"`
		Bugfix   string `toml:"bugfix"`
		SmallJob string `toml:"small_job"`
		Ignore   string `toml:"ignore"`
		Review   string `toml:"review"`
		Hold     string `toml:"hold"`
		Working  string `toml:"working"`
		Blocked  string `toml:"blocked"`
		Done     string `toml:"done"`

		HumanReview string `toml:"human_review"`
		Freeze      string `toml:"freeze"`
	}
)

// Print writes the config in effect, defaults included. Reading it back gives the same.
func Print(w io.Writer, cfg *Config) error {
	if _, err := fmt.Fprintf(w, "# %s, with the defaults\n", cfg.Path); err != nil {
		return err
	}
	doc := configDoc{
		Runtime:  runtimeDocOf(cfg.Runtime),
		Schedule: scheduleDoc(cfg.Schedule),
		Agents:   map[string]agentDoc{},
	}
	for _, r := range cfg.Repos {
		doc.Repos = append(doc.Repos, repoDocOf(cfg, r))
	}
	for _, n := range cfg.Notify {
		doc.Notify = append(doc.Notify, notifyDocOf(n))
	}
	for name, a := range cfg.Agents {
		doc.Agents[name] = agentDocOf(cfg, a)
	}
	e := toml.NewEncoder(w)
	e.Indent = ""
	if err := e.Encode(doc); err != nil {
		return fmt.Errorf("print the config: %w", err)
	}
	return nil
}

// Object is the config in effect as JSON has it: its keys are those of the file.
func Object(cfg *Config) (map[string]any, error) {
	var text strings.Builder
	if err := Print(&text, cfg); err != nil {
		return nil, err
	}
	var doc map[string]any
	if _, err := toml.Decode(text.String(), &doc); err != nil {
		return nil, fmt.Errorf("read the printed config: %w", err)
	}
	return map[string]any{"path": cfg.Path, "runtime": doc["runtime"], "schedule": doc["schedule"], "agents": doc["agents"], "repositories": doc["repo"]}, nil
}

func runtimeDocOf(r Runtime) runtimeDoc {
	return runtimeDoc{
		Workers: r.Workers, Agent: r.Agent,
		TurnTimeout: short(r.TurnTimeout), IdleTimeout: short(r.IdleTimeout), RetryBase: short(r.RetryBase),
		QuietPeriod: short(r.QuietPeriod), MinInterval: short(r.MinInterval), IngestTimeout: short(r.IngestTimeout), SettleAfter: short(r.SettleAfter),
		MaxTurnsPerPass: r.MaxTurnsPerPass, MaxEventsPerTurn: r.MaxEventsPerTurn,
		TurnsPerItem: r.Budgets.TurnsPerItem, FeedbackRounds: r.Budgets.FeedbackRounds, CostPerItem: r.Budgets.CostPerItem,
		CostPerTurn: r.Budgets.CostPerTurn, TokensPerTurn: r.Budgets.TokensPerTurn,
		TurnsPerDay: r.Budgets.TurnsPerDay, CostPerDay: r.Budgets.CostPerDay,
		MaxMemory: sizeDoc(r.MaxMemory), MaxDisk: sizeDoc(r.MaxDisk),
		EnableFeedbackLoop: r.EnableFeedbackLoop, EnableIssueCommentRouting: r.EnableIssueCommentRouting,
		Overlap: r.Overlap, StateDir: r.StateDir, Sandbox: string(r.Sandbox), Readable: orEmpty(r.Readable), PromptsDir: promptsDir(r.PromptsDir), MetricsFile: r.MetricsFile, Accounts: orEmpty(r.Accounts),
	}
}

func agentDocOf(cfg *Config, a Agent) agentDoc {
	doc := agentDoc{
		Adapter: a.Adapter, Command: a.Command, EnvPass: orEmpty(a.EnvPass), Session: string(a.Session),
		Sandbox: string(cfg.Sandbox(a)), Readable: orEmpty(a.Readable), Writable: orEmpty(a.Writable),
	}
	if p := a.Prices; p != nil {
		doc.Prices = &pricesDoc{Input: p.Input, Cached: p.CacheRead, CacheWrite: p.CacheWrite, Output: p.Output}
	}
	if a.Adapter != AdapterCommand {
		doc.Model, doc.Effort, doc.Args = &a.Model, &a.Effort, orEmpty(a.Args)
		if len(a.Command) == 0 {
			doc.Command = []string{a.Adapter}
		}
	}
	return doc
}

func repoDocOf(cfg *Config, r Repo) repoDoc {
	doc := repoDoc{
		Name: r.Name.String(), RemoteURL: r.RemoteURL, AllowedUsers: orEmpty(r.AllowedUsers), KeepIgnored: r.KeepIgnored,
		MaxFiles: r.MaxFiles, MaxFileBytes: r.MaxFileBytes, Protected: orEmpty(r.ProtectedPaths),
		Checks: string(r.Checks), Tests: orEmpty(r.RequiredTests), TestTimeout: short(r.TestTimeout),
		Labels: labelsDoc(r.Labels),
		Agents: map[string]string{}, Voice: voiceDocOf(r.Voice), Review: reviewDocOf(r.Review),
	}
	for _, x := range r.Reviewers {
		doc.Reviewers = append(doc.Reviewers, reviewerDocOf(x))
	}
	if r.TestFiles != nil {
		doc.TestFiles = r.TestFiles.String()
	}
	for _, kind := range work.Kinds() {
		if agent, ok := cfg.AgentFor(r.Name, kind, ""); ok {
			doc.Agents[string(kind)] = agent.Name
		}
	}
	return doc
}

func voiceDocOf(v Voice) voiceDoc {
	doc := voiceDoc{
		Disclosure: v.Disclosure, Author: v.Author.String(), Committer: v.Committer.String(), SignOff: v.SignOff,
		Trailers: orEmpty(v.Trailers), Spending: v.Spending,
	}
	if v.SignOff && v.Signer != (Person{}) {
		doc.SignOff = v.Signer.String()
	}
	return doc
}

// orEmpty makes TOML's [] of a nil list, which it would leave out.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// promptsDir is the folder, or its usual name where none is there: the config
// may not name another that is not.
func promptsDir(dir string) string {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "prompts"
	}
	return dir
}

// sizeDoc writes a size as the config reads it.
func sizeDoc(n int64) string {
	if n == 0 {
		return "0"
	}
	return strings.NewReplacer(" ", "", "bytes", "B").Replace(work.SizeText(n))
}

// short writes a duration as people do: 30m, not 30m0s.
func short(d time.Duration) string {
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}
