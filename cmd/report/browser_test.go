//go:build unix

package report

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// chromium is a headless browser, controlled through a pipe by its debugging protocol.
type chromium struct {
	t       *testing.T
	to      io.Writer
	from    chan message
	n       int
	session string
	seen    []message // events, without answers
}

type message struct {
	ID     int             `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`

	Session string `json:"sessionId,omitempty"`
}

// browserProgram finds a browser, or skips the test.
func browserProgram(t *testing.T) string {
	t.Helper()
	testhome.OnlyLong(t)
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("there is no Chromium on this machine: nothing shows the page (apt-get install chromium)")
	return ""
}

func startChromium(t *testing.T) *chromium {
	program := browserProgram(t)
	ours, theirs, err := os.Pipe() // commands
	if err != nil {
		t.Fatal(err)
	}
	answers, told, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--hide-scrollbars", "--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{ours, told}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = errors.Join(ours.Close(), told.Close())
	c := &chromium{t: t, to: theirs, from: make(chan message, 10_000)}
	go c.listen(answers)
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		// Its other processes write into its folder until they have ended.
		for end := time.Now().Add(10 * time.Second); syscall.Kill(-cmd.Process.Pid, 0) == nil && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	})
	var target struct{ TargetID string }
	c.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	c.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	c.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		c.call(domain+".enable", nil, nil)
	}
	return c
}

func (c *chromium) listen(r io.Reader) {
	defer close(c.from)
	in := bufio.NewReader(r)
	for {
		b, err := in.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(b[:len(b)-1], &m) == nil {
			c.from <- m
		}
	}
}

// next returns the next message.
func (c *chromium) next() message {
	c.t.Helper()
	select {
	case m, ok := <-c.from:
		if !ok {
			c.t.Fatal("the browser is gone")
		}
		return m
	case <-time.After(testhome.Patience()): // only a broken browser takes that long
		c.t.Fatal("the browser does not answer")
	}
	return message{}
}

func (c *chromium) call(method string, params map[string]any, result any) {
	c.t.Helper()
	c.n++
	if params == nil {
		params = map[string]any{}
	}
	b, err := json.Marshal(map[string]any{"id": c.n, "method": method, "params": params, "sessionId": c.session})
	if c.session == "" {
		b, err = json.Marshal(map[string]any{"id": c.n, "method": method, "params": params})
	}
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.to.Write(append(b, 0)); err != nil {
		c.t.Fatal(err)
	}
	for {
		m := c.next()
		if m.ID != c.n {
			c.seen = append(c.seen, m)
			continue
		}
		if len(m.Error) > 0 {
			c.t.Fatalf("%s: %s", method, m.Error)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				c.t.Fatalf("%s: %v in %s", method, err, m.Result)
			}
		}
		return
	}
}

