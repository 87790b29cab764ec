// Package storetest hands tests a real Postgres and a real Redis.
//
// Each test binary starts at most one container of each kind, on the first
// call that needs it, and Main ends them:
//
//	func TestMain(m *testing.M) { storetest.Main(m) }
//
//	func TestStore(t *testing.T) {
//		pool, err := pgxpool.New(t.Context(), storetest.Postgres(t))
//		...
//	}
//
// Every call returns a database of its own, so tests may run in parallel and
// never see each other's rows. Stores are mocked nowhere in this repository:
// constraints, locks and isolation levels are what its tests are about.
//
// It needs a Docker engine and nothing else. A container whose test binary was
// killed ends by itself after Lifetime, so no reaper container is required.
package storetest
