package kubernetes_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/mergexo/gh-mergexo/cmd"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
)

// objects are manifests as Kubernetes reads them, by kind and name.
type objects map[string]any

// kinds makes the objects of each kind that the manifests have.
var kinds = map[string]func() any{
	"batch/v1 CronJob": func() any { return new(batch.CronJob) }, "apps/v1 Deployment": func() any { return new(apps.Deployment) },
	"v1 PersistentVolumeClaim": func() any { return new(core.PersistentVolumeClaim) }, "v1 ResourceQuota": func() any { return new(core.ResourceQuota) },
	"networking.k8s.io/v1 NetworkPolicy": func() any { return new(networking.NetworkPolicy) }, "v1 Namespace": func() any { return new(core.Namespace) },
	"v1 ConfigMap": func() any { return new(core.ConfigMap) },
}

// add decodes the objects of a file.
func (o objects) add(text string) error {
	for doc := range strings.SplitSeq(text, "\n---\n") {
		var head struct {
			APIVersion, Kind string
			Metadata         struct{ Name string }
		}
		if err := yaml.Unmarshal([]byte(doc), &head); err != nil {
			return err
		}
		made, known := kinds[head.APIVersion+" "+head.Kind]
		if !known {
			return fmt.Errorf("no kind of object: %v", head)
		}
		into := made()
		if err := decode(doc, into); err != nil {
			return err
		}
		o[head.Kind+" "+head.Metadata.Name] = into
	}
	return nil
}

// the returns an object by its kind and name.
func the[T any](t *testing.T, o objects, name string) *T {
	t.Helper()
	found, ok := o[name].(*T)
	if !ok {
		t.Fatalf("there is no %s in %v", name, slices.Sorted(maps.Keys(o)))
	}
	return found
}

// configOf returns the config that a pod mounts, and where; empty: none.
func configOf(o objects, p core.PodSpec) (text, at string) {
	at = mounted(p, func(s core.VolumeSource) bool {
		if s.ConfigMap == nil {
			return false
		}
		c, ok := o["ConfigMap "+s.ConfigMap.Name].(*core.ConfigMap)
		if ok {
			text = c.Data["config.toml"]
		}
		return ok
	})
	return text, at
}

// decode reads YAML as Kubernetes' server does: a field that it does not know, also in other letters, is
// an error, and so are one that is there twice and a value that does not fit its field.
func decode(text string, into any) error {
	b, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return err
	}
	wrong, err := json.UnmarshalStrict(b, into)
	return errors.Join(append(wrong, err)...)
}

// kustomization has the fields of kustomize that the folders use.
type kustomization struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Namespace  string   `json:"namespace"`
	NameSuffix string   `json:"nameSuffix"`
	Resources  []string `json:"resources"`
	Labels     []struct {
		Pairs            map[string]string `json:"pairs"`
		IncludeSelectors bool              `json:"includeSelectors"`
		IncludeTemplates bool              `json:"includeTemplates"`
	} `json:"labels"`
	Images []struct {
		Name    string `json:"name"`
		NewName string `json:"newName"`
		NewTag  string `json:"newTag"`
	} `json:"images"`
	ConfigMapGenerator []struct {
		Name  string   `json:"name"`
		Files []string `json:"files"`
	} `json:"configMapGenerator"`
	Patches []struct {
		Path   string            `json:"path"`
		Target map[string]string `json:"target"`
		Patch  string            `json:"patch"`
	} `json:"patches"`
	Replacements []struct {
		Source  map[string]string `json:"source"`
		Targets []struct {
			Select     map[string]string `json:"select"`
			FieldPaths []string          `json:"fieldPaths"`
			Options    struct {
				Delimiter string `json:"delimiter"`
				Index     int    `json:"index"`
			} `json:"options"`
		} `json:"targets"`
	} `json:"replacements"`
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func settings(t *testing.T, dir string) (k kustomization) {
	t.Helper()
	if err := decode(read(t, dir, "kustomization.yaml"), &k); err != nil {
		t.Fatal(err)
	}
	return k
}

