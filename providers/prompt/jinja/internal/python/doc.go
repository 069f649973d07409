// Package python holds the values that a chat template computes with, and what
// Python does with them: arithmetic, comparison, repr, str.format, indexing,
// the methods of str, list and dict, and the exceptions they raise.
//
// Templates are written against CPython 3.11 as seen through Jinja's
// ImmutableSandboxedEnvironment, so the rule of this package is: the same text
// or the same exception class, never something more helpful. Operations panic
// with *Error where Python raises; package jinja recovers it at its border.
// Sources: the Python Language Reference ("Data model", "Expressions"), the
// Library Reference ("Built-in Types", "Format String Syntax", "printf-style
// String Formatting"), Jinja's and MarkupSafe's documentation.
//
// A Value is one of
//
//	nil                None
//	bool               bool
//	int, *big.Int      int (normalised: a *big.Int never fits an int)
//	float64            float
//	string, Markup     str and MarkupSafe's subclass of it, UTF-8
//	Bytes              bytes
//	*List, *Tuple      list, tuple
//	*Dict              dict, in insertion order
//	*Range, *View      range; what dict.keys(), .values() and .items() return
//	*Iterator          a generator or another one-way iterator
//	*Slice             slice (only while constants are folded)
//	*Function          a function, method or type
//	*Undefined         Jinja's Undefined
//	Object             everything else: namespace, macro, loop, ...
package python
