-- The sales day that is open now: 10,000 orders in the same baskets, except that every twelfth is anchored by
-- the day's hot product 42 (856 rows of 49,997). Live purchases are rolled into this day.
--
-- 61 days stay below default_statistics_target (100), so the list of days the planner knows is complete and
-- a day missing from it is estimated at one row.
--
-- +goose Up
INSERT INTO order_items
SELECT DISTINCT o, CASE WHEN step = 0 AND o % 12 = 0 THEN 42 ELSE 1 + (o::bigint * 7919 + step) % 2000 END, DATE '2025-03-02', 1
FROM generate_series(120000, 129999) AS o,
     (VALUES (0), (5), (12), (17), (24)) AS basket (step)
ORDER BY 1, 2; -- DISTINCT: in three baskets 42 was in already
