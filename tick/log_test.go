package tick

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// passLines are the messages about no single repository.
var passLines = []string{
	"the state folder was used on another machine before; no pass may run there any more",
	"could not list what is to be sent",
	"pass", "repositories", "turns wait for a daily budget", "the clock of this machine is wrong", "could not record a limit of GitHub's",
	"could not delete data of finished work", "could not look for processes in a checkout",
	"could not plan messages", "a message without a repository did not arrive", "the pass continues without what only observes it", "a pass died",
	"could not read how the last passes ended", "another state folder had this machine's name before", "could not find out whether all machines are paused",
}

// Every log line names its repository, even lines too rare for a story.
func TestLogLinesNameTheirRepository(t *testing.T) {
	found := 0
	for _, pattern := range []string{"*.go", "*/*.go", "*/*/*.go", "../actions/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || !logs(call) {
					return true
				}
				found++
				if !namesRepo(call) {
					t.Errorf("%s: a line that names no repository", set.Position(call.Pos()))
				}
				return true
			})
		}
	}
	if found < 20 {
		t.Errorf("only %d lines of log were found: the test looks at the wrong calls", found)
	}
}

// logs reports whether a call is x.Log.InfoContext(…) or similar.
func logs(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"DebugContext", "InfoContext", "WarnContext", "ErrorContext", "Info", "Warn", "Error", "Debug"}, method.Sel.Name) {
		return false
	}
	of, ok := method.X.(*ast.SelectorExpr)
	return ok && of.Sel.Name == "Log"
}

func namesRepo(call *ast.CallExpr) bool {
	named := false
	for _, arg := range call.Args {
		ast.Inspect(arg, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				text, err := strconv.Unquote(n.Value)
				named = named || err == nil && (text == "repo_full_name" || slices.Contains(passLines, text))
			case *ast.Ident: // attributes made by one of these
				named = named || slices.Contains([]string{"TurnAttrs", "AttrsOf", "eventAttrs", "LogAttrs", "attrs"}, n.Name)
			}
			return true
		})
	}
	return named
}
