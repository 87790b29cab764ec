package incident

import (
	"fmt"
	"time"

	"watertight.example/demo/load"
)

// The snapshot of counts, as inventory writes it and productpage shows it.
const (
	countAge   = 2 * time.Minute  // no count is shown that is older
	countEvery = 33 * time.Second // so old may a count have been when the stores became sick: a pass every 30 s, give or take a tenth
	edgeOfAge  = 2 * time.Second  // until the fault was in force, and the page was made
	noCount    = 0.03             // of the pages may be without: reading the snapshot has a budget of 50 ms, and this machine may be busy
)

func bannerBound() string {
	return fmt.Sprintf("all say so, ≤ %.0f %% without a count; none older than %.0f minutes", 100*noCount, countAge.Minutes())
}

// banner holds the pages of act two against the age of the counts that they can have. While all counts are young enough, pages show
// them under the banner. Once none can be, unless somebody still counts (the naive twin does, for as long as that takes), having no
// count is right and an old one is not; in between it depends on the count. What a pause of the machine disturbed may have lost its.
func (s *seen) banner(at time.Time, opened bool, sick phase) Finding {
	pages := s.of(load.Product).sent(at, sick.To).answered(sick.To)
	marked := pages.count(lacks("stock"))
	young := pages.sent(sick.From, sick.From.Add(countAge-countEvery-edgeOfAge))
	old := pages.sent(sick.From.Add(countAge+edgeOfAge), sick.To)
	without := young.count(func(one load.Sample) bool { return !one.Banner && !s.disturbed(one) })
	stale := append(young, old...).count(func(one load.Sample) bool { return one.Stale })

	measured := fmt.Sprintf("%d of %d, %d of %d without a count", marked, len(pages), without, len(young))
	if len(old) > 0 {
		measured += fmt.Sprintf("; later %d of %d", old.count(func(one load.Sample) bool { return !one.Banner }), len(old))
	}
	if stale > 0 {
		measured += fmt.Sprintf("; %d counts too old", stale)
	}
	ok := opened && marked == len(pages) && float64(without) <= noCount*float64(len(young)) && stale == 0
	return within(pages, ok, "%s", measured)
}
