package service

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"
)

const usage = `%[1]s: %[2]s

Usage:
  %[1]s              serve until SIGTERM
  %[1]s healthcheck  ask the running service whether it is ready; exit code 0 or 1
  %[1]s -h           this help

Environment:
`

// writeHelp lists every knob with its default, unit and sentence.
func writeHelp(w io.Writer, p Program) error {
	cfg := copyOf(p.Config)
	if err := parse(cfg, nil); err != nil {
		return fmt.Errorf("defaults: %w", err)
	}
	fmt.Fprintf(w, usage, p.Name, p.Summary)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  NAME\tDEFAULT\tUNIT\tMEANING")
	for _, k := range knobsOf(cfg) {
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", k.key, cmp.Or(k.String(), "-"), k.unit, k.help)
	}
	return table.Flush()
}
