// Package problems holds one page for each type of problem that the job service
// answers. A page is named like the last part of the type's URI and says when
// the problem comes and what to do. Data only.
package problems

import "embed"

// FS holds the pages, each as <type>.md.
//
//go:embed *.md
var FS embed.FS
