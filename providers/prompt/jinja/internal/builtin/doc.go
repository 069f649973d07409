// Package builtin holds the filters, tests and globals that every chat template
// may use: all of Jinja's, with the sandbox's range and the tojson filter of
// transformers. Each takes the arguments that Jinja documents, under the same
// names, and raises what Jinja raises. Source: "List of Builtin Filters", "List
// of Builtin Tests" and "List of Global Functions" in Jinja's "Template Designer
// Documentation".
package builtin
