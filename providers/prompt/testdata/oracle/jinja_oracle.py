#!/usr/bin/env python3
"""Renders chat templates with Python's Jinja2, as transformers configures it.

The reference for package jinja: what this script says is right. It needs
Debian's python3-jinja2 (3.1.2) on CPython 3.11.

    jinja_oracle.py serve    one JSON request a line in, one JSON answer a line out:
                             {"template": "...", "vars": {...}, "now": "2026-11-29T12:00:00"}
                             gives {"ok": "text"} or {"err": "TypeError", "message": "...", "line": 3}
    jinja_oracle.py snippets SNIPPETS.json
                             fills in the expected answers of a table of snippets, in place
    jinja_oracle.py renders  TEMPLATES.json SCENARIOS.json OUT.json.gz
                             renders every scenario with every template
"""
import datetime
import gzip
import json
import sys

import jinja2
import jinja2.ext
import jinja2.sandbox

# Big enough for every test that is not about recursion, which has its own.
sys.setrecursionlimit(1000)


class Generation(jinja2.ext.Extension):
    """The tag around what the assistant wrote; it prints its body."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        call = self.call_method("_print", [], lineno=line)
        return jinja2.nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _print(self, caller):
        return caller()


def environment(now):
    env = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def strftime_now(format):
        return now.strftime(format)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = strftime_now
    env.filters["tojson"] = tojson
    return env


def render(template, variables, now):
    try:
        return {"ok": environment(now).from_string(template).render(**variables)}
    except Exception as e:
        answer = {"err": type(e).__name__, "message": str(e)}
        if isinstance(e, jinja2.TemplateSyntaxError):
            answer["line"] = e.lineno
        return answer


def answer(request):
    now = datetime.datetime.fromisoformat(request.get("now") or "2026-11-29T12:00:00")
    result = render(request["template"], request.get("vars") or {}, now)
    try:
        json.dumps(result, ensure_ascii=False).encode()
    except UnicodeEncodeError as e:
        return {"err": type(e).__name__, "message": str(e)}
    return result


def serve():
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


def snippets(path):
    with open(path, encoding="utf-8") as f:
        table = json.load(f)
    for s in table:
        for key in ("ok", "err", "message", "line"):
            s.pop(key, None)
        s.update(answer(s))
    with open(path, "w", encoding="utf-8") as f:
        f.write("[\n" + ",\n".join(json.dumps(s, ensure_ascii=False) for s in table) + "\n]\n")


def renders(templates, scenarios, out):
    with open(templates, encoding="utf-8") as f:
        all_templates = json.load(f)
    with open(scenarios, encoding="utf-8") as f:
        all_scenarios = json.load(f)
    table = []
    for t in all_templates:
        row = {"source": t["source"], "name": t["name"], "renders": {}}
        for name, variables in all_scenarios.items():
            request = {"template": t["text"], "vars": {**t["vars"], **variables}, "now": t.get("now")}
            result = answer(request)
            row["renders"][name] = result if "ok" in result else {"err": result["err"] + ": " + result["message"]}
        table.append(row)
    with gzip.GzipFile(out, "wb", mtime=0) as f:
        f.write(json.dumps(table, ensure_ascii=False, separators=(",", ":")).encode())


if __name__ == "__main__":
    modes = {"serve": serve, "snippets": snippets, "renders": renders}
    if len(sys.argv) < 2 or sys.argv[1] not in modes:
        sys.exit(__doc__)
    modes[sys.argv[1]](*sys.argv[2:])
