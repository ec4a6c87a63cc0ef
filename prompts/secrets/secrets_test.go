package secrets

import (
	"regexp/syntax"
	"strings"
	"sync"
	"testing"
)

// made are values in the documented shape of each provider's tokens. They are
// put together here so that no scanner takes this file for a leak.
func made() map[string]string {
	x := func(n int) string { return strings.Repeat("aB3d", n/4+1)[:n] }
	hex := func(n int) string { return strings.Repeat("0a1b", n/4+1)[:n] }
	up := func(n int) string { return strings.Repeat("AB12", n/4+1)[:n] }
	jwt := "ey" + "J" + x(30) + ".ey" + "J" + x(300) + "." + x(40) + "-_" + x(40)
	return map[string]string{
		"gh" + "p_" + x(36): "a GitHub token", "gh" + "o_" + x(36): "a GitHub token", "gh" + "s_" + x(36): "a GitHub token", "github" + "_pat_" + x(22) + "_" + x(59): "a GitHub token",
		"gh" + "s_1234567_" + jwt: "a GitHub token", jwt: "a JSON web token", "sk-" + "proj-" + x(100) + "-" + x(40): "an OpenAI key", "sk-" + x(48): "an OpenAI key", "sk-" + "or-v1-" + hex(64): "an OpenRouter key",
		"A" + "SIA" + up(16): "an AWS access key", "AB" + "SK" + x(128) + "==": "an Amazon Bedrock key", "bedrock-api" + "-key-" + x(80): "an Amazon Bedrock key", "AQ" + ".Ab" + x(50): "a Google API key",
		"xap" + "p-1-A0123-4567-" + hex(64): "a Slack token", "xw" + "fp-" + x(40): "a Slack token", "xo" + "xp-1-2-" + hex(32): "a Slack token", "rk" + "_live_" + x(99): "a Stripe key", "sk" + "_org_" + x(60): "a Stripe key", "wh" + "sec_" + x(32): "a Stripe key",
		"sk-" + "ant-admin01-" + x(80): "an Anthropic key", "sk-" + "ant-oat01-" + x(80): "an Anthropic key",
		"-----BEGIN " + "PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----": "a private key", "-----BEGIN " + "OPENSSH PRIVATE KEY-----\nx\n-----END OPENSSH PRIVATE KEY-----": "a private key",
		"-----BEGIN " + "PGP PRIVATE KEY BLOCK-----\nx\n-----END PGP PRIVATE KEY BLOCK-----": "a private key",
		"AGE-SECRET-" + "KEY-1" + up(58): "an age key",
		"sk-" + "ant-api03-" + x(40):     "an Anthropic key", "sk-" + "admin-" + x(40): "an OpenAI key", "hf" + "_" + x(34): "a Hugging Face token",
		"gsk" + "_" + x(52): "a Groq key", "xai" + "-" + x(80): "an xAI key", "pplx" + "-" + x(48): "a Perplexity key", "r8" + "_" + x(37): "a Replicate token",
		"AK" + "IA" + up(16): "an AWS access key", "AI" + "za" + x(35): "a Google API key", "GOC" + "SPX-" + x(28): "a Google OAuth secret",
		"Account" + "Key=" + x(86) + "==": "an Azure storage key", "dop" + "_v1_" + hex(64): "a DigitalOcean token", "hv" + "s." + x(40): "a Vault token",
		x(14) + ".atlas" + "v1." + x(64): "a Terraform token", "da" + "pi" + hex(32): "a Databricks token", "sb" + "p_" + hex(40): "a Supabase token",
		"dp" + ".pt." + x(43): "a Doppler token", "gl" + "pat-" + x(20): "a GitLab token", "np" + "m_" + x(36): "an npm token", "py" + "pi-AgE" + x(60): "a PyPI token",
		"ruby" + "gems_" + hex(48): "a RubyGems key", "ci" + "o" + x(32): "a crates.io token", "dckr" + "_pat_" + x(27): "a Docker token",
		"xo" + "xb-123456789012-" + x(12): "a Slack token", "hooks.slack" + ".com/services/T0000/B0000/" + x(24): "a Slack webhook", "sk" + "_live_" + x(24): "a Stripe key",
		"S" + "G." + x(22) + "." + x(43): "a SendGrid key", "shp" + "at_" + hex(32): "a Shopify token", "123456789" + ":AA" + x(33): "a Telegram bot token",
		"lin" + "_api_" + x(40): "a Linear key", "gl" + "sa_" + x(32) + "_" + hex(8): "a Grafana token", "NR" + "AK-" + up(27): "a New Relic key",
		"ATA" + "TT3" + x(64): "an Atlassian token", "PM" + "AK-" + hex(24) + "-" + hex(34): "a Postman key", "fig" + "d_" + x(40): "a Figma token",
		"-----BEGIN " + "EC PRIVATE KEY-----\nx\n-----END EC PRIVATE KEY-----": "a private key",
	}
}

