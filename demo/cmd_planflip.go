package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"watertight.example/demo/faults"
	"watertight.example/demo/planflip"
)

const planFlipSentence = "for recommendations, statistics gathered at the wrong moment: its query takes seconds; ANALYZE mends it"

// databaseFlag adds -recommendations, where plans are flipped. The default is not shown: it would print a password.
func databaseFlag(env environment, fs *flag.FlagSet) (url func() string) {
	given := fs.String("recommendations", "", "`URL` of the database of recommendations, as the role demo; default from DEMO_RECOMMENDATIONS_URL")
	return func() string { return cmp.Or(*given, env.getenv("DEMO_RECOMMENDATIONS_URL")) }
}

const planFlipIntro = `
demo fault plan-flip makes the query of recommendations a thousand times slower by nothing but its statistics, and mends it
with ANALYZE when the time is over, or at Ctrl-C. demo fault analyze is the ANALYZE alone. Both show the plan for a product
before and after. If the command itself is killed, the janitor mends when the time is over.

  deploy/compose.sh run --rm janitor fault plan-flip -for 60s
  deploy/compose.sh run --rm janitor fault analyze`

// errNoDatabase is the answer to whoever wants a plan flipped without saying where.
var errNoDatabase = errors.New("say where the database of recommendations is, with -recommendations or DEMO_RECOMMENDATIONS_URL; " +
	"the janitor of the compose file knows: deploy/compose.sh run --rm janitor fault plan-flip")

func runPlanFlip(ctx context.Context, env environment, verb string, args []string) error {
	fs := flag.NewFlagSet("fault "+verb, flag.ContinueOnError)
	database := databaseFlag(env, fs)
	length := fs.Duration("for", time.Minute, "when plan-flip ends by itself, 1s to 1h")
	detach := fs.Bool("detach", false, "plan-flip returns at once and leaves the end to the janitor")
	product := fs.Int("product", planflip.Hottest, "whose plan is shown, 1 to 2000")
	if err := parse(env, fs, planFlipIntro, args); err != nil {
		return help(err)
	}
	if database() == "" {
		return errNoDatabase
	}
	db, err := planflip.Open(database())
	if err != nil {
		return err
	}
	defer db.Close()
	if verb == "analyze" {
		return analyze(ctx, env.stdout, db, *product)
	}
	if err := showPlan(ctx, env.stdout, "before", db, *product); err != nil {
		return err
	}
	flip, err := planflip.Flip(ctx, db, *length)
	if err != nil {
		return err
	}
	return holdFlip(ctx, env.stdout, db, flip, *product, *detach)
}

// analyze is in a hurry to mend: the plan before is shown without running it.
func analyze(ctx context.Context, w io.Writer, db *pgxpool.Pool, product int) error {
	before, err := planflip.Explain(ctx, db, product)
	if err != nil {
		return err
	}
	if err := planflip.Analyze(ctx, db); err != nil {
		return err
	}
	printPlan(w, "before", before, "not run")
	fmt.Fprint(w, "ANALYZE order_items\n\n")
	return showPlan(ctx, w, "after", db, product)
}

func holdFlip(ctx context.Context, w io.Writer, db *pgxpool.Pool, flip planflip.Status, product int, detach bool) error {
	fmt.Fprintf(w, "plan-flip until %s", flip.Until.Local().Format(time.TimeOnly))
	if detach {
		fmt.Fprint(w, "; the janitor ends it then, demo mend or demo fault analyze earlier\n\n")
	} else {
		fmt.Fprint(w, "; Ctrl-C mends\n\n")
	}
	if err := showPlan(ctx, w, "after", db, product); err != nil && ctx.Err() == nil {
		fmt.Fprintln(w, err) // it is flipped nevertheless, and held
	}
	if detach {
		return nil
	}
	early, err := planflip.Hold(ctx, db, flip)
	switch {
	case err != nil:
		return fmt.Errorf("could not mend (the janitor will, when the time is over): %w", err)
	case early:
		fmt.Fprintln(w, "ended by somebody else")
	default:
		fmt.Fprintln(w, "mended: ANALYZE order_items")
	}
	return nil
}

// patience is for one run of a query that has become slow: the hottest product's takes longer on half a processor.
const patience = 15 * time.Second

// showPlan prints how Postgres runs the query, and runs it for that.
func showPlan(ctx context.Context, w io.Writer, when string, db *pgxpool.Pool, product int) error {
	plan, err := planflip.Explain(ctx, db, product)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ran, err := planflip.ExplainAnalyze(limited, db, product)
	switch {
	case err == nil:
		printPlan(w, when, ran, "takes "+ran.Took.Round(10*time.Microsecond).String())
	case ctx.Err() == nil && limited.Err() != nil:
		printPlan(w, when, plan, fmt.Sprintf("did not end within %s", patience))
	default:
		return err
	}
	return nil
}

func printPlan(w io.Writer, when string, plan planflip.Plan, took string) {
	how := "orders are looked up by their key"
	if plan.Flipped {
		how = "row by row, each of the product's with each of the day's"
	}
	fmt.Fprintf(w, "%s, product %d: %s, %s\n  %s\n\n", when, plan.Product, took, how, strings.ReplaceAll(plan.Text, "\n", "\n  "))
}

// mendFlip ends a flip, whoever made it, and says so; without a database there is none to end.
func mendFlip(ctx context.Context, w io.Writer, database string) (mended bool, err error) {
	if database == "" {
		return false, nil
	}
	db, err := planflip.Open(database)
	if err != nil {
		return false, err
	}
	defer db.Close()
	status, err := planflip.State(ctx, db)
	if err != nil || !status.Broken() {
		return false, err
	}
	if err := planflip.Analyze(ctx, db); err != nil {
		return false, err
	}
	fmt.Fprintln(w, "mended recommendations: plan-flip, by ANALYZE order_items")
	return true, nil
}

// activeFlip is the flip in force as a line of the list of faults, none without one.
func activeFlip(ctx context.Context, database string) (list []faults.Active, err error) {
	if database == "" {
		return nil, nil
	}
	db, err := planflip.Open(database)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if _, err := planflip.Sweep(ctx, db); err != nil {
		return nil, err
	}
	status, err := planflip.State(ctx, db)
	if err == nil && status.Broken() {
		list = append(list, faults.Active{Kind: "plan-flip", Edge: "recommendations", Until: status.Until})
	}
	return list, err
}
