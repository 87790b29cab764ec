// Package planflip makes the query behind "bought together" a thousand times slower, and well again, by nothing but the
// statistics that the planner of recommendations' Postgres has: same rows, same query, no sleep.
//
// # What happens
//
// Flip reloads the open sales day, as a nightly job might, and gathers statistics at the worst moment: in the middle of its
// transaction, while the day is absent. Readers see every row at every moment. But the planner now knows a complete list of
// days (61 of them, below default_statistics_target = 100) in which this one is missing, and so expects one row of it. For one
// row, any join is as good as any other: it compares all 50,000 rows of the day with each of the product's rows, in a join
// filter, instead of looking orders up by their key. 856 rows of the hottest product make that 42 million comparisons.
//
// ANALYZE, once more, is the cure and the only one: it also makes open connections plan anew. autovacuum is off for the
// table (migrations/00001_history.sql), so that nobody else analyzes it, and the service's pool plans each query for its
// values (plan_cache_mode = force_custom_plan), so that warm connections do not go on with an old plan for a while.
//
// # Who ends a flip
//
// The end of a flip is written into demo.plan_flips in the transaction that flips: there is no flip without an end. Whoever
// sees one whose time is over mends it (Sweep); the janitor of the compose file looks every second. Flip and mend lock
// order_items first, so they never overlap.
package planflip