func TestEveryShapeIsFoundAndRedacted(t *testing.T) {
	tried := map[string]bool{}
	for token, what := range made() {
		tried[what] = true
		text := "set TOKEN=" + token + " now"
		if found := (*Redactor)(nil).Find(text); found[token] != what {
			t.Errorf("%.14s…: found %q, want %s", token, found, what)
		}
		if got := Redact(text); got != "set TOKEN=[redacted: "+what+"] now" {
			t.Errorf("%.14s…: redacted as %q", token, got)
		}
	}
	for _, s := range patterns {
		if !tried[s.name] {
			t.Errorf("%s is not tried", s.name)
		}
	}
}

// TestNoPatternMatchesLess: what is shorter than every secret is not looked through.
func TestNoPatternMatchesLess(t *testing.T) {
	for _, p := range patterns {
		expr, err := syntax.Parse(p.expr().String(), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if n := least(expr); n < shortest {
			t.Errorf("%s may have %d characters", p.name, n)
		}
	}
}

// least is how many characters an expression matches at least.
func least(e *syntax.Regexp) (n int) {
	switch e.Op {
	case syntax.OpLiteral:
		return len(e.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpRepeat:
		return e.Min * least(e.Sub[0])
	case syntax.OpPlus, syntax.OpCapture:
		return least(e.Sub[0])
	case syntax.OpConcat:
		for _, sub := range e.Sub {
			n += least(sub)
		}
	case syntax.OpAlternate:
		n = least(e.Sub[0])
		for _, sub := range e.Sub[1:] {
			n = min(n, least(sub))
		}
	case syntax.OpNoMatch, syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary,
		syntax.OpNoWordBoundary, syntax.OpStar, syntax.OpQuest:
	}
	return n
}

func TestKnownTokensAreFoundExactly(t *testing.T) {
	var s Redactor
	s.Add("  hunter2-hunter2  ", "a password")
	s.Add("hunter2-hunter2-long", "another")
	s.Add("word", "too short")
	s.Add("hunter2-hunter2", "said twice")
	if got := s.Redact("a hunter2-hunter2-long b hunter2-hunter2 word"); got != "a [redacted: another] b [redacted: a password] word" {
		t.Errorf("got %q", got)
	}
	if found := s.Find("word hunter2-hunter2"); len(found) != 1 || found["hunter2-hunter2"] != "a password" {
		t.Errorf("found %v", found)
	}
	v := s.Check("answer", map[string]any{"a": []any{"x", map[string]any{"b": "hunter2-hunter2"}}, "c": 7.0})
	if len(v) != 1 || v[0] != "answer.a[1].b holds what looks like a password; secrets are never published" {
		t.Errorf("got %q", v)
	}
	if v := s.Check("answer", map[string]any{"a": "hunter2"}); len(v) > 0 {
		t.Errorf("got %q", v)
	}
}

func TestSecretsMayBeUsedByMany(t *testing.T) {
	var s Redactor
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			s.Add(strings.Repeat(string(rune('a'+i)), 20), "x")
			_ = s.Redact("aaaaaaaaaaaaaaaaaaaaaaa")
			_ = s.Find("b")
		})
	}
	wg.Wait()
}

