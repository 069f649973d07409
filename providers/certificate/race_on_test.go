//go:build race

package certificate_test

// raced: the race detector slows everything down, so that times mean nothing.
const raced = true