// open shows a page in a window, in light or dark, and waits until it is loaded.
func (c *chromium) open(address string, width int, scheme, media string) {
	c.t.Helper()
	c.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	c.call("Emulation.setEmulatedMedia", map[string]any{"media": media, "features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	c.seen = nil
	c.call("Page.navigate", map[string]any{"url": address}, nil)
	for {
		for _, m := range c.seen {
			if m.Method == "Page.loadEventFired" {
				return
			}
		}
		c.seen = append(c.seen, c.next())
	}
}

func (c *chromium) eval(expression string) string {
	c.t.Helper()
	var got struct{ Result struct{ Value any } }
	c.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &got)
	return fmt.Sprint(got.Result.Value)
}

func (c *chromium) screenshot(path string) {
	c.t.Helper()
	var shot struct{ Data string }
	c.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true}, &shot)
	b, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil || len(b) < 1000 {
		c.t.Fatalf("no picture: %v, %d bytes", err, len(b))
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// complaints lists what a page must not do: console messages, failures, requests.
func (c *chromium) complaints(address string) (all []string) {
	for _, m := range c.seen {
		switch m.Method {
		case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Page.javascriptDialogOpening", "Page.windowOpen":
			all = append(all, m.Method+" "+string(m.Params))
		case "Network.requestWillBeSent":
			var r struct{ Request struct{ URL string } }
			if err := json.Unmarshal(m.Params, &r); err != nil || r.Request.URL != address && r.Request.URL != "data:," {
				all = append(all, "asks for "+r.Request.URL)
			}
		}
	}
	return all
}

// shots is the folder for screenshots.
func shots(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("MERGEXO_SHOTS")
	if dir == "" {
		return t.TempDir()
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A browser shows the page whatever titles contain: nothing runs, nothing is requested, nothing is
// wider than the window. MERGEXO_SHOTS=FOLDER keeps the screenshots.
func TestBrowser(t *testing.T) {
	c, dir := startChromium(t), shots(t)
	for name, titles := range map[string][]string{"plain": friendly, "hostile": hostile} {
		page, err := Make(sample(titles)).HTML()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), name+".html")
		if err := os.WriteFile(file, page, 0o600); err != nil {
			t.Fatal(err)
		}
		address := "file://" + file
		for _, w := range []struct {
			name, scheme, media string
			width               int
		}{{"wide-light", "light", "screen", 1280}, {"wide-dark", "dark", "screen", 1280}, {"phone-light", "light", "screen", 360}, {"phone-dark", "dark", "screen", 360}, {"print", "light", "print", 794}} {
			c.open(address, w.width, w.scheme, w.media)
			fits := fmt.Sprintf(`document.documentElement.scrollWidth <= window.innerWidth && window.innerWidth == %d`, w.width) // a phone would zoom out
			if got := c.eval(fits); got != "true" {
				t.Errorf("%s, %s: the page is %s wide in a window of %s; %s", name, w.name, c.eval(`document.documentElement.scrollWidth`), c.eval(`window.innerWidth`), c.eval(wide))
			}
			if got := c.eval(`[document.scripts.length, document.images.length, document.querySelectorAll('svg').length, document.querySelectorAll('td i').length > 20, document.querySelectorAll('main section').length, document.title].join(' ')`); got != "0 0 0 true 7 gh mergexo report" {
				t.Errorf("%s, %s: %s", name, w.name, got)
			}
			if got := c.eval(unreadable); got != "" {
				t.Errorf("%s, %s: hard to read: %s", name, w.name, got)
			}
			c.screenshot(filepath.Join(dir, name+"-"+w.name+".png"))
			if all := c.complaints(address); len(all) > 0 {
				t.Errorf("%s, %s: %s", name, w.name, strings.Join(all, "\n"))
			}
		}
	}
}

// With MERGEXO_REPORT=FILE, a report of demo --keep, the picture of the README is made again: without what
// is over time, of which a demo of seconds has little to show.
func TestPictureOfTheReadme(t *testing.T) {
	file := os.Getenv("MERGEXO_REPORT")
	if file == "" {
		t.Skip("it writes docs/images/report.png")
	}
	c := startChromium(t)
	c.open("file://"+file, 1000, "light", "screen")
	c.eval(`(() => { for (const h of document.querySelectorAll('h2')) if (h.textContent == 'Over time') h.parentElement.remove(); document.querySelector('footer').remove(); document.body.style.paddingBottom = '1.5rem'; return ''; })()`)
	c.screenshot("../../docs/images/report.png")
}

// wide names the elements that are wider than the window.
const wide = `[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > window.innerWidth + 1).slice(0, 5).map(e => e.tagName + '.' + (e.className.baseVal ?? e.className) + ' ' + Math.round(e.getBoundingClientRect().right)).join('; ')`

// unreadable names texts whose contrast to what is behind them is below what WCAG asks for (4.5).
const unreadable = `(() => {
  const rgb = s => (s.match(/[\d.]+/g) || []).map(Number);
  const lum = c => { const [r, g, b] = c.slice(0, 3).map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length && (c.length < 4 || c[3] > 0)) return c; } return [255, 255, 255]; };
  const bad = new Set();
  for (const e of document.querySelectorAll('body *')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || ['title', 'desc', 'STYLE'].includes(e.tagName) || !e.getClientRects().length) continue;
    const style = getComputedStyle(e), a = lum(rgb(e.tagName === 'text' ? style.fill : style.color)), b = lum(ground(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.add(e.tagName + '.' + (e.className.baseVal ?? e.className) + ' ' + ratio.toFixed(2));
  }
  return [...bad].join('; ');
})()`
