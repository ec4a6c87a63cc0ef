//go:build unix

package story

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// scripts is where the stories are: in a folder for each topic, named by the behaviour that they
// show.
var scripts = filepath.Join("..", "..", "testdata", "script")

// scriptFiles are the files of all stories.
func scriptFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(scripts, "*", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// storyName is a story's name: its folder's, a slash, and its own.
func storyName(file string) string {
	return filepath.Base(filepath.Dir(file)) + "/" + strings.TrimSuffix(filepath.Base(file), ".txtar")
}

// runFolders plays stories as sub-tests of their folders, side by side.
func runFolders(t *testing.T, p testscript.Params, files []string) {
	t.Helper()
	var folders []string
	byFolder := map[string][]string{}
	for _, file := range files {
		folder := filepath.Base(filepath.Dir(file))
		if byFolder[folder] == nil {
			folders = append(folders, folder)
		}
		byFolder[folder] = append(byFolder[folder], file)
	}
	for _, folder := range folders {
		p := p
		p.Files = byFolder[folder]
		if p.WorkdirRoot != "" { // two folders may have a story of the same name
			p.WorkdirRoot = filepath.Join(p.WorkdirRoot, folder)
			if err := os.Mkdir(p.WorkdirRoot, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			testscript.Run(t, p)
		})
	}
}

// The short stories are there, and each is named once.
func TestShortStoriesExist(t *testing.T) {
	all := scriptFiles(t)
	named := map[string]bool{}
	for _, name := range short {
		file := filepath.Join(scripts, filepath.FromSlash(name)+".txtar")
		if !slices.Contains(all, file) || named[name] {
			t.Errorf("there is no story %s, or it is named twice", name)
		}
		named[name] = true
	}
}

// A story that is not in a folder, or in one too deep, would never be played.
func TestEveryStoryIsInAFolder(t *testing.T) {
	played := map[string]bool{}
	for _, file := range scriptFiles(t) {
		played[file] = true
	}
	err := filepath.WalkDir(scripts, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !played[path] {
			t.Errorf("%s is not played: stories are in testdata/script/FOLDER/NAME.txtar", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
