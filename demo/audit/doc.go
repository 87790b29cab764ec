// Package audit reads the databases of the running shop, as the role auditor, and says whether they add up: orders against keys,
// reservations, stock, ledger and events. It believes no service, no client and no metric.
//
// The three databases are read one after another while the shop goes on, so nothing here compares two of them at "the same time". What
// must have been there before is read before (a sale has an order: sales first, orders then), what must have followed is read after.
// What is under way is not wrong, until it takes longer than it may: that is Config.Within.
package audit
