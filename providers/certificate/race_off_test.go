//go:build !race

package certificate_test

const raced = false
