package kubernetes_test

import (
	"errors"
	"fmt"
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

// objects are the manifests as Kubernetes reads them.
type objects struct {
	passes  batch.CronJob
	shell   apps.Deployment
	claim   core.PersistentVolumeClaim
	quota   core.ResourceQuota
	network networking.NetworkPolicy
	space   core.Namespace
	config  core.ConfigMap
}

// add decodes the objects of a file.
func (o *objects) add(text string) error {
	for doc := range strings.SplitSeq(text, "\n---\n") {
		var head struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal([]byte(doc), &head); err != nil {
			return err
		}
		into, known := map[string]any{
			"batch/v1 CronJob": &o.passes, "apps/v1 Deployment": &o.shell, "v1 PersistentVolumeClaim": &o.claim, "v1 ResourceQuota": &o.quota,
			"networking.k8s.io/v1 NetworkPolicy": &o.network, "v1 Namespace": &o.space, "v1 ConfigMap": &o.config,
		}[head.APIVersion+" "+head.Kind]
		if !known {
			return fmt.Errorf("no kind of object: %v", head)
		}
		if err := decode(doc, into); err != nil {
			return err
		}
	}
	return nil
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

func manifests(t *testing.T) (o objects) {
	t.Helper()
	files, err := filepath.Glob("base/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	used := append(settings(t, "base").Resources, "kustomization.yaml")
	for _, f := range files {
		if !slices.Contains(used, filepath.Base(f)) {
			t.Errorf("%s is in no kustomization", f)
		}
	}
	for _, f := range settings(t, "base").Resources {
		if err := o.add(read(t, "base", f)); err != nil {
			t.Errorf("base/%s: %v", f, err)
		}
	}
	return o
}

// pods are the two kinds of pods.
func (o objects) pods() map[string]core.PodSpec {
	return map[string]core.PodSpec{"passes": o.passes.Spec.JobTemplate.Spec.Template.Spec, "shell": o.shell.Spec.Template.Spec}
}

// A misspelt field, a value of another type and one of no type are found wherever they are.
func TestMistakesAreFound(t *testing.T) {
	for _, m := range []struct{ file, right, wrong string }{
		{"passes.yaml", "concurrencyPolicy:", "concurencyPolicy:"},
		{"passes.yaml", "hostUsers: false", "hostUser: false"},
		{"passes.yaml", "procMount:", "procmount:"},
		{"passes.yaml", "backoffLimit: 0", "backoffLimit: none"},
		{"passes.yaml", "fieldPath:", "path:"},
		{"shell.yaml", "replicas: 1", "replicas: one"},
		{"shell.yaml", "command: [sleep, infinity]", "command: sleep infinity"},
		{"volume.yaml", "storage: 20Gi", "storage: 20 GB"},
		{"volume.yaml", "accessModes: [ReadWriteOnce]", "accessModes: ReadWriteOnce"},
		{"network.yaml", "ipBlock:", "ipblocks:"},
		{"namespace.yaml", "hard:", "limits:"},
		{"namespace.yaml", "kind: ResourceQuota", "kind: Quota"},
		{"shell.yaml", "replicas: 1", "replicas: 1\n  replicas: 1"},
	} {
		text := read(t, "base", m.file)
		if !strings.Contains(text, m.right) {
			t.Errorf("%s lacks %q", m.file, m.right)
		}
		if err := new(objects).add(strings.Replace(text, m.right, m.wrong, 1)); err == nil {
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
	for name, p := range o.pods() {
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
				return s.PersistentVolumeClaim != nil && s.PersistentVolumeClaim.ClaimName == o.claim.Name
			}) == "/data",
			"is one machine on any node": mounted(p, func(s core.VolumeSource) bool { return s.DownwardAPI != nil }) == "/etc/machine-id",
		} {
			if !ok {
				t.Errorf("%s: not so: it %s", name, what)
			}
		}
	}
	for what, ok := range map[string]bool{
		"passes overlap":                  o.passes.Spec.ConcurrencyPolicy == batch.AllowConcurrent,
		"a pass is tried by the next one": *o.passes.Spec.JobTemplate.Spec.BackoffLimit == 0 && o.pods()["passes"].RestartPolicy == core.RestartPolicyNever,
		"a turn may take its time":        o.passes.Spec.JobTemplate.Spec.ActiveDeadlineSeconds == nil,
		"the volume is of one node":       slices.Equal(o.claim.Spec.AccessModes, []core.PersistentVolumeAccessMode{core.ReadWriteOnce}),
		"one shell at a time":             *o.shell.Spec.Replicas == 1 && o.shell.Spec.Strategy.Type == apps.RecreateDeploymentStrategyType,
		"nothing comes in":                slices.Contains(o.network.Spec.PolicyTypes, networking.PolicyTypeIngress) && len(o.network.Spec.Ingress) == 0,
		"what goes out is limited":        slices.Contains(o.network.Spec.PolicyTypes, networking.PolicyTypeEgress),
	} {
		if !ok {
			t.Errorf("not so: %s", what)
		}
	}
	one, other := o.pods()["passes"], o.pods()["shell"]
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

// What the manifests name exists: in the program, in the image, in the other files and on the page.
func TestNamesExist(t *testing.T) {
	o, k := manifests(t), settings(t, "machine")
	dockerfile, page := read(t, "..", "..", "Dockerfile"), read(t, "..", "..", "docs", "operating.md")
	_, page, _ = strings.Cut(page, "\n## Kubernetes\n")
	page, _, _ = strings.Cut(page, "\n## ")

	p := o.pods()["passes"]
	c := p.Containers[0]
	tick, flags, err := cmd.Tree().Find(c.Args)
	if err != nil || tick.Name() != "tick" || tick.ParseFlags(flags) != nil {
		t.Errorf("there is no command %q: %v", c.Args, err)
	}
	if find(t, dockerfile, `ENTRYPOINT \["(.*)"\]`) != "gh-mergexo" || len(c.Command) > 0 {
		t.Error("a pass does not start gh-mergexo")
	}
	at := mounted(p, func(s core.VolumeSource) bool {
		return s.ConfigMap != nil && s.ConfigMap.Name == k.ConfigMapGenerator[0].Name
	})
	if at != find(t, dockerfile, `MERGEXO_CONFIG=(\S+)`) || filepath.Base(at) != k.ConfigMapGenerator[0].Files[0] {
		t.Errorf("the config is at %q", at)
	}
	cfg, err := config.Parse(at, []byte(read(t, "machine", k.ConfigMapGenerator[0].Files[0])), environ.Of([]string{"HOME=/home/mergexo"}), "github.com")
	if err != nil {
		t.Fatal(err)
	}
	disk := "/data/"
	if cfg.Runtime.Sandbox != "required" || !strings.HasPrefix(cfg.Runtime.StateDir, disk) {
		t.Errorf("the state is in %s, and the sandbox is %s", cfg.Runtime.StateDir, cfg.Runtime.Sandbox)
	}
	keys := map[string]bool{}
	for line := range strings.Lines(read(t, "machine", "keys.env.example")) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || value != "" {
			t.Errorf("keys.env.example: %q", line)
		}
		keys[name] = true
	}
	if !keys["GH_TOKEN"] {
		t.Error("keys.env.example has no token")
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
	if k.Namespace != o.space.Name || settings(t, "base").Namespace != o.space.Name {
		t.Errorf("the namespace %s is not that of the kustomizations", o.space.Name)
	}
	for _, want := range []string{
		"docker build -t " + k.Images[0].NewName + ":" + k.Images[0].NewTag,
		"create secret generic " + c.EnvFrom[0].SecretRef.Name + " --from-env-file=machine/keys.env",
		"deploy/" + o.shell.Name, "cronjob/" + o.passes.Name, "namespace=" + o.space.Name, "apply -k machine",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// Kustomize makes the same objects of the folder that people apply, in their namespace.
func TestKustomizeMakesThem(t *testing.T) {
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("kubectl is not installed")
	}
	built, err := exec.CommandContext(t.Context(), kubectl, "kustomize", "machine").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, built)
	}
	var o objects
	if err := o.add(string(built)); err != nil {
		t.Fatal(err)
	}
	k := settings(t, "machine")
	for name, p := range o.pods() {
		if want := k.Images[0].NewName + ":" + k.Images[0].NewTag; p.Containers[0].Image != want {
			t.Errorf("%s has the image %s, want %s", name, p.Containers[0].Image, want)
		}
		if mounted(p, func(s core.VolumeSource) bool { return s.ConfigMap != nil && s.ConfigMap.Name == o.config.Name }) == "" {
			t.Errorf("%s lacks the config %s", name, o.config.Name)
		}
	}
	labels := o.passes.Spec.JobTemplate.Spec.Template.Labels
	near := o.pods()["shell"].Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchLabels
	for label, value := range near {
		if labels[label] != value || o.shell.Spec.Template.Labels[label] != value {
			t.Errorf("a pod without %s=%s is not near the others", label, value)
		}
	}
	for _, in := range []string{o.passes.Namespace, o.shell.Namespace, o.claim.Namespace, o.config.Namespace, o.quota.Namespace, o.network.Namespace} {
		if in != o.space.Name {
			t.Errorf("an object is in the namespace %q", in)
		}
	}
}
