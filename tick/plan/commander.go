package plan

// commander carries out the commands that people gave on one work item.
type commander struct{ *itemPlanner }

func (r *itemPlanner) commander() *commander { return &commander{r} }
