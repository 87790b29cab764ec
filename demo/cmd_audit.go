package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"strings"
	"time"

	"watertight.example/demo/audit"
	"watertight.example/demo/incident"
)

const auditIntro = `
demo audit reads the databases of the running shop and says whether they add up: one order for each intent, stock for each order,
counters equal to the ledger, events delivered. It reads only, as the role auditor, while the shop goes on. Exit 1 when something is
wrong. The defaults are the names in the compose file; the password is AUDITOR_PASSWORD unless a URL has one.

  demo audit
  demo audit -within 1m                             after a fault, as long as the shop may still be tidying up`

func runAudit(ctx context.Context, env environment, args []string) error {
	fs := flag.NewFlagSet("audit", flag.ContinueOnError)
	cfg := audit.Config{Password: env.getenv("AUDITOR_PASSWORD")}
	databases := auditedDatabases(&cfg)
	for _, d := range databases { // no URL from the environment as a default: -h would print its password
		fs.StringVar(d.url, d.name, "", fmt.Sprintf("`URL` of the database of %s, if not %s or on host %s", d.name, d.env, d.place))
	}
	fs.DurationVar(&cfg.Within, "within", 15*time.Second, "how long a key, an event or a hold may take before it counts as stuck")
	if err := parse(env, fs, auditIntro, args); err != nil {
		return help(err)
	}
	for _, d := range databases {
		*d.url = cmp.Or(*d.url, env.getenv(d.env), d.fallback())
	}
	report, err := audit.Run(ctx, cfg)
	if err != nil {
		return err
	}
	report.Print(env.stdout)
	return report.Err()
}

// auditedDatabase says where one of the books is found: by a flag, in the environment, or under its name in the compose file.
type auditedDatabase struct {
	url              *string
	name, env, place string
}

func (d auditedDatabase) fallback() string {
	return "postgres://auditor@" + d.place + ":5432/" + d.name + "?sslmode=disable"
}

func auditedDatabases(cfg *audit.Config) []auditedDatabase {
	return []auditedDatabase{
		{&cfg.Orders, "orders", "AUDIT_ORDERS_URL", "postgres"},
		{&cfg.Inventory, "inventory", "AUDIT_INVENTORY_URL", "postgres-inventory"},
		{&cfg.Recommendations, "recommendations", "AUDIT_RECOMMENDATIONS_URL", "postgres-recommendations"},
	}
}

// books are the databases an incident looks into; nil where the auditor's password is not known, which is outside the compose file.
func books(env environment) *incident.Books {
	password := env.getenv("AUDITOR_PASSWORD")
	if password == "" {
		return nil
	}
	b := &incident.Books{Config: audit.Config{Password: password, Within: 15 * time.Second}}
	for _, d := range append(auditedDatabases(&b.Config), auditedDatabase{&b.Replica, "inventory", "AUDIT_INVENTORY_REPLICA_URL", "postgres-inventory-replica"}) {
		*d.url = cmp.Or(env.getenv(d.env), d.fallback())
	}
	return b
}

// pairs reads name=value,name=value.
func pairs(text string) map[string]string {
	found := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		if name, value, ok := strings.Cut(part, "="); ok {
			found[name] = value
		}
	}
	return found
}
