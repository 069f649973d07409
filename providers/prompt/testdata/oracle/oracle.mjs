// What the scripts in this folder share: the tokenizers library as an oracle,
// and seeded chance. Every script takes, as its first argument, a folder in
// which `npm install --ignore-scripts @anush008/tokenizers@0.6.0` (the Rust
// library tokenizers 0.22.2) was run.
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(path.resolve(process.argv[2] ?? '.', 'x.js'));
export const { Tokenizer } = require('@anush008/tokenizers');

const bare = {
  version: '1.0', truncation: null, padding: null, added_tokens: [], normalizer: null, pre_tokenizer: null,
  post_processor: null, decoder: null, model: { type: 'BPE', vocab: { a: 0 }, merges: [] },
};

// load makes a tokenizer of a tokenizer.json as an object; parts not named are empty.
export const load = parts => Tokenizer.fromString(JSON.stringify({ ...bare, ...parts }));

// pieces splits text as a pre-tokenizer does.
export const pieces = (preTokenizer, text) => preTokenizer.preTokenizeString(text).map(x => x[0]);

// chance returns a function to random numbers in [0, 1) (mulberry32).
export function chance(seed) {
  const next = () => {
    seed = (seed + 0x6D2B79F5) >>> 0;
    let t = seed;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  next.below = n => Math.floor(next() * n);
  next.pick = list => list[next.below(list.length)];
  return next;
}
