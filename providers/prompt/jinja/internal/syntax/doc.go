// Package syntax turns the source of a template into a tree of nodes.
//
// It accepts Jinja2's language in the configuration that transformers uses:
// trim_blocks and lstrip_blocks on, the tags break, continue and generation
// added, one final newline dropped. What Jinja refuses is refused with the
// same class, the same message and the same line. Sources: Jinja's "Template
// Designer Documentation" (whitespace control, list of control structures,
// expressions) and the documentation of apply_chat_template.
package syntax
