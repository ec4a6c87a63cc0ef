package secrets

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// pattern is a credential with a prefix that its provider documents. Guessing by entropy would
// reject hashes and fixtures.
type pattern struct {
	name  string
	seen  string   // month in which the row was last compared with what is known of its provider; empty: not since it was written
	signs []string // every text with such a credential contains one of them
	expr  func() *regexp.Regexp
}

func (p pattern) possible(s string) bool {
	return slices.ContainsFunc(p.signs, func(sign string) bool { return strings.Contains(s, sign) })
}

// patterns are private keys and tokens with a documented prefix of their own. If two patterns
// match, the first one gives the name. Providers change their forms: GitHub and Google did in 2026.
var patterns = []pattern{
	{"a GitHub token", "2026-11", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}, lazy.Regexp(`\b(?:gh[pour]_[A-Za-z0-9]{30,255}|ghs_[A-Za-z0-9._-]{30,}[A-Za-z0-9_-]|github_pat_[A-Za-z0-9_]{40,255})`)},
	{"a private key", "2026-11", []string{"-----BEGIN "}, lazy.Regexp(`-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\z)`)},
	{"an age key", "", []string{"AGE-SECRET-KEY-1"}, lazy.Regexp(`\bAGE-SECRET-KEY-1[A-Z0-9]{58}`)},
	{"a JSON web token", "2026-11", []string{".eyJ"}, lazy.Regexp(`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}`)},

	// Models.
	{"an Anthropic key", "2026-11", []string{"sk-ant-"}, lazy.Regexp(`\bsk-ant-[A-Za-z0-9_-]{20,}`)},
	{"an OpenAI key", "2026-11", []string{"sk-"}, lazy.Regexp(`\bsk-(?:(?:proj|svcacct|admin|service|None)-[A-Za-z0-9_-]{32,}|[A-Za-z0-9]{32,})`)},
	{"an OpenRouter key", "2026-11", []string{"sk-or-"}, lazy.Regexp(`\bsk-or-(?:v[0-9]+-)?[A-Za-z0-9]{32,}`)},
	{"a Hugging Face token", "", []string{"hf_"}, lazy.Regexp(`\bhf_[A-Za-z0-9]{34,}\b`)},
	{"a Groq key", "", []string{"gsk_"}, lazy.Regexp(`\bgsk_[A-Za-z0-9]{48,}\b`)},
	{"an xAI key", "", []string{"xai-"}, lazy.Regexp(`\bxai-[A-Za-z0-9]{64,}\b`)},
	{"a Perplexity key", "", []string{"pplx-"}, lazy.Regexp(`\bpplx-[A-Za-z0-9]{48,}\b`)},
	{"a Replicate token", "", []string{"r8_"}, lazy.Regexp(`\br8_[A-Za-z0-9]{37}\b`)},

	// Clouds and hosting.
	{"an AWS access key", "2026-11", []string{"AKIA", "ASIA", "ABIA", "ACCA"}, lazy.Regexp(`\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b`)},
	{"an Amazon Bedrock key", "2026-11", []string{"ABSK", "bedrock-api-key-"}, lazy.Regexp(`\b(?:ABSK[A-Za-z0-9+/]{100,}|bedrock-api-key-[A-Za-z0-9+/]{40,})={0,2}`)},
	{"a Google API key", "2026-11", []string{"AIza", "AQ.Ab"}, lazy.Regexp(`\b(?:AIza[0-9A-Za-z_-]{35}|AQ\.Ab[0-9A-Za-z_-]{30,})`)},
	{"a Google OAuth secret", "", []string{"GOCSPX-", "ya29."}, lazy.Regexp(`\b(?:GOCSPX-[A-Za-z0-9_-]{28}|ya29\.[A-Za-z0-9_-]{40,})`)},
	{"an Azure storage key", "", []string{"AccountKey="}, lazy.Regexp(`AccountKey=[A-Za-z0-9+/]{86}==`)},
	{"a DigitalOcean token", "", []string{"_v1_"}, lazy.Regexp(`\bdo[opr]_v1_[a-f0-9]{64}\b`)},
	{"a Vault token", "", []string{"hvs.", "hvb."}, lazy.Regexp(`\bhv[sb]\.[A-Za-z0-9_-]{24,}`)},
	{"a Terraform token", "", []string{".atlasv1."}, lazy.Regexp(`\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}`)},
	{"a Databricks token", "", []string{"dapi"}, lazy.Regexp(`\bdapi[a-f0-9]{32}\b`)},
	{"a Supabase token", "", []string{"sbp_"}, lazy.Regexp(`\bsbp_[a-f0-9]{40}\b`)},
	{"a Doppler token", "", []string{"dp."}, lazy.Regexp(`\bdp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{40,}`)},

	// Code and packages.
	{"a GitLab token", "", []string{"glpat-", "glptt-", "gldt-", "glrt-", "glsoat-", "glft-"}, lazy.Regexp(`\bgl(?:pat|ptt|dt|rt|soat|ft)-[0-9A-Za-z_-]{20,}`)},
	{"an npm token", "2026-11", []string{"npm_"}, lazy.Regexp(`\bnpm_[A-Za-z0-9]{36}\b`)},
	{"a PyPI token", "", []string{"pypi-AgE"}, lazy.Regexp(`\bpypi-AgE[A-Za-z0-9_-]{50,}`)},
	{"a RubyGems key", "", []string{"rubygems_"}, lazy.Regexp(`\brubygems_[a-f0-9]{48}\b`)},
	{"a crates.io token", "", []string{"cio"}, lazy.Regexp(`\bcio[A-Za-z0-9]{32}\b`)},
	{"a Docker token", "", []string{"dckr_"}, lazy.Regexp(`\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{24,}`)},

	// Services.
	{"a Slack token", "2026-11", []string{"xox", "xapp-", "xwfp-"}, lazy.Regexp(`\b(?:(?:xox[abcdeoprs]|xwfp)-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Z0-9]+-[0-9]+-[a-f0-9]{20,})`)},
	{"a Slack webhook", "", []string{"hooks.slack.com/"}, lazy.Regexp(`hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9]+/[A-Za-z0-9]+/[A-Za-z0-9]{16,}`)},
	{"a Stripe key", "2026-11", []string{"k_live_", "sk_org_", "whsec_"}, lazy.Regexp(`\b(?:(?:[sr]k_live|sk_org(?:_live)?)_[A-Za-z0-9]{20,}|whsec_[A-Za-z0-9+/]{32,})`)},
	{"a SendGrid key", "", []string{"SG."}, lazy.Regexp(`\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}`)},
	{"a Shopify token", "", []string{"shp"}, lazy.Regexp(`\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b`)},
	{"a Telegram bot token", "", []string{":AA"}, lazy.Regexp(`\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b`)},
	{"a Linear key", "", []string{"lin_api_"}, lazy.Regexp(`\blin_api_[A-Za-z0-9]{40}\b`)},
	{"a Grafana token", "", []string{"glsa_", "glc_"}, lazy.Regexp(`\b(?:glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}|glc_[A-Za-z0-9+/]{40,})`)},
	{"a New Relic key", "", []string{"NRAK-"}, lazy.Regexp(`\bNRAK-[A-Z0-9]{27}\b`)},
	{"an Atlassian token", "", []string{"ATATT3", "ATCTT3"}, lazy.Regexp(`\bAT[AC]TT3[A-Za-z0-9_=-]{60,}`)},
	{"a Postman key", "", []string{"PMAK-"}, lazy.Regexp(`\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}\b`)},
	{"a Figma token", "", []string{"figd_"}, lazy.Regexp(`\bfigd_[A-Za-z0-9_-]{40}`)},
}
