// toy makes a random small tokenizer.json: a model of at most 300 tokens, and
// any mix of normalizers, pre-tokenizers, added tokens, decoders and
// post-processors.
const letters = (() => {
  const out = [];
  let next = 256;
  for (let b = 0; b < 256; b++) out.push(String.fromCodePoint((b >= 33 && b <= 126) || (b >= 161 && b !== 173) ? b : next++));
  return out;
})();
const plain = [...'▁abcdefghilmnorstuvwyABCDEHIST0123456789.,!?\'"-_/<>|[]{}()éßñüЖдя漢字東京かなمر😀́Ġ \n'];

export function toy(random) {
  const byteLevel = random() < .5;
  const maybe = (p, x) => random() < p ? x() : null;
  const model = { type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null, fuse_unk: random() < .5,
    byte_fallback: false, ignore_merges: random() < .3, vocab: {}, merges: [] };
  const add = t => { if (!(t in model.vocab)) model.vocab[t] = Object.keys(model.vocab).length; };
  const prefix = !byteLevel && random() < .25 ? random.pick(['##', '', '@']) : null;
  const suffix = !byteLevel && random() < .25 ? random.pick(['</w>', '', '$']) : null;
  model.continuing_subword_prefix = prefix;
  model.end_of_word_suffix = suffix;
  if (!byteLevel) {
    if (random() < .7) { model.unk_token = '<unk>'; add('<unk>'); }
    if (random() < .6) {
      model.byte_fallback = true;
      const some = random() < .3;
      if (!prefix && !suffix && random() < .8) for (let b = 0; b < 256; b++) if (!some || random() < .6) add(`<0x${b.toString(16).toUpperCase().padStart(2, '0')}>`);
    }
  }
  const alphabet = byteLevel ? letters.filter(() => random() < .97) : plain.filter(() => random() < .9);
  let tokens = [];
  for (const c of alphabet) {
    const forms = byteLevel ? [c] : [c, ...(prefix ? [prefix + c] : []), ...(suffix ? [c + suffix, ...(prefix ? [prefix + c + suffix] : [])] : [])];
    for (const f of forms) { add(f); tokens.push(f); }
  }
  if (random() < .1) tokens.forEach((t, i) => { if (i % 17 === 3) model.vocab[t] += 1000; });
  const common = byteLevel ? tokens.filter(t => /[Ġa-zA-Z0-9.ĊÃ©æĠ]/.test(t)) : tokens.filter(t => !t.includes('<'));
  const pool = [...common], strings = random() < .5;
  for (let i = 0, room = Math.max(20, 300 - Object.keys(model.vocab).length); i < room; i++) {
    const a = random.pick(pool);
    let b = random.pick(pool);
    if (suffix && a.endsWith(suffix)) continue;
    if (prefix && !b.startsWith(prefix)) continue;
    if (strings && /[ ]/.test(a + b)) continue;
    const joined = a + b.slice(prefix ? prefix.length : 0);
    if ([...joined].length > 12) continue;
    add(joined);
    pool.push(joined);
    model.merges.push(strings ? `${a} ${b}` : [a, b]);
  }

  const regexes = ["\\p{L}+|\\p{N}{1,3}|[^\\s\\p{L}\\p{N}]+|\\s+", '\\s+', ' ?\\p{L}+', "(?i:'s|'t|'re)|\\w+|\\W", '[aeiou]+', '(?=[A-Z])', '\\d', '^', '.', 'b*', '\\p{Han}'];
  const pattern = () => random() < .5 ? { Regex: random.pick(regexes) } : { String: random.pick([' ', 'a', 'ab', '.', '▁', '<|', 'é']) };
  const behavior = () => random.pick(['Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous']);
  const metaspace = () => {
    const scheme = random.pick(['always', 'first', 'never']);
    const m = { type: 'Metaspace', replacement: random.pick(['▁', '▁', '_']), prepend_scheme: scheme };
    if (random() < .5) m.split = random() < .5;
    if (random() < .2) m.add_prefix_space = scheme !== 'never';
    return m;
  };
  const normalizer = deep => random.pick([
    () => ({ type: 'NFC' }), () => ({ type: 'NFD' }), () => ({ type: 'NFKC' }), () => ({ type: 'NFKD' }), () => ({ type: 'Lowercase' }),
    () => ({ type: 'Strip', strip_left: random() < .6, strip_right: random() < .6 }), () => ({ type: 'StripAccents' }),
    () => ({ type: 'Prepend', prepend: random.pick(['▁', 'ab', '_']) }), () => ({ type: 'Nmt' }),
    () => ({ type: 'Replace', pattern: random() < .5 ? { String: random.pick([' ', 'a', '  ', 'é', '<']) } : { Regex: random.pick(['\\s+', ' {2,}', '[aeiou]', '\\p{Lu}', "(?<=a)b", '\\.+$']) },
      content: random.pick(['▁', '', 'x', 'ab', ' ']) }),
    () => deep > 0 ? { type: 'Sequence', normalizers: Array.from({ length: random.below(4) }, () => normalizer(deep - 1)) } : { type: 'NFC' },
  ])();
  const preTokenizer = deep => random.pick([
    () => ({ type: 'Split', pattern: pattern(), behavior: behavior(), invert: random() < .4 }), () => ({ type: 'Digits', individual_digits: random() < .5 }),
    () => ({ type: 'Punctuation', behavior: behavior() }), () => ({ type: 'Whitespace' }), () => ({ type: 'WhitespaceSplit' }), metaspace,
    () => ({ type: 'CharDelimiterSplit', delimiter: random.pick([' ', '-', 'é']) }), () => ({ type: 'FixedLength', length: 1 + random.below(6) }),
    () => ({ type: 'ByteLevel', add_prefix_space: random() < .5, trim_offsets: true, use_regex: random() < .5 }),
    () => deep > 0 ? { type: 'Sequence', pretokenizers: Array.from({ length: random.below(4) }, () => preTokenizer(deep - 1)) } : { type: 'WhitespaceSplit' },
  ])();
  const decoder = deep => random.pick([
    () => ({ type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true }), () => ({ type: 'ByteFallback' }), () => ({ type: 'Fuse' }),
    () => ({ type: 'Replace', pattern: { String: random.pick(['▁', 'a', 'Ġ']) }, content: random.pick([' ', '', 'x']) }), metaspace,
    () => ({ type: 'Strip', content: random.pick([' ', 'a']), start: random.below(3), stop: 0 }), () => ({ type: 'BPEDecoder', suffix: random.pick(['</w>', '$']) }),
    () => deep > 0 ? { type: 'Sequence', decoders: Array.from({ length: random.below(4) }, () => decoder(deep - 1)) } : { type: 'Fuse' },
  ])();
  const parts = {
    version: '1.0', truncation: null, padding: null, added_tokens: [], normalizer: maybe(.7, () => normalizer(2)), pre_tokenizer: null,
    post_processor: null, decoder: maybe(.8, () => decoder(2)), model,
  };
  const byteStage = { type: 'ByteLevel', add_prefix_space: random() < .3, trim_offsets: true, use_regex: random() < .5 };
  if (byteLevel) {
    parts.pre_tokenizer = random() < .4 ? byteStage : { type: 'Sequence', pretokenizers: [preTokenizer(1), byteStage] };
  } else if (random() < .8) parts.pre_tokenizer = preTokenizer(2);
  const contents = ['<s>', '</s>', '<|im_start|>', '<|im_end|>', '<|im', '[MASK]', 'Day', 'day', 'é', 'e\u0301', '  ', '\n\n', 'ab', 'aba', ' x', 'x ', '<unk>', 'ÀB', '東京', '１'];
  for (let n = random.below(9); n > 0; n--) {
    parts.added_tokens.push({ id: 0, content: random.pick(contents), single_word: random() < .25, lstrip: random() < .3, rstrip: random() < .3,
      normalized: random() < .4, special: random() < .5 });
  }
  const ids = [1, 2];
  const special = { '<s>': { id: '<s>', ids: [ids[0]], tokens: ['<s>'] }, '</s>': { id: '</s>', ids, tokens: ['</s>', 'b'] } };
  const sequence = { Sequence: { id: 'A', type_id: 0 } }, token = id => ({ SpecialToken: { id, type_id: 0 } });
  parts.post_processor = random.pick([
    () => null, () => ({ type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true }),
    () => ({ type: 'TemplateProcessing', single: [token('<s>'), sequence, token('</s>')], pair: [sequence, { Sequence: { id: 'B', type_id: 1 } }], special_tokens: special }),
    () => ({ type: 'TemplateProcessing', single: [sequence, token('</s>')], pair: [sequence, { Sequence: { id: 'B', type_id: 1 } }], special_tokens: special }),
    () => ({ type: 'BertProcessing', sep: ['</s>', 2], cls: ['<s>', 1] }),
    () => ({ type: 'RobertaProcessing', sep: ['</s>', 2], cls: ['<s>', 1], trim_offsets: true, add_prefix_space: true }),
    () => ({ type: 'Sequence', processors: [{ type: 'ByteLevel', add_prefix_space: true, trim_offsets: false, use_regex: true },
      { type: 'TemplateProcessing', single: [token('<s>'), sequence], pair: [sequence, { Sequence: { id: 'B', type_id: 1 } }], special_tokens: special }] }),
  ])();
  return parts;
}
