package agent

// ClaudePrice is claudePrice, for tests that run the real claude.
var ClaudePrice = claudePrice