// manifests are the objects of a machine, as its files have them, and every kustomization is in use.
func manifests(t *testing.T) objects {
	t.Helper()
	o := objects{}
	for _, dir := range []string{"namespace", "base", "machine", "fleet", "fleet/machine"} {
		k := settings(t, dir)
		used := append(slices.Clone(k.Resources), "kustomization.yaml")
		for _, p := range k.Patches {
			used = append(used, p.Path)
		}
		files, err := filepath.Glob(dir + "/*.yaml")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if !slices.Contains(used, filepath.Base(f)) {
				t.Errorf("%s is in no kustomization", f)
			}
			if filepath.Base(f) == "kustomization.yaml" {
				continue
			}
			into := o
			if strings.HasPrefix(dir, "fleet") {
				into = objects{} // patches are no whole objects
			}
			if err := into.add(read(t, f)); err != nil {
				t.Errorf("%s: %v", f, err)
			}
		}
	}
	return o
}

// pods are the two kinds of pods of a machine, whose objects end with a suffix.
func pods(t *testing.T, o objects, suffix string) map[string]core.PodSpec {
	t.Helper()
	return map[string]core.PodSpec{
		"passes": the[batch.CronJob](t, o, "CronJob passes"+suffix).Spec.JobTemplate.Spec.Template.Spec,
		"shell":  the[apps.Deployment](t, o, "Deployment shell"+suffix).Spec.Template.Spec,
	}
}

// A misspelt field, a value of another type and one of no type are found wherever they are.
func TestMistakesAreFound(t *testing.T) {
	for _, m := range []struct{ file, right, wrong string }{
		{"base/passes.yaml", "concurrencyPolicy:", "concurencyPolicy:"},
		{"base/passes.yaml", "hostUsers: false", "hostUser: false"},
		{"base/passes.yaml", "procMount:", "procmount:"},
		{"base/passes.yaml", "backoffLimit: 0", "backoffLimit: none"},
		{"base/passes.yaml", "fieldPath:", "path:"},
		{"base/shell.yaml", "replicas: 1", "replicas: one"},
		{"base/shell.yaml", "command: [sleep, infinity]", "command: sleep infinity"},
		{"base/volume.yaml", "storage: 20Gi", "storage: 20 GB"},
		{"base/volume.yaml", "accessModes: [ReadWriteOnce]", "accessModes: ReadWriteOnce"},
		{"namespace/network.yaml", "ipBlock:", "ipblocks:"},
		{"namespace/namespace.yaml", "hard:", "limits:"},
		{"namespace/namespace.yaml", "kind: ResourceQuota", "kind: Quota"},
		{"base/shell.yaml", "replicas: 1", "replicas: 1\n  replicas: 1"},
		{"fleet/database.yaml", "ipBlock:", "ipblock:"},
		{"fleet/machine/passes.yaml", "limits:", "limit:"},
		{"fleet/machine/shell.yaml", "maxSkew: 1", "maxSkew: one"},
	} {
		text := read(t, m.file)
		if !strings.Contains(text, m.right) {
			t.Errorf("%s lacks %q", m.file, m.right)
		}
		if err := (objects{}).add(strings.Replace(text, m.right, m.wrong, 1)); err == nil {
			t.Errorf("%s with %q is a manifest", m.file, m.wrong)
		}
	}
}

