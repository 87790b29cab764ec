package planflip

import (
	"context"
	"time"

	"watertight.example/demo/internal/hold"
)

const (
	lookTime = 5 * time.Second // for a look at demo.plan_flips
	mendTime = time.Minute     // for ANALYZE, which takes 0.1 s of a processor that sick queries are fighting for
)

// Hold keeps a flip until its time is over or ctx ends, and then mends it, also when ctx has ended: Ctrl-C always mends. It
// returns early when somebody else has ended it, or given it another end; early tells that.
func Hold(ctx context.Context, db DB, flip Status) (early bool, err error) {
	return hold.Broken{
		Until:   flip.Until,
		InForce: func(ctx context.Context) bool { return inForce(ctx, db, flip) },
		End:     func(ctx context.Context) error { _, err := mend(ctx, db, `until = $1`, flip.Until); return err },
		EndTime: mendTime,
	}.Hold(ctx)
}

// inForce is true when in doubt: a database that does not answer says nothing about its flips.
func inForce(ctx context.Context, db DB, flip Status) bool {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	var same bool
	err := db.QueryRow(ctx, `SELECT EXISTS (SELECT FROM demo.plan_flips WHERE until = $1)`, flip.Until).Scan(&same)
	return err != nil || same
}

// Janitor sweeps every second until ctx ends. ended hears of each flip that it ended; failed hears when the database cannot be
// swept, once until it works again.
func Janitor(ctx context.Context, db DB, ended func(), failed func(error)) {
	hold.Janitor(ctx, func(ctx context.Context) error {
		swept, err := Sweep(ctx, db)
		if swept {
			ended()
		}
		return err
	}, failed)
}