func TestKnownCredentialsAreRedacted(t *testing.T) {
	key := "-----BEGIN " + "OPENSSH PRIVATE KEY-----\nabc\ndef\n-----END OPENSSH PRIVATE KEY-----"
	for _, secret := range []string{
		"gh" + "p_" + strings.Repeat("a", 36),
		"github" + "_pat_" + strings.Repeat("a", 82), "sk-ant-api03-" + strings.Repeat("x", 40), "sk-proj-" + strings.Repeat("x", 40),
		"AKIA" + strings.Repeat("A", 16), "xox" + "b-1234567890-abc", "AIza" + strings.Repeat("x", 35), "glpat-" + strings.Repeat("x", 20), key,
		strings.TrimSuffix(key, "-----END OPENSSH PRIVATE KEY-----"),
	} {
		if len((*Redactor)(nil).Find("x "+secret)) == 0 {
			t.Errorf("not found: %.12s…", secret)
		}
		if got := Redact("before " + secret); strings.Contains(got, secret) || !strings.HasPrefix(got, "before [redacted: ") {
			t.Errorf("not redacted: %q", got)
		}
	}
	for _, harmless := range []string{"", "ghp_short", "task-abc", "risk-" + strings.Repeat("x", 40), "sk-ip", "sk-a-long-name-of-a-class-in-a-style-sheet", "ey" + "J.eyJ.x", "the AKIA prefix", "0123456789abcdef0123456789abcdef01234567", "-----BEGIN CERTIFICATE-----"} {
		if found := (*Redactor)(nil).Find(harmless); len(found) > 0 {
			t.Errorf("%q taken for %v", harmless, found)
		}
	}
}

// Of an address only the secret parts are known: its host and its plain words may appear anywhere.
func TestAddresses(t *testing.T) {
	for address, c := range map[string]struct{ secret, plain []string }{
		"https://chat.example/services/T024/B0A1/x7Kq9Zp2Lm4Rt6Vw8Yb1Nc3D":            {[]string{"x7Kq9Zp2Lm4Rt6Vw8Yb1Nc3D"}, []string{"https://chat.example/services", "services"}},
		"https://hooks.example/api/webhooks/112233445566778899/aB3d-aB3d_aB3daB3d/go": {[]string{"aB3d-aB3d_aB3daB3d"}, []string{"hooks.example", "webhooks"}},
		"https://ops:correct7horse7battery@otel.example:4318/v1/traces":               {[]string{"correct7horse7battery"}, []string{"https://ops", "otel.example:4318/v1/traces"}},
		"https://x4711token4711@otel.example/":                                        {[]string{"x4711token4711"}, []string{"otel.example"}},
		"https://in.example/log?token=a1b2c3d4e5f6a7b8&level=information":             {[]string{"a1b2c3d4e5f6a7b8"}, []string{"level=information", "in.example/log"}},
		"https://in.example/log?token=a1%2Fb2c3d4e5f6a7":                              {[]string{"a1%2Fb2c3d4e5f6a7", "a1/b2c3d4e5f6a7"}, []string{"in.example"}},
		"http://localhost:4318/v1/traces":                                             {nil, []string{"http://localhost:4318/v1/traces"}},
		"no address 0123456789012345":                                                 {nil, []string{"0123456789012345"}},
	} {
		var r Redactor
		r.AddAddress(address, "a webhook")
		got := r.Redact("posting to " + address + " failed; " + strings.Join(append(c.secret, c.plain...), " "))
		for _, s := range c.secret {
			if strings.Contains(got, s) {
				t.Errorf("%s: %q is left in %s", address, s, got)
			}
		}
		for _, s := range c.plain {
			if !strings.Contains(got, s) {
				t.Errorf("%s: %q is gone from %s", address, s, got)
			}
		}
	}
}
