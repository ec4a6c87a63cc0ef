package restore

import "context"

// Occupied reports whether somebody still works in a folder. When nobody can
// tell, nobody does: the processes of the turn before were ended by other ways.
func (p *Restorer) Occupied(ctx context.Context, dir string) bool {
	in, err := p.Orphans.Inside(ctx, dir)
	if err != nil {
		p.Log.WarnContext(ctx, "could not look who works in a checkout", "dir", dir, "error", err)
	}
	return in
}
