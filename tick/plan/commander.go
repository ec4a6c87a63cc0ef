package plan

// commander executes the commands on one work item.
type commander struct{ *itemPlanner }

func (r *itemPlanner) commander() *commander { return &commander{r} }