// What a pod may do, and what makes passes safe to overlap.
func TestThePods(t *testing.T) {
	o := manifests(t)
	user, err := strconv.ParseInt(find(t, read(t, "..", "..", "Dockerfile"), `useradd --uid (\d+)`), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	claim := the[core.PersistentVolumeClaim](t, o, "PersistentVolumeClaim state")
	passes, shell := the[batch.CronJob](t, o, "CronJob passes"), the[apps.Deployment](t, o, "Deployment shell")
	network := the[networking.NetworkPolicy](t, o, "NetworkPolicy network")
	both := pods(t, o, "")
	for name, p := range both {
		c := p.Containers[0]
		for what, ok := range map[string]bool{
			"runs as the image's user":              *p.SecurityContext.RunAsNonRoot && *p.SecurityContext.RunAsUser == user && *p.SecurityContext.FSGroup == user,
			"leaves the state folder to its owner":  *p.SecurityContext.FSGroupChangePolicy == core.FSGroupChangeOnRootMismatch,
			"gains nothing":                         !*c.SecurityContext.AllowPrivilegeEscalation && slices.Equal(c.SecurityContext.Capabilities.Drop, []core.Capability{"ALL"}),
			"writes to its volumes only":            *c.SecurityContext.ReadOnlyRootFilesystem,
			"knows no Kubernetes":                   !*p.AutomountServiceAccountToken && !*p.EnableServiceLinks,
			"lets bubblewrap make a user namespace": p.SecurityContext.SeccompProfile.Type == core.SeccompProfileTypeUnconfined && p.SecurityContext.AppArmorProfile.Type == core.AppArmorProfileTypeUnconfined,
			"lets bubblewrap mount /proc":           !*p.HostUsers && *c.SecurityContext.ProcMount == core.UnmaskedProcMount,
			"is on the node of the others":          p.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey == core.LabelHostname,
			"has the volume": mounted(p, func(s core.VolumeSource) bool {
				return s.PersistentVolumeClaim != nil && s.PersistentVolumeClaim.ClaimName == claim.Name
			}) == "/data",
			"is one machine on any node": mounted(p, func(s core.VolumeSource) bool { return s.DownwardAPI != nil }) == "/etc/machine-id",
			"has one name in all passes": p.Hostname != "",
		} {
			if !ok {
				t.Errorf("%s: not so: it %s", name, what)
			}
		}
	}
	for what, ok := range map[string]bool{
		"passes overlap":                  passes.Spec.ConcurrencyPolicy == batch.AllowConcurrent,
		"a pass is tried by the next one": *passes.Spec.JobTemplate.Spec.BackoffLimit == 0 && both["passes"].RestartPolicy == core.RestartPolicyNever,
		"a turn may take its time":        passes.Spec.JobTemplate.Spec.ActiveDeadlineSeconds == nil,
		"the volume is of one node":       slices.Equal(claim.Spec.AccessModes, []core.PersistentVolumeAccessMode{core.ReadWriteOnce}),
		"one shell at a time":             *shell.Spec.Replicas == 1 && shell.Spec.Strategy.Type == apps.RecreateDeploymentStrategyType,
		"nothing comes in":                slices.Contains(network.Spec.PolicyTypes, networking.PolicyTypeIngress) && len(network.Spec.Ingress) == 0,
		"what goes out is limited":        slices.Contains(network.Spec.PolicyTypes, networking.PolicyTypeEgress),
	} {
		if !ok {
			t.Errorf("not so: %s", what)
		}
	}
	one, other := both["passes"], both["shell"]
	one.RestartPolicy, one.TerminationGracePeriodSeconds, one.Containers[0].Args = other.RestartPolicy, other.TerminationGracePeriodSeconds, nil
	other.Containers[0].Command = nil
	if !reflect.DeepEqual(one, other) {
		t.Errorf("the pods differ:\n%+v\n%+v", one, other)
	}
}

// mounted returns where a pod has a volume; "": nowhere.
func mounted(p core.PodSpec, is func(core.VolumeSource) bool) string {
	for _, v := range p.Volumes {
		for _, m := range p.Containers[0].VolumeMounts {
			if m.Name == v.Name && is(v.VolumeSource) {
				return m.MountPath
			}
		}
	}
	return ""
}

func find(t *testing.T, text, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("nothing is like %s", pattern)
	}
	return m[1]
}

// folders are the two that people edit and apply, with the section of the page about each.
var folders = []struct {
	dir, of, section string
	names            []string // objects that the section names
}{
	{"machine", "machine", "Kubernetes", []string{"deploy/shell", "cronjob/passes"}},
	{"fleet", "fleet/machine", "A fleet on Kubernetes", []string{"deploy/shell-a", "cronjob passes-b", "deploy/shell-b pvc/state-b", "create configmap database --from-file=ca.crt="}},
}

