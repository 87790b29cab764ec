// Package storetest hands tests a real Postgres and a real Redis, each in a throw-away container.
package storetest
