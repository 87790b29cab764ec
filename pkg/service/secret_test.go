package service

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestSecretNeverShows(t *testing.T) {
	for in, want := range map[Secret]string{
		"":                                      "",
		"hunter2":                               "xxxxx",
		"postgres://u:hunter2@db:5432/shop":     "postgres://u:xxxxx@db:5432/shop",
		"postgres://u@db/shop?password=hunter2": "postgres://u@db/shop?password=xxxxx",
		"host=db password=hunter2":              "xxxxx",
		"postgres://u:hunter2%zz@db/shop":       "xxxxx", // not a URL: its password could be anywhere
		"redis://cache:6379/0":                  "redis://cache:6379/0",
	} {
		if got := in.String(); got != want {
			t.Errorf("%q shows as %q, want %q", in.Reveal(), got, want)
		}
		var log testLog
		newLogger(&log, "test", slog.LevelInfo).Info("x", "secret", in)
		text, _ := json.Marshal(map[string]any{"a": in, "b": []Secret{in}})
		all := fmt.Sprintf("%v %s %q %+v %#v %x %s %s", in, in, in, struct{ S Secret }{in}, in, in, &log, text)
		if strings.Contains(all, "hunter2") || strings.Contains(all, "68756e74657232") {
			t.Errorf("%q leaks: %s", in.Reveal(), all)
		}
	}
}