// What the manifests name exists: in the program, in the image, in the other files and on the page.
func TestNamesExist(t *testing.T) {
	o := manifests(t)
	p := pods(t, o, "")["passes"]
	c := p.Containers[0]
	dockerfile, page := read(t, "..", "..", "Dockerfile"), read(t, "..", "..", "docs", "deploy.md")
	tick, flags, err := cmd.Tree(nil).Find(c.Args)
	if err != nil || tick.Name() != "tick" || tick.ParseFlags(flags) != nil {
		t.Errorf("there is no command %q: %v", c.Args, err)
	}
	if find(t, dockerfile, `ENTRYPOINT \["(.*)"\]`) != "gh-mergexo" || len(c.Command) > 0 {
		t.Error("a pass does not start gh-mergexo")
	}
	space := the[core.Namespace](t, o, "Namespace gh-mergexo").Name
	for _, f := range folders {
		t.Run(f.dir, func(t *testing.T) {
			k := settings(t, f.dir)
			made := settings(t, f.of).ConfigMapGenerator[0]
			at := mounted(p, func(s core.VolumeSource) bool { return s.ConfigMap != nil && s.ConfigMap.Name == made.Name })
			if at != find(t, dockerfile, `MERGEXO_CONFIG=(\S+)`) || filepath.Base(at) != made.Files[0] {
				t.Errorf("the config is at %q", at)
			}
			cfg, err := config.Parse(at, []byte(read(t, f.of, made.Files[0])), environ.Of([]string{"HOME=/home/mergexo", "DATABASE_URL=postgres:///mergexo"}), "github.com")
			if err != nil {
				t.Fatal(err)
			}
			disk := "/data/"
			if cfg.Runtime.Sandbox != "required" || !strings.HasPrefix(cfg.Runtime.StateDir, disk) {
				t.Errorf("the state is in %s, and the sandbox is %s", cfg.Runtime.StateDir, cfg.Runtime.Sandbox)
			}
			keys := map[string]bool{}
			for line := range strings.Lines(read(t, f.dir, "keys.env.example")) {
				name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
				if !ok || value != "" {
					t.Errorf("keys.env.example: %q", line)
				}
				keys[name] = true
			}
			if !keys["GH_TOKEN"] {
				t.Error("keys.env.example has no token")
			}
			if fleet := f.dir == "fleet"; keys[strings.TrimPrefix(cfg.Runtime.Database, "$")] != fleet {
				t.Errorf("the variable with the database is %q, and the keys are %v", cfg.Runtime.Database, keys)
			}
			if ignored := read(t, "..", "..", ".gitignore"); !strings.Contains(ignored, "/share/kubernetes/"+f.dir+"/keys.env\n") {
				t.Error("git does not ignore keys.env")
			}
			for _, v := range c.Env {
				keys[v.Name] = strings.HasPrefix(v.Value, disk) // an agent's own home
			}
			for _, name := range cfg.Agents["codex"].EnvPass {
				if !keys[name] {
					t.Errorf("no pod has %s, or not on the volume", name)
				}
			}
			if c.Image != k.Images[0].Name {
				t.Errorf("the image %s is not among %v", c.Image, k.Images)
			}
			for _, in := range []string{k.Namespace, settings(t, "base").Namespace, settings(t, "namespace").Namespace} {
				if in != space {
					t.Errorf("a kustomization is for the namespace %q", in)
				}
			}
			section := find(t, page, `(?s)\n#+ `+f.section+`\n(.*?)(\n## |\n### |$)`)
			for _, want := range append([]string{
				"docker build -t " + k.Images[0].NewName + ":" + k.Images[0].NewTag,
				"namespace=" + space, "create secret generic " + c.EnvFrom[0].SecretRef.Name + " --from-env-file=" + f.dir + "/keys.env",
				"apply -k " + f.dir, f.of + "/config.toml",
			}, f.names...) {
				if !strings.Contains(section, want) {
					t.Errorf("the section %q lacks %q", f.section, want)
				}
			}
		})
	}
}

// kustomize builds a folder as kubectl apply -k does.
func kustomize(t *testing.T, dir string) objects {
	t.Helper()
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("kubectl is not installed")
	}
	built, err := exec.CommandContext(t.Context(), kubectl, "kustomize", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, built)
	}
	o := objects{}
	if err := o.add(string(built)); err != nil {
		t.Fatal(err)
	}
	return o
}

// Kustomize makes the objects of the folders that people apply, in their namespace: of one machine, and of
// a fleet, whose machines share nothing but keys, network and database.
func TestKustomizeMakesThem(t *testing.T) {
	for _, f := range folders {
		t.Run(f.dir, func(t *testing.T) {
			o, k := kustomize(t, f.dir), settings(t, f.dir)
			machines := map[string]string{"": "machine"} // by the suffix of their objects
			if f.dir == "fleet" {
				machines = map[string]string{}
				for _, dir := range k.Resources {
					if _, err := os.Stat(filepath.Join(f.dir, dir, "kustomization.yaml")); err == nil && !strings.HasPrefix(dir, "..") {
						machines["-"+dir] = dir
					}
				}
				if len(machines) < 2 {
					t.Errorf("a fleet of %v", machines)
				}
				aFleet(t, o, k, machines)
			}
			for suffix, machine := range machines {
				ofMachine(t, o, k, suffix, machine)
			}
			for name, object := range o {
				if m, ok := object.(interface{ GetNamespace() string }); ok && m.GetNamespace() != k.Namespace && name != "Namespace "+k.Namespace {
					t.Errorf("%s is in the namespace %q", name, m.GetNamespace())
				}
			}
		})
	}
}

