package work

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// AgentFile is a file or folder of a repository that agents obey without being asked to: their
// program loads it, or our prompt names it as instructions. Whoever writes it instructs agents.
type AgentFile struct {
	// Path is as in .gitignore: a name without a slash, and a path after "**/", is meant in every
	// folder, any other path from the repository's root. Case does not count, because some file
	// systems ignore it.
	Path string
	// Guide marks instructions in prose, which prompts name: the file itself, or the Markdown files
	// in the folder.
	Guide bool
}

// AgentFiles is the list of these files. The checkout of a review has them as the base has them,
// prompts name the guides among them, and a person approves the merge of a change to one.
var AgentFiles = sync.OnceValue(func() []AgentFile {
	return slices.Concat(
		guides(
			"AGENTS.md", "AGENTS.override.md", "AGENT.md", // most programs
			"CLAUDE.md", "GEMINI.md", "QWEN.md", "CRUSH.md", "WARP.md", "CODEBUDDY.md", "IFLOW.md",
			"**/.github/copilot-instructions.md", "**/.github/instructions",
			".cursorrules", ".cursor/rules", ".clinerules", ".windsurfrules", ".windsurf/rules", ".roorules", ".roo/rules", ".kilocode/rules",
			".goosehints", ".junie/guidelines.md", ".kiro/steering", ".augment-guidelines", ".augment-guidelines.md", ".augment/rules", ".continuerules", ".rules",
		),
		texts("CONTRIBUTING", "HACKING", "DEVELOPMENT", "DEVELOPING"),
		settings(
			".agents", ".agent", ".mcp.json", // several programs
			".claude", ".claude-plugin", "CLAUDE.local.md",
			".codex",
			".gemini", ".qwen", ".iflow",
			"**/.github/agents", "**/.github/skills", "**/.github/prompts", "**/.github/chatmodes", "**/.github/hooks", "**/.github/copilot", "**/.github/extensions", "**/.github/plugins",
			"**/.github/mcp.json", "**/.github/lsp.json", ".copilot", "**/.vscode/mcp.json",
			".opencode", "opencode.json", "opencode.jsonc", "CONTEXT.md", ".kilo", ".kilocode", ".kilocodemodes", "kilo.json", "kilo.jsonc",
			".cursor", ".cline", ".windsurf", ".roo", ".roomodes", ".junie", ".kiro", ".goose", ".augment", ".continue", ".amazonq", ".amp", ".trae", ".factory", ".openhands", ".pi",
			".crush", "crush.json", ".crush.json", ".aider.conf.yml",
		),
		// What hides files from a program, or from the search of several.
		settings(
			".aiexclude", ".aiignore", ".agentignore", ".claudeignore", ".codexignore", ".copilotignore", ".geminiignore", ".qwenignore", ".cursorignore", ".cursorindexingignore",
			".clineignore", ".rooignore", ".kilocodeignore", ".codeiumignore", ".augmentignore", ".continueignore", ".gooseignore", ".aiderignore", ".crushignore", ".ignore", ".rgignore",
		),
		// Variables, such as the provider's address, and code that programs load where they start.
		settings("/.env", "/.env.local", "/.env.development", "/.env.production", "/.env.test", "/bunfig.toml"),
	)
})

func guides(paths ...string) []AgentFile {
	var all []AgentFile
	for _, p := range paths {
		all = append(all, AgentFile{Path: p, Guide: true})
	}
	return all
}

func settings(paths ...string) []AgentFile {
	var all []AgentFile
	for _, p := range paths {
		all = append(all, AgentFile{Path: p})
	}
	return all
}

// texts returns guides where GitHub looks for such files, in the formats that it shows.
func texts(names ...string) []AgentFile {
	var all []AgentFile
	for _, name := range names {
		for _, dir := range []string{"/", ".github/", "docs/"} {
			for _, format := range []string{"", ".md", ".rst", ".txt", ".adoc"} {
				all = append(all, AgentFile{Path: dir + name + format, Guide: true})
			}
		}
	}
	return all
}

// agentFileNames is AgentFiles by folded paths, with the folders around those paths.
type agentFileNames struct {
	rows   map[string][]AgentFile
	around map[string]bool
}

// agentFilesAnywhere and agentFilesFromRoot have the rows that are meant in every folder, and the
// others.
var agentFilesAnywhere, agentFilesFromRoot = sync.OnceValue(func() agentFileNames { return namesOfAgentFiles(true) }), sync.OnceValue(func() agentFileNames { return namesOfAgentFiles(false) })

func namesOfAgentFiles(anywhere bool) agentFileNames {
	n := agentFileNames{rows: map[string][]AgentFile{}, around: map[string]bool{}}
	for _, f := range AgentFiles() {
		below, everywhere := strings.CutPrefix(f.Path, "**/")
		if everywhere = everywhere || !strings.Contains(f.Path, "/"); everywhere != anywhere {
			continue
		}
		key := foldPath(strings.TrimPrefix(below, "/"))
		n.rows[key] = append(n.rows[key], f)
		for dir := path.Dir(key); dir != "."; dir = path.Dir(dir) {
			n.around[dir] = true
		}
	}
	return n
}

// foldPath returns the same text for paths that differ in case only, with the letters that are
// others' forms, such as the long s.
func foldPath(p string) string { return strings.ToLower(strings.ToUpper(p)) }

// agentFilesOf returns the rows that mean a folded path itself, and whether it is a folder around
// one.
func agentFilesOf(p string) (rows []AgentFile, around bool) {
	root, nested := agentFilesFromRoot(), agentFilesAnywhere()
	rows, around = root.rows[p], root.around[p]
	for from := 0; ; {
		rows, around = append(slices.Clip(rows), nested.rows[p[from:]]...), around || nested.around[p[from:]]
		next := strings.IndexByte(p[from:], '/')
		if next < 0 {
			return rows, around
		}
		from += next + 1
	}
}

// IsAgentFile reports whether agents obey a file of a repository: the file, or a folder around it,
// is one of AgentFiles. A file in the place of a folder around one counts too, because a link there
// puts other files into the folder.
func IsAgentFile(file string) bool {
	file = foldPath(file)
	for p := file; p != "." && p != "/"; p = path.Dir(p) {
		if rows, around := agentFilesOf(p); len(rows) > 0 || around && p == file {
			return true
		}
	}
	return false
}

// IsGuide reports whether a file has instructions in prose for agents or contributors.
func IsGuide(file string) bool {
	file = foldPath(file)
	for p := file; p != "." && p != "/"; p = path.Dir(p) {
		rows, _ := agentFilesOf(p)
		isGuide := slices.ContainsFunc(rows, func(f AgentFile) bool { return f.Guide })
		if isGuide && (p == file || slices.Contains([]string{".md", ".mdc"}, path.Ext(file))) {
			return true
		}
	}
	return false
}
