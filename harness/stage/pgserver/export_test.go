package pgserver

// Fetch lets the test name a repository of its own.
var Fetch = fetch
