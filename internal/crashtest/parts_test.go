//go:build unix

package crashtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A change that one run of a reviewer cannot be shown is reviewed in several. What each said is
// stored before the next begins.

// largeFiles are two files, each of which fits into one run. Both do not.
var largeFiles = []string{"a/x.txt", "b/x.txt"}

func largeChange(dir string) error {
	for _, name := range largeFiles {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(strings.Repeat(name+strings.Repeat(" has a long line", 25)+"\n", 270)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// asksForPart2 approves of the first part of a large change and finds something in the second.
func asksForPart2(r request) verdict {
	if r.Context.Review.Part == 2 {
		return verdict{finds: "Say why."}
	}
	return verdict{}
}

var diffHeads = regexp.MustCompile(`(?m)^diff --git a/\S+ b/(\S+)$`)

func changedFiles(diff string) string {
	var all []string
	for _, m := range diffHeads.FindAllStringSubmatch(diff, -1) {
		all = append(all, m[1])
	}
	return strings.Join(all, " ")
}

// partsShown reports a file of a large change that a turn's runs were not shown in exactly one part.
func (w *world) partsShown() error {
	if !w.scenario.large {
		return nil
	}
	w.rig.mu.Lock()
	defer w.rig.mu.Unlock()
	in, seen := map[string]int{}, map[string]bool{}
	for _, r := range w.rig.runs {
		for file := range strings.FieldsSeq(r.files) {
			if of := r.turn + " " + file; in[of] == 0 {
				in[of] = r.part
			} else if in[of] != r.part {
				return fmt.Errorf("%s is in the parts %d and %d", file, in[of], r.part)
			}
			seen[file] = true
		}
	}
	for _, file := range slices.Concat(largeFiles, []string{madeFile}) {
		if !seen[file] {
			return fmt.Errorf("%s is in no part", file)
		}
	}
	return nil
}

// storedParts are the parts of a turn's review whose answers are in its row.
func storedParts(request []byte) (parts []int) {
	var stored struct {
		Parts []struct {
			Answer json.RawMessage `json:"answer"`
		} `json:"parts"`
	}
	_ = json.Unmarshal(request, &stored) // before it is written, there is none
	for i, part := range stored.Parts {
		if part.Answer != nil {
			parts = append(parts, i+1)
		}
	}
	return parts
}
