package incident

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// What else can break recommendations is the caller's, and so is the way back: taken once, whatever happens.
func TestLosingIsUndoneOnce(t *testing.T) {
	for name, c := range map[string]struct {
		stop    time.Duration
		loseErr error
		restore error
		want    string // in the error
	}{
		"to the end":           {time.Hour, nil, nil, ""},
		"stopped in the fault": {13 * time.Second, nil, nil, ""},
		"half-way":             {time.Hour, errors.New("no engine"), nil, "no engine"},
		"cannot be restored":   {time.Hour, nil, errors.New("no way back"), "no way back"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				ctx, cancel := context.WithTimeout(t.Context(), c.stop)
				defer cancel()
				lost, restored := 0, 0
				in := Losing(Times{10 * time.Second, 30 * time.Second, 45 * time.Second}, "gone",
					func(context.Context) error { lost++; w.lose(true); return c.loseErr },
					func(ctx context.Context) error { restored++; w.lose(false); return errors.Join(c.restore, ctx.Err()) })
				rep, err := Run(ctx, in, w.config())
				if lost != 1 || restored != 1 || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("lost %d times, restored %d times: %v, want %q", lost, restored, err, c.want)
				}
				if name == "to the end" && (len(rep.Broken())+len(rep.Unjudged()) > 0 || len(rep.Verdicts) != 17) {
					t.Error(rep.Sentence())
				}
			})
		})
	}
}
