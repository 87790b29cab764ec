package service

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// migrate brings the schema up to date. Replicas that start together take turns on a Postgres advisory lock, and those that
// come second find nothing to do. It uses a connection of its own, without the pool's statement_timeout: building an index may
// take its time.
func migrate(ctx context.Context, log *slog.Logger, cfg *pgx.ConnConfig, files fs.FS) error {
	if sub, err := fs.Sub(files, "migrations"); err == nil && isDir(files, "migrations") {
		files = sub
	}
	cfg = cfg.Copy()
	cfg.RuntimeParams["statement_timeout"] = "0"
	db := stdlib.OpenDB(*cfg)
	defer db.Close()

	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 60)) // asks each second, for a minute
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	results, err := provider.Up(ctx)
	for _, r := range results {
		log.Info("migrated", "version", r.Source.Version, "file", r.Source.Path, "ms", milliseconds(r.Duration))
	}
	return err
}

func isDir(files fs.FS, name string) bool {
	info, err := fs.Stat(files, name)
	return err == nil && info.IsDir()
}
