package demo

// witness looks whether what the demo tells has happened.
type witness struct{ *demo }

func (d *demo) sees() witness { return witness{d} }
