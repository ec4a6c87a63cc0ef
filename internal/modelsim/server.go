package modelsim

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
)

// The APIs.
const (
	OpenAI    = "openai"
	Anthropic = "anthropic"
)

// Query is what a command line asked the model, once: a turn has one for each
// answer, tool calls included.
type Query struct {
	API     string
	Model   string
	Prompt  string          // the latest thing that a user said
	Earlier int             // how many prompts the conversation had before
	Results []string        // what tools that ran since the prompt said
	Schema  json.RawMessage // of the answer; nil when none was sent
	Tools   []string        // that are offered
	Body    json.RawMessage // the request itself

	found bool // OpenAI: tools that are not offered at once were searched for
}

// Reply is what the model does. One of its fields is set; beside Failed, Text may
// be what it says.
type Reply struct {
	Run    string // has a shell command run, then is asked again
	Tool   *Call  // has a tool called, then is asked again
	Patch  string // OpenAI: has a patch applied, then is asked again
	Give   any    // gives an answer to the tool for it, then is asked again
	Answer any    // the final answer by the schema
	Text   string // a final message that is no answer by the schema
	Hang   bool   // never answers
	Cut    bool   // the stream ends in the middle
	Refuse bool   // the model refuses
	Failed string // OpenAI: the stream ends with response.failed and this code
	Error  *Error
}

// Call is the use of a tool by its name.
type Call struct {
	Name  string
	Input map[string]any
}

// Error is an answer of the API other than 200.
type Error struct {
	Status int
	Type   string
	Text   string
	More   map[string]any    // further keys of the error object
	Header map[string]string // further headers
}

// Usage of each reply that is not an error, in tokens. Input is all of it.
const (
	InputTokens  = 1000
	CachedTokens = 600
	OutputTokens = 50
)

// Server is a running provider.
type Server struct {
	http *http.Server
	addr string

	mu      sync.Mutex
	script  func(Query) Reply
	queries []Query
	closed  chan struct{}
	once    sync.Once
}

// New starts a provider that answers by a script.
func New(script func(Query) Reply) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the model server: %w", err)
	}
	s := &Server{addr: l.Addr().String(), script: script, closed: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /openai/v1/responses", s.openAI)
	mux.HandleFunc("POST /anthropic/v1/messages", s.anthropic)
	mux.HandleFunc("HEAD /anthropic", func(http.ResponseWriter, *http.Request) {})
	s.http = &http.Server{Handler: mux}
	go func() { _ = s.http.Serve(l) }()
	return s, nil
}

// Close ends the server and every request that hangs.
func (s *Server) Close() error {
	s.once.Do(func() { close(s.closed) })
	return s.http.Close()
}

// OpenAI is the base URL of the Responses API.
func (s *Server) OpenAI() string { return "http://" + s.addr + "/openai/v1" }

// Anthropic is the base URL of the Messages API.
func (s *Server) Anthropic() string { return "http://" + s.addr + "/anthropic" }

// Script replaces the script.
func (s *Server) Script(script func(Query) Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = script
}

// Queries are all that was asked so far.
func (s *Server) Queries() []Query {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.queries)
}

func (s *Server) ask(q Query) Reply {
	s.mu.Lock()
	s.queries = append(s.queries, q)
	script := s.script
	s.mu.Unlock()
	return script(q)
}

// hang waits for the server's end, or the client's.
func (s *Server) hang(r *http.Request) {
	select {
	case <-s.closed:
	case <-r.Context().Done():
	}
}

const maxRequest = 64 << 20

func readBody(w http.ResponseWriter, r *http.Request, into any) (json.RawMessage, bool) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		http.Error(w, "modelsim: "+err.Error(), http.StatusBadRequest)
		return nil, false
	}
	return raw, true
}

func writeError(w http.ResponseWriter, e Error, wrap func(map[string]any) any) {
	body := map[string]any{"type": e.Type, "message": e.Text}
	maps.Copy(body, e.More)
	for k, v := range e.Header {
		w.Header().Set(k, v)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.Status)
	_ = json.NewEncoder(w).Encode(wrap(body))
}

// stream writes server-sent events.
type stream struct{ w http.ResponseWriter }

func startStream(w http.ResponseWriter) stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	return stream{w}
}

func (s stream) send(kind string, fields map[string]any) {
	fields["type"] = kind
	b, err := json.Marshal(fields)
	if err != nil {
		panic(err) // a test's own answer
	}
	_, _ = fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", kind, b) // a client that went away
	s.w.(http.Flusher).Flush()
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a test's own answer
	}
	return string(b)
}
