//go:build race

package service_test

// raced: the race detector multiplies memory and time, so that bounds of them mean
// nothing.
const raced = true