// ofMachine checks that the pods of a machine are near each other, on its volume and with its name.
func ofMachine(t *testing.T, o objects, k kustomization, suffix, machine string) {
	t.Helper()
	labels := map[string]map[string]string{
		"passes": the[batch.CronJob](t, o, "CronJob passes"+suffix).Spec.JobTemplate.Spec.Template.Labels,
		"shell":  the[apps.Deployment](t, o, "Deployment shell"+suffix).Spec.Template.Labels,
	}
	near := map[string]string{"app.kubernetes.io/name": "gh-mergexo", "app.kubernetes.io/instance": machine}
	claim := the[core.PersistentVolumeClaim](t, o, "PersistentVolumeClaim state"+suffix)
	for name, p := range pods(t, o, suffix) {
		if want := k.Images[0].NewName + ":" + k.Images[0].NewTag; p.Containers[0].Image != want {
			t.Errorf("%s of %s has the image %s, want %s", name, machine, p.Containers[0].Image, want)
		}
		if mounted(p, func(s core.VolumeSource) bool {
			return s.PersistentVolumeClaim != nil && s.PersistentVolumeClaim.ClaimName == claim.Name
		}) == "" {
			t.Errorf("%s of %s lacks the volume %s", name, machine, claim.Name)
		}
		if p.Hostname != machine {
			t.Errorf("%s of %s has the host name %q", name, machine, p.Hostname)
		}
		if got := p.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchLabels; !maps.Equal(got, near) {
			t.Errorf("%s of %s are near %v, want %v", name, machine, got, near)
		}
		for label, value := range near {
			if labels[name][label] != value {
				t.Errorf("%s of %s lack the label %s=%s", name, machine, label, value)
			}
		}
		text, at := configOf(o, p)
		cfg, err := config.Parse(at, []byte(text), environ.Of([]string{"HOME=/home/mergexo", "DATABASE_URL=postgres:///mergexo"}), "github.com")
		if err != nil {
			t.Errorf("%s of %s: the config at %q: %v", name, machine, at, err)
			continue
		}
		if want := strings.TrimPrefix(suffix, "-"); cfg.Runtime.Machine != want {
			t.Errorf("%s of %s is the machine %q, want %q", name, machine, cfg.Runtime.Machine, want)
		}
		if limit, limited := p.Containers[0].Resources.Limits[core.ResourceMemory]; limited && limit.Value() < int64(cfg.Runtime.Workers)*cfg.Runtime.MaxMemory {
			t.Errorf("%s of %s may use %s: less than its agents", name, machine, &limit)
		}
	}
}

// aFleet checks what the machines of a fleet share.
func aFleet(t *testing.T, o objects, k kustomization, machines map[string]string) {
	t.Helper()
	for suffix, machine := range machines {
		one := settings(t, "fleet/"+machine)
		if one.NameSuffix != suffix || one.Labels[0].Pairs["app.kubernetes.io/instance"] != machine {
			t.Errorf("the folder %s is of another machine: %+v", machine, one)
		}
		passes := pods(t, o, suffix)["passes"]
		if passes.Containers[0].Resources.Limits.Memory().IsZero() {
			t.Errorf("passes of %s may use all memory of their node", machine)
		}
		at := mounted(passes, func(s core.VolumeSource) bool {
			return s.ConfigMap != nil && s.ConfigMap.Name == "database" && s.ConfigMap.Optional != nil && *s.ConfigMap.Optional
		})
		if at != "/database" {
			t.Errorf("passes of %s have the certificate at %q", machine, at)
		}
	}
	jobs := the[core.ResourceQuota](t, o, "ResourceQuota passes").Spec.Hard["count/jobs.batch"]
	if jobs.Value() < int64(16*len(machines)) {
		t.Errorf("%d Jobs may exist for %d machines", jobs.Value(), len(machines))
	}
	open := the[networking.NetworkPolicy](t, o, "NetworkPolicy database").Spec
	if len(open.PodSelector.MatchLabels) > 0 || open.Egress[0].Ports[0].Port.IntValue() != 5432 || len(open.Ingress) > 0 {
		t.Errorf("pods do not reach the database: %+v", open)
	}
}
