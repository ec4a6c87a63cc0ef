package work

import "testing"

func TestNearLabel(t *testing.T) {
	wanted := []string{"agent:bugfix", "agent:small-job", "agent:design", "agent:roadmap", "agent:ignore"}
	known := append([]string{"agent:done", "agent:hold"}, wanted...)
	for label, meant := range map[string]string{
		"agent:smalljob":      "agent:small-job",
		"agent:small_job":     "agent:small-job",
		"Agent: Bugfix":       "agent:bugfix",
		"agent/bugfix":        "agent:bugfix",
		"agent-bugfix":        "agent:bugfix",
		"agents:bugfix":       "agent:bugfix",
		"agent:bugifx":        "agent:bugfix",
		"agent:bug":           "agent:bugfix",
		"mergexo:design":      "agent:design",
		"bot/small job":       "agent:small-job",
		"agent:ignored":       "agent:ignore",
		"agent:done":          "", // ours
		"AGENT:BUGFIX":        "", // GitHub ignores case
		"bugfix":              "",
		"bug":                 "",
		"type:bugfix":         "",
		"agent:documentation": "",
		"agent:":              "",
		":bugfix":             "",
		"":                    "",
		"кодекс:bugfix":       "",
	} {
		set, got := NearLabel([]string{"good first issue", label}, known, wanted)
		if got != meant || (meant != "") != (set == label && label != "") {
			t.Errorf("NearLabel(%q) is %q, %q; want %q", label, set, got, meant)
		}
	}
	if set, _ := NearLabel([]string{"agent:smalljob", "agent:small-job"}, known, wanted); set != "" {
		t.Errorf("%q is near a label that is set as well", set)
	}
	for _, label := range []string{"✨", "agent:✨", "agent:"} {
		if set, _ := NearLabel([]string{label}, nil, []string{"🐛", "agent:🐛"}); set != "" {
			t.Errorf("%q is near another sign", set)
		}
	}
	if set, _ := NearLabel([]string{":bugfix"}, nil, []string{""}); set != "" {
		t.Errorf("%q is near a label that the config does not have", set)
	}
}
