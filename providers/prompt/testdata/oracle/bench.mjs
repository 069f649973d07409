// Times the tokenizers library on the text of standard input, for the benchmark of package bpe that compares the two in one run.
//
//   node bench.mjs FOLDER TOKENIZER.json <TEXT     prints the median processor time of 40 rounds, in nanoseconds
import { readFileSync } from 'node:fs';
import { Tokenizer } from './oracle.mjs';

const text = readFileSync(0, 'utf8');
const tokenizer = Tokenizer.fromFile(process.argv[3]);
const times = [];
for (let i = 0; i < 40; i++) {
  const begin = process.cpuUsage();
  await tokenizer.encode(text, null, { addSpecialTokens: false });
  const took = process.cpuUsage(begin);
  times.push((took.user + took.system) * 1e3);
}
times.sort((a, b) => a - b);
console.log(times[times.length >> 1]);
