-- Last, when every day is in: the planner then knows the open day and joins by order. VACUUM also writes the hint
-- bits of 650,000 fresh rows now, which the first readers would otherwise do in their own time.
--
-- +goose NO TRANSACTION
-- +goose Up
VACUUM (ANALYZE) order_items;
ANALYZE best_sellers;
