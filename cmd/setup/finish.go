package setup

import (
	"context"

	"github.com/mergexo/gh-mergexo/cmd/doctor"
	schedulecmd "github.com/mergexo/gh-mergexo/cmd/schedule"
	"github.com/mergexo/gh-mergexo/internal/config"
)

// repeat installs the schedule if that is wanted.
func (r *room) repeat(ctx context.Context, cfg *config.Config) error {
	if r.none {
		return nil
	}
	if schedulecmd.InDemo(r.App) {
		r.say("Nothing is scheduled for the demo: its GitHub ends with it.")
		return nil
	}
	wanted := r.schedule || r.every != 0
	if !wanted {
		st, err := schedulecmd.Look(ctx, r.App, cfg)
		if err != nil {
			return err
		}
		if st.Repeated() {
			r.say("%s already.", st.Says())
			return nil
		}
		if err := schedulecmd.Possible(ctx, r.App); err != nil {
			r.say("Passes are not scheduled: %s.", err)
			return ctx.Err()
		}
		if r.ask == nil {
			for _, t := range st.Warnings() {
				r.say("%s; %s", t.Says, t.Do)
			}
			return nil
		}
		if wanted, err = r.ask.Confirm("Run a pass on this machine every minute from now on?", true); err != nil {
			return err
		}
	}
	if !wanted {
		r.say("To schedule passes later: gh mergexo schedule install")
		return nil
	}
	return schedulecmd.Install(ctx, r.App, schedulecmd.Options{Every: r.every})
}

// finish checks everything that a pass needs, and shows what a pass would do.
func (r *room) finish(ctx context.Context, cfg *config.Config, p *place) error {
	all := doctor.Look(ctx, r.App)
	if err := ctx.Err(); err != nil {
		return err
	}
	failures := doctor.Only(all, doctor.Failure)
	r.say("\n%s", r.out.Bold("gh mergexo doctor"))
	if err := doctor.Print(r.out, doctor.Only(all, doctor.Warning, doctor.Failure), r.Environ().Home); err != nil {
		return err
	}
	r.say("%d of its %d checks are ok.", len(doctor.Only(all, doctor.OK)), len(all))
	if len(failures) > 0 {
		return errMendFirst
	}
	r.say("\n%s", r.out.Bold("gh mergexo tick --dry-run"))
	if err := r.dryRun(ctx); err != nil {
		return err
	}
	repo, _ := cfg.Repo(p.name)
	r.say("\nTo start work, set a label: gh issue edit NUMBER --repo %s --add-label %s", called(p.name), repo.Labels.Bugfix)
	if st, err := schedulecmd.Look(ctx, r.App, cfg); err == nil && !st.Repeated() {
		r.say("Then run a pass: gh mergexo tick")
	}
	r.say("To see the progress: gh mergexo status")
	return nil
}
