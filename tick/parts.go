package tick

import (
	"github.com/mergexo/gh-mergexo/tick/ingest"
	"github.com/mergexo/gh-mergexo/tick/merge"
	"github.com/mergexo/gh-mergexo/tick/notice"
	"github.com/mergexo/gh-mergexo/tick/snapshot"
	"github.com/mergexo/gh-mergexo/tick/turn"
)

// assemble makes the parts of a pass.
func (p *Pass) assemble() {
	if p.turns != nil {
		return
	}
	e := p.Env
	p.loader, p.notices = snapshot.New(e), notice.New(e)
	p.ingest = ingest.New(e, p.notices)
	p.turns = turn.New(e, p.ingest.Reader(), p.notices)
	p.merging = merge.New(e, p.loader, p.notices.SendNotices)
}
