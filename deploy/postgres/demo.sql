-- Run by init.sh, in the database of recommendations: the role with which demo flips the plan of a query there and mends it
-- again (demo/planflip). It may do that and nothing else; what it may do with the service's tables is granted by the service,
-- in services/recommendations/migrations/00006_demo.sql.
CREATE ROLE demo LOGIN PASSWORD :'password';
GRANT CONNECT, TEMPORARY ON DATABASE :"database" TO demo;
CREATE SCHEMA demo AUTHORIZATION demo;
SET ROLE demo;

-- When the flip that is in force ends, whatever becomes of the process that made it. At most one row.
CREATE TABLE demo.plan_flips (
  only_one boolean     PRIMARY KEY DEFAULT true CHECK (only_one),
  until    timestamptz NOT NULL
);
