module github.com/mergexo/gh-mergexo

go 1.26.7

// What the program is made of.
require (
	github.com/AlecAivazis/survey/v2 v2.3.7 // questions, as go-gh's prompter asks them; that one brings a mock and testify into the program
	github.com/BurntSushi/toml v1.6.0 // the config, with positions for its errors
	github.com/bmatcuk/doublestar/v4 v4.10.4 // ** in protected paths
	github.com/cli/go-gh/v2 v2.17.0 // gh's own client, account, host, token, socket, tables, jq and templates; its HTTP cache stays off: it caches by age, we by ETag
	github.com/gofrs/flock v0.13.1 // locks that end with their holder
	github.com/google/jsonschema-go v0.4.3 // agents' answers are checked by the schema they were given
	github.com/jackc/pgx/v5 v5.12.0 // PostgreSQL, through database/sql; caches prepared statements, and can do without
	github.com/modelcontextprotocol/go-sdk v1.8.0 // the tool for the answer: agents' programs speak many versions of the protocol
	github.com/pressly/goose/v3 v3.26.0 // migrations; run only when the schema is behind
	github.com/spf13/cobra v1.10.2 // commands, completion, as in gh; go generate also uses its doc package, with go-md2man and blackfriday, for man pages
	github.com/spf13/pflag v1.0.10 // flags and their error types
	github.com/vbauerster/mpb/v8 v8.9.3 // progress of several turns on a terminal
	github.com/yuin/goldmark v1.8.5 // finds what GitHub shows of people's texts; tests render Markdown with it
	golang.org/x/sys v0.49.0 // opens a path without reading it, and compares its device with a mount's
	golang.org/x/text v0.43.0 // names that one file system takes for one; others bring it into the program anyway
	modernc.org/sqlite v1.60.1 // SQLite without cgo
)

// What tests and the demo add.
require (
	github.com/creack/pty v1.1.24 // a terminal
	github.com/getkin/kin-openapi v0.152.0 // GitHub's REST contract
	github.com/goccy/go-yaml v1.19.2 // workflows and manifests
	github.com/graph-gophers/graphql-go v1.11.0 // the simulated GitHub
	github.com/prometheus/client_golang v1.25.0 // linter of metrics
	github.com/prometheus/client_model v0.6.3 // parser of metrics
	github.com/prometheus/common v0.73.1 // parser of metrics
	github.com/rogpeppe/go-internal v1.16.0 // stories
	github.com/vektah/gqlparser/v2 v2.5.64 // GitHub's GraphQL contract
	howett.net/plist v1.0.1 // property lists; it panics at some faults
	pgregory.net/rapid v1.3.0 // properties
)

require (
	charm.land/lipgloss/v2 v2.0.6 // indirect
	github.com/VividCortex/ewma v1.2.0 // indirect
	github.com/acarl005/stripansi v0.0.0-20180116102854-5a71ef0e047d // indirect
	github.com/agnivade/levenshtein v1.2.2 // indirect
	github.com/aymanbagabas/go-osc52/v2 v2.0.1 // indirect
	github.com/charmbracelet/colorprofile v0.4.3 // indirect
	github.com/charmbracelet/ultraviolet v0.0.0-20260811164956-006e29f97886 // indirect
	github.com/charmbracelet/x/ansi v0.11.8 // indirect
	github.com/charmbracelet/x/term v0.2.2 // indirect
	github.com/charmbracelet/x/termios v0.1.1 // indirect
	github.com/charmbracelet/x/windows v0.2.2 // indirect
	github.com/cli/browser v1.3.0 // indirect
	github.com/cli/safeexec v1.0.1 // indirect
	github.com/cli/shurcooL-graphql v0.0.4 // indirect
	github.com/clipperhouse/displaywidth v0.11.0 // indirect
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/cpuguy83/go-md2man/v2 v2.0.6 // indirect
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/go-openapi/jsonpointer v1.0.0 // indirect
	github.com/google/shlex v0.0.0-20191202100458-e7afc7fbc510 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/henvic/httpretty v0.2.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/itchyny/gojq v0.12.19 // indirect
	github.com/itchyny/timefmt-go v0.1.8 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/kballard/go-shellquote v0.0.0-20180428030007-95032a82bc51 // indirect
	github.com/kr/pretty v0.3.1 // indirect
	github.com/lucasb-eyer/go-colorful v1.4.1 // indirect
	github.com/mattn/go-colorable v0.1.13 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/mattn/go-runewidth v0.0.24 // indirect
	github.com/mfridman/interpolate v0.0.2 // indirect
	github.com/mgutz/ansi v0.0.0-20200706080929-d51e80ef957d // indirect
	github.com/muesli/cancelreader v0.2.2 // indirect
	github.com/muesli/reflow v0.3.0 // indirect
	github.com/muesli/termenv v0.16.0 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/ncruces/go-strftime v1.1.0 // indirect
	github.com/oasdiff/yaml v0.1.1 // indirect
	github.com/oasdiff/yaml3 v0.0.14 // indirect
	github.com/pandatix/go-abnf v0.5.3 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	github.com/segmentio/asm v1.2.0 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/sethvargo/go-retry v0.5.0 // indirect
	github.com/thlib/go-timezone-local v0.0.9 // indirect
	github.com/xo/terminfo v0.0.0-20220910002029-abceb7e1c41e // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	go.uber.org/multierr v1.11.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/oauth2 v0.37.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/term v0.47.0 // indirect
	golang.org/x/time v0.15.0 // indirect
	golang.org/x/tools v0.51.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
	modernc.org/libc v1.78.0 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
)
