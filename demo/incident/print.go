package incident

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// say writes a line to the terminal, if there is one.
func (r *run) say(line string) {
	if r.Terminal == nil {
		return
	}
	r.speaking.Lock()
	defer r.speaking.Unlock()
	fmt.Fprintln(r.Terminal, line)
}

// speak writes a line per second until ctx ends. Lines are never rewritten: scrolled back, they are the incident's history.
func (r *run) speak(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			line := fmt.Sprintf("%4.0fs", now.Sub(r.began).Seconds())
			for _, w := range r.witnesses {
				line += "  |  " + w.line() + r.states(w)
			}
			r.say(line)
		}
	}
}

// line says how one page is doing: of the product pages that came in within the last second, and of those that did not.
func (w *witness) line() string {
	fresh, inFlight := w.news()
	p95 := "-"
	if len(fresh) > 0 {
		p95 = ms(fresh.p95())
	}
	line := fmt.Sprintf("%s p95 %8s  failed %2d  degraded %3.0f %%", w.name, p95,
		fresh.count(failed), 100*float64(fresh.count(degraded))/float64(max(1, len(fresh))))
	if w.name == "protected" {
		return line
	}
	return line + fmt.Sprintf("  waiting %3d", inFlight)
}

// states says how the dependencies are that the story is about, after the protected page's figures.
func (r *run) states(w *witness) (line string) {
	if w != r.witnesses[0] {
		return ""
	}
	for _, p := range r.watched {
		if r.inside[p.Service] == nil {
			continue
		}
		breaker, limit := "?", ""
		if now, ok := r.state(p); ok {
			breaker, limit = strings.ReplaceAll(now.Breaker, "_", "-"), fmt.Sprint(now.Limit)
		}
		if len(r.watched) == 1 {
			return fmt.Sprintf("  breaker %-9s", breaker)
		}
		line += fmt.Sprintf("  %s %-9s %3s", p.Dependency, breaker, limit)
	}
	return line
}

// Print writes the verdicts as a table for a person, and below it what they add up to.
func (r Report) Print(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "\n\tPROMISE\tBOUND\tPROTECTED\tNAIVE")
	for _, v := range r.Verdicts {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", v.Result(), v.Promise, v.Bound, v.Protected, v.Naive)
	}
	tw.Flush()
	fmt.Fprintln(w, "\nA p95 is bounded by max(2x, +25 ms) of its baseline in this run.")
	for _, line := range []string{r.Machine.String(), r.Sentence(), r.Advice()} {
		if line != "" {
			fmt.Fprintln(w, line)
		}
	}
}

// String says what pauses have cost the measurement; nothing when there were none.
func (m Machine) String() string {
	if m.Pauses == 0 {
		return ""
	}
	return fmt.Sprintf("This machine stood still %d times (at most for %.0f ms); that is subtracted from the %d answers of then.", m.Pauses, m.Longest, m.Answers)
}

// Sentence is the whole incident in one.
func (r Report) Sentence() string {
	broken, unjudged := r.Broken(), r.Unjudged()
	all := len(r.Verdicts)
	sentence := fmt.Sprintf("All %d promises kept.", all)
	if len(broken) > 0 {
		sentence = fmt.Sprintf("%d of %d promises broken: %s.", len(broken), all, ids(broken))
	} else if len(unjudged) > 0 {
		sentence = fmt.Sprintf("%d of %d promises kept.", all-len(unjudged), all)
	}
	if len(unjudged) > 0 {
		sentence += fmt.Sprintf(" %d not measured: %s.", len(unjudged), ids(unjudged))
	}
	if r.Stopped {
		sentence += " The incident was stopped early."
	}
	return sentence
}

// Advice says how to judge what could not be, because nobody reads the page's internal listener; empty when somebody did.
func (r Report) Advice() string {
	n := 0
	for _, v := range r.Unjudged() {
		if v.Protected.Measured == notRead {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("NOT JUDGED: %d promises, which only the page's internal listener can tell. "+notReadAdvice, n)
}

const notReadAdvice = "`make incident` plays this inside the shop's network and judges all of them; so does -internal URL from where that answers."

func ids(list []Verdict) string {
	var names []string
	for _, v := range list {
		names = append(names, v.ID)
	}
	return strings.Join(names, ", ")
}
