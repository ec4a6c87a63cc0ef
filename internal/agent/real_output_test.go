package agent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/modelsim"
)

// A long answer arrives whole: claude exits before it has written what a full
// pipe does not take.
func TestALongAnswerArrivesWhole(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		for _, size := range []int{60 << 10, 256 << 10, 1 << 20} {
			summary := strings.Repeat("0123456789abcde\n", size/16)
			r.model.Script(func(modelsim.Query) modelsim.Reply {
				a := answer("Long")
				a["pr_summary"] = summary
				return modelsim.Reply{Answer: a}
			})
			for n := range 3 {
				q := r.request(fmt.Sprintf("Begin, %d.", n))
				q.Turn = "turn-long"
				res, err := r.run(q)
				if err != nil {
					t.Errorf("%d bytes, run %d: %v", size, n, err)
					continue
				}
				var a struct {
					Summary string `json:"pr_summary"`
				}
				if err := json.Unmarshal(res.Answer, &a); err != nil || a.Summary != summary {
					t.Errorf("%d bytes, run %d: %d bytes came, %v", size, n, len(a.Summary), err)
				}
			}
		}
	})
}
