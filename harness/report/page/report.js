(async () => {
'use strict';
const $ = (q, r = document) => r.querySelector(q), $$ = (q, r = document) => [...r.querySelectorAll(q)];
const el = (name, props = {}, ...kids) => {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(props)) k in e && k !== 'role' ? e[k] = v : e.setAttribute(k, v);
  e.append(...kids);
  return e;
};
const SIGN = {pass: '✓', violation: '✗', inconclusive: '?', infrastructure: '!'};
const RANK = ['pass', 'inconclusive', 'infrastructure', 'violation'];
const OK = 0, REFUSED = 1, NOANSWER = 2, STARTING = 3, RUNNING = 4, UNKNOWN = 5, RELEASED = 6, WON = 7, LOST = 8, FAILED = 9,
  CANCELLED = 10, CALL = 11, HANGS = 12, WRITE = 13, READ = 14, ARMED = 15, FIRED = 16, PHASE = 17, PROBE = 18;
const ms = us => (us / 1000).toFixed(us < 1e6 ? 1 : 0);

// ---- small things that need no data ----
const root = document.documentElement;
try { const t = localStorage.getItem('interlock-theme'); if (t) root.dataset.theme = t; } catch { /* storage is off */ }
const dark = () => root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
$('#theme').onclick = () => {
  root.dataset.theme = dark() ? 'light' : 'dark';
  try { localStorage.setItem('interlock-theme', root.dataset.theme); } catch { /* storage is off */ }
  redraw();
};
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => redraw());
const keys = $('#keys');
$('#help').onclick = () => keys.showModal();
const message = text => { const m = $('#message'); m.textContent = text; m.hidden = !text; };
const copy = async (text, button) => {
  let ok = false;
  try { await navigator.clipboard.writeText(text); ok = true; } catch {
    const area = el('textarea', {value: text});
    document.body.append(area); area.select();
    try { ok = document.execCommand('copy'); } catch { ok = false; }
    area.remove();
  }
  if (button) { button.textContent = ok ? 'Copied' : 'Press Ctrl+C'; setTimeout(() => button.textContent = 'Copy', 1500); }
};
document.addEventListener('click', e => { const b = e.target.closest('.copy'); if (b) copy(b.dataset.copy, b); });

// ---- the table of scenarios ----
const filter = $('#filter'), toggles = $$('.toggle');
const applyFilter = () => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const on = new Set(toggles.filter(t => t.getAttribute('aria-pressed') === 'true').map(t => t.dataset.verdict));
  let shown = 0, all = 0;
  for (const row of $$('#scenario-table tbody tr')) {
    const text = row.textContent.toLowerCase(), v = row.dataset.verdict;
    row.hidden = !(words.every(w => text.includes(w)) && (v === 'none' ? on.size === toggles.length : on.has(v)));
    all++; if (!row.hidden) shown++;
  }
  $('#filter-note').textContent = shown === all ? '' : `${shown} of ${all} scenarios are shown.`;
};
filter.oninput = () => { applyFilter(); state.q = filter.value; remember(); };
for (const t of toggles) t.onclick = () => { t.setAttribute('aria-pressed', String(t.getAttribute('aria-pressed') !== 'true')); applyFilter(); };

// ---- another run beside this one: its report.json is read here and goes nowhere ----
const another = $('#another'), figures = row => [...row.cells].slice(-2).map(c => Number(c.textContent));
const verdictCell = s => el('td', {className: s ? 'c-' + s.verdict : ''}, s ? `${SIGN[s.verdict] || ''} ${s.verdict} ${(s.violated || []).join(' ')}`.trim() : '– not played');
another.onchange = async () => {
  const out = $('#compared'), file = another.files[0];
  out.hidden = false;
  try {
    if (file.size > 64e6) throw 0;
    const r = JSON.parse(await file.text());
    if (r.format !== 'interlock-report/1' || !Array.isArray(r.scenarios)) throw 0;
    const was = new Map(r.scenarios.map(s => [String(s.slug), s])), rows = [];
    for (const row of $$('#scenario-table tr[data-play]')) {
      const slug = $('th a', row).textContent, before = was.get(slug), [operations, took] = figures(row);
      was.delete(slug);
      rows.push({slug, before, now: {verdict: row.dataset.verdict, violated: row.dataset.violated.split(' ').filter(Boolean), operations, took_ms: took}});
    }
    for (const [slug, before] of was) rows.push({slug, before});
    const text = s => s ? `${s.verdict} ${(s.violated || []).join(' ')}` : '', pick = (s, k) => s ? String(s[k]) : '–';
    for (const p of rows) p.rank = text(p.before) !== text(p.now) ? 0 : Math.abs(p.before.took_ms - p.now.took_ms) >= 100 && 2 * Math.max(p.before.took_ms, p.now.took_ms) >= 3 * Math.min(p.before.took_ms, p.now.took_ms) ? 1 : 2;
    rows.sort((a, b) => a.rank - b.rank);
    const n = k => rows.filter(p => p.rank === k).length;
    out.replaceChildren(
      el('p', {role: 'status'}, `Beside ${file.name} (seed ${r.run?.seed}): ${n(0)} changed, ${n(1)} took notably more or less time, ${n(2)} the same.`),
      el('div', {className: 'scroll', tabIndex: 0, role: 'region', ariaLabel: 'Both runs, scenario by scenario'}, el('table', {},
        el('thead', {}, el('tr', {}, ...['scenario', 'before', 'now', 'ms before', 'ms now', 'operations before', 'operations now'].map(h => el('th', {scope: 'col'}, h)))),
        el('tbody', {}, ...rows.map(p => el('tr', {}, el('th', {scope: 'row'}, p.slug), verdictCell(p.before), verdictCell(p.now),
          ...['took_ms', 'operations'].flatMap(k => [p.before, p.now].map(s => el('td', {className: 'num'}, pick(s, k))))))))));
  } catch { out.replaceChildren(el('p', {role: 'status'}, `${file ? file.name : 'That'} is no report.json of interlock verify.`)); }
};

// ---- data ----
const unpack = async () => {
  const bytes = Uint8Array.from(atob($('#data').textContent), c => c.charCodeAt(0));
  return JSON.parse(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))).text());
};
let data;
try { data = await unpack(); } catch (e) {
  message('This browser cannot unpack the lanes of the report. The violations above and history.jsonl hold the same facts.');
  return;
}
const T = data.texts;
const plays = data.plays.map(p => {
  const n = p.from.length, t0 = new Float64Array(n), t1 = new Float64Array(n);
  for (let i = 0, t = 0; i < n; i++) { t += p.from[i]; t0[i] = t; t1[i] = t + p.took[i]; }
  const rows = p.lanes.map(() => 1);
  for (let i = 0; i < n; i++) rows[p.lane[i]] = Math.max(rows[p.lane[i]], p.row[i] + 1);
  return {...p, count: n, t0, t1, rows, lanes: p.lanes.map(i => T[i]), jobs: p.jobs.map(i => T[i]), marks: p.marks || []};
});
const byName = new Map(plays.map(p => [p.name, p]));
const state = {s: '', job: '', t: null, z: null, q: ''};
const instances = new Set();

// ---- lanes of one play ----
class Lanes {
  constructor(box, compact) {
    this.compact = compact;
    this.canvas = el('canvas', {tabIndex: 0, role: 'img'});
    this.detail = el('div', {className: 'detail', role: 'status'});
    this.body = el('tbody');
    this.head = el('p', {className: 'note'});
    this.box = el('div', {className: 'lanes'}, this.canvas, this.detail);
    if (!compact) {
      const table = el('table', {}, el('thead', {}, el('tr', {}, ...['ms', 'took ms', 'lane', 'what', 'outcome'].map((h, i) => el('th', {scope: 'col', className: i < 2 ? 'num' : ''}, h)))), this.body);
      this.list = el('div', {className: 'list', tabIndex: 0, role: 'region', ariaLabel: 'The same facts as a table'}, table);
      this.box.append(this.list);
    }
    box.append(this.box);
    this.box.append(legend());
    if (!compact) this.box.append(this.head);
    this.g = this.canvas.getContext('2d');
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    instances.add(this);
  }

  set(play, job = 0, zoom = null) {
    this.play = play; this.job = job; this.selected = -1;
    this.fold();
    const [a, b] = zoom ? [this.v(zoom[0]), this.v(zoom[1])] : [0, this.full];
    this.v0 = a; this.v1 = Math.max(b, a + 1);
    this.canvas.setAttribute('aria-label', `Lanes of ${play.name}: ${play.count} events on ${play.lanes.join(', ')}. ${this.compact ? 'The excerpt above holds what matters.' : 'The table below holds the same facts.'}`);
    this.head.textContent = play.leftOut ? `${play.leftOut} more events of this play are in history.jsonl.` : '';
    this.draw(); this.fill(); this.tell();
  }

  visible(i) { return !this.job || !this.play.job[i] || this.play.job[i] === this.job; }

  // fold shortens stretches in which nothing happens: what is drawn is time
  // without its long silences.
  fold() {
    const p = this.play, times = [0];
    for (let i = 0; i < p.count; i++) if (this.visible(i)) times.push(p.t0[i], p.t1[i]);
    times.push(p.span);
    times.sort((a, b) => a - b);
    this.cuts = [];
    let left = p.span;
    for (let i = 1; i < times.length; i++) {
      const gap = times[i] - times[i - 1];
      if (gap > p.span * .12) { this.cuts.push({from: times[i - 1], to: times[i], gone: 0}); left -= gap; }
    }
    const stub = Math.max(left, p.span * .05) * .06;
    let gone = 0;
    for (const c of this.cuts) { c.gone = Math.max(0, c.to - c.from - stub); c.before = gone; gone += c.gone; }
    this.full = p.span - gone || 1;
    const n = p.count;
    this.a = new Float64Array(n); this.b = new Float64Array(n);
    for (let i = 0; i < n; i++) { this.a[i] = this.v(p.t0[i]); this.b[i] = this.v(p.t1[i]); }
  }

  // v maps time to folded time, t maps it back.
  v(t) {
    let gone = 0;
    for (const c of this.cuts) {
      if (t >= c.to) gone = c.before + c.gone;
      else { if (t > c.from) gone = c.before + c.gone * (t - c.from) / (c.to - c.from); break; }
    }
    return t - gone;
  }
  t(v) {
    let t = v;
    for (const c of this.cuts) {
      const a = c.from - c.before, b = c.to - c.before - c.gone;
      if (v >= b) t = v + c.before + c.gone;
      else { if (v > a) t = c.from + (v - a) / (b - a) * (c.to - c.from); break; }
    }
    return t;
  }
  x(v) { return this.x0 + (v - this.v0) * this.scale; }

  layout() {
    const w = this.canvas.clientWidth || 600;
    this.x0 = w < 560 ? 78 : 124;
    this.rowH = 15;
    const tops = [];
    let y = 24;
    for (const rows of this.play.rows) { tops.push(y); y += Math.max(24, rows * this.rowH + 9); }
    this.tops = tops; this.h = y + 6; this.w = w;
    this.scale = (w - this.x0 - 12) / (this.v1 - this.v0);
  }

  draw() {
    if (!this.play || !this.canvas.isConnected) return;
    this.layout();
    const {g, play: p, canvas: c} = this, dpr = devicePixelRatio || 1;
    if (c.style.height !== this.h + 'px') c.style.height = this.h + 'px';
    if (c.width !== Math.round(this.w * dpr) || c.height !== Math.round(this.h * dpr)) { c.width = Math.round(this.w * dpr); c.height = Math.round(this.h * dpr); }
    const col = colors();
    g.setTransform(dpr, 0, 0, dpr, 0, 0);
    g.fillStyle = col.card; g.fillRect(0, 0, this.w, this.h);
    g.font = '12px system-ui, sans-serif'; g.textBaseline = 'middle';
    this.frame(col);
    g.save();
    g.beginPath(); g.rect(this.x0 - 4, 0, this.w - this.x0 + 4, this.h); g.clip();
    this.bands(col);
    this.items(col);
    this.cutMarks(col);
    this.findings(col);
    g.restore();
  }

  frame(col) {
    const {g, play: p} = this;
    p.lanes.forEach((lane, i) => {
      if (i % 2) { g.fillStyle = col.soft; g.globalAlpha = .5; g.fillRect(0, this.tops[i] - 3, this.w, (this.tops[i + 1] || this.h) - this.tops[i]); g.globalAlpha = 1; }
      g.fillStyle = col.mut;
      g.fillText(fit(g, lane, this.x0 - 16), 10, this.tops[i] + 9);
    });
    g.strokeStyle = col.line; g.lineWidth = 1;
    const steps = Math.max(2, Math.floor((this.w - this.x0) / 110));
    for (let k = 0; k <= steps; k++) {
      const v = this.v0 + (this.v1 - this.v0) * k / steps, x = Math.round(this.x(v)) + .5;
      g.beginPath(); g.moveTo(x, 18); g.lineTo(x, this.h); g.stroke();
      g.fillStyle = col.mut;
      const label = ms(this.t(v)) + (k === 0 ? ' ms' : '');
      const w = g.measureText(label).width;
      g.fillText(label, Math.min(x - (k ? w / 2 : 0), this.w - w - 4), 10);
    }
  }

  bands(col) {
    const {g, play: p} = this;
    for (let i = 0; i < p.count; i++) {
      if (p.look[i] !== FIRED && p.look[i] !== PHASE || this.b[i] < this.v0 || this.a[i] > this.v1) continue;
      const x = this.x(this.a[i]);
      if (p.look[i] === FIRED) {
        g.fillStyle = col.faultBg; g.fillRect(x, 18, Math.max(1, this.x(this.b[i]) - x), this.h);
      } else {
        g.strokeStyle = col.mut; g.setLineDash([2, 4]); g.beginPath(); g.moveTo(x, 18); g.lineTo(x, this.h); g.stroke(); g.setLineDash([]);
      }
    }
  }

  items(col) {
    const {g, play: p} = this, last = new Float64Array(p.lanes.length * 8).fill(-1e9), said = last.slice(), was = new Uint8Array(p.lanes.length * 8).fill(255), next = this.following();
    for (let i = 0; i < p.count; i++) {
      if (this.b[i] < this.v0 || this.a[i] > this.v1 || !this.visible(i)) continue;
      const look = p.look[i], slot = p.lane[i] * 8 + p.row[i];
      const x = this.x(this.a[i]), w = (this.b[i] - this.a[i]) * this.scale, y = this.tops[p.lane[i]] + p.row[i] * this.rowH + 2;
      const tick = p.t1[i] === p.t0[i];
      if (w < 1.5 && x - last[slot] < 1 && look === was[slot] && i !== this.selected) continue; // the same pixel again
      const free = Math.max(last[slot], said[slot]) + 4;
      last[slot] = x + Math.max(w, 1); was[slot] = look;
      const color = col.look[look];
      if (tick) this.tick(look, x, y, color, col); else bar(g, look, x, y, Math.max(2, w), color, col);
      if (i === this.selected) { g.strokeStyle = col.fg; g.lineWidth = 2; g.strokeRect(x - (tick ? 7 : 2), y - 2, tick ? 14 : Math.max(4, w + 4), 16); g.lineWidth = 1; }
      said[slot] = Math.max(said[slot], this.label(i, x, y, w, tick, next, col, free));
    }
  }

  // following gives, for each item, the next one in the same row.
  following() {
    if (this.nextOf === this.play && this.nextJob === this.job) return this.next;
    const p = this.play, next = new Int32Array(p.count).fill(-1), seen = new Map();
    for (let i = p.count - 1; i >= 0; i--) {
      if (!this.visible(i)) continue;
      const slot = p.lane[i] * 8 + p.row[i];
      next[i] = seen.has(slot) ? seen.get(slot) : -1;
      seen.set(slot, i);
    }
    this.nextOf = this.play; this.nextJob = this.job; this.next = next;
    return next;
  }

  // label writes what there is room for, and returns where the text ends.
  label(i, x, y, w, tick, next, col, free) {
    const {g, play: p} = this, text = T[p.label[i]], lost = p.look[i] === LOST, m = y + 6.5;
    if (!text) return 0;
    const put = (shown, at, through) => {
      g.fillText(shown, at, m);
      if (lost) g.fillRect(at, m - .5, g.measureText(through).width, 1.2);
      return at + g.measureText(shown).width;
    };
    if (!tick && w > 30) {
      const from = Math.max(x, this.x0) + 5, inside = Math.min(x + w, this.w) - from - 3;
      if (inside > 20) {
        g.fillStyle = [OK, RUNNING, CALL].includes(p.look[i]) ? col.card : col.fg;
        const shown = fit(g, text, inside);
        return put(shown, from, shown);
      }
    }
    const room = (next[i] < 0 ? this.w - 6 : this.x(this.a[next[i]]) - 8) - (tick ? x + 8 : Math.max(x + w, x));
    if (room < 14) return 0;
    const width = g.measureText(text).width, at = tick ? x + 8 : x + Math.max(2, w) + 4, bare = text.split(',')[0];
    g.fillStyle = lost ? col.late : p.look[i] === WON ? col.win : col.fg;
    if (width <= room) return put(text, at, bare);
    if (next[i] < 0 && x - Math.max(this.x0, free) > width + 12) { put(text, x - width - 9, bare); return 0; } // flipped at the right edge
    return room > 40 ? put(fit(g, text, room), at, '') : 0;
  }

  tick(look, x, y, color, col) {
    const {g} = this;
    g.strokeStyle = g.fillStyle = color; g.lineWidth = 1.6;
    const m = y + 6.5;
    g.beginPath();
    if (look === WON) { g.arc(x, m, 5.5, 0, 7); g.stroke(); g.beginPath(); g.moveTo(x - 2.6, m); g.lineTo(x - .6, m + 2.2); g.lineTo(x + 2.8, m - 2.4); g.stroke(); }
    else if (look === LOST) { g.moveTo(x + 2, m - 6); g.lineTo(x - 2.5, m + 1); g.lineTo(x + 2, m + .5); g.lineTo(x - 2, m + 6.5); g.stroke(); }
    else if (look === FAILED) { g.moveTo(x - 4, m - 4); g.lineTo(x + 4, m + 4); g.moveTo(x + 4, m - 4); g.lineTo(x - 4, m + 4); g.stroke(); }
    else if (look === CANCELLED) { g.arc(x, m, 5, 0, 7); g.moveTo(x - 3.5, m + 3.5); g.lineTo(x + 3.5, m - 3.5); g.stroke(); }
    else if (look === WRITE) { g.moveTo(x, m - 6); g.lineTo(x + 5, m); g.lineTo(x, m + 6); g.lineTo(x - 5, m); g.closePath(); g.fill(); }
    else if (look === FIRED) { g.moveTo(x, m - 6); g.lineTo(x + 5, m + 5); g.lineTo(x - 5, m + 5); g.closePath(); g.fill(); }
    else if (look === PROBE) { g.moveTo(x - 3.5, m - 5); g.lineTo(x + 3.5, m); g.lineTo(x - 3.5, m + 5); g.closePath(); g.stroke(); }
    else { g.moveTo(x, m - 5); g.lineTo(x, m + 5); g.stroke(); }
    g.lineWidth = 1;
  }

  cutMarks(col) {
    const {g} = this;
    g.strokeStyle = col.mut; g.fillStyle = col.mut;
    for (const c of this.cuts) {
      const x = (this.x(this.v(c.from)) + this.x(this.v(c.to))) / 2;
      if (x < this.x0 || x > this.w) continue;
      g.beginPath();
      for (let y = 18, k = 0; y <= this.h; y += 6, k++) g.lineTo(x + (k % 2 ? 3 : -3), y);
      g.stroke();
      const label = `${ms(c.to - c.from)} ms of silence`, w = g.measureText(label).width;
      if (w < (this.x(this.v(c.to)) - this.x(this.v(c.from)))) g.fillText(label, x - w / 2, this.h - 8);
    }
  }

  findings(col) {
    const {g} = this;
    for (const m of this.play.marks) {
      const x = this.x(this.v(m.at));
      if (x < this.x0 - 2 || x > this.w) continue;
      g.strokeStyle = g.fillStyle = m.verdict === 'violation' ? col.late : col.unk;
      g.lineWidth = 1.5; g.beginPath(); g.moveTo(x, 18); g.lineTo(x, this.h); g.stroke(); g.lineWidth = 1;
      g.font = 'bold 13px system-ui, sans-serif';
      g.fillText(m.verdict === 'violation' ? '✗' : '?', Math.min(x + 4, this.w - 14), this.h - 9);
      g.font = '12px system-ui, sans-serif';
    }
  }

  // ---- the table beside it ----
  inView() {
    const p = this.play, list = [];
    for (let i = 0; i < p.count; i++) if (this.visible(i) && this.b[i] >= this.v0 && this.a[i] <= this.v1) list.push(i);
    return list;
  }

  fill() {
    if (this.compact) return;
    const p = this.play, list = this.inView(), limit = 250, broke = new Set(p.marks.map(m => m.n));
    const rows = list.slice(0, limit).map(i => {
      const tr = el('tr', {className: broke.has(p.n[i]) ? 'broke' : ''},
        el('td', {className: 'num'}, ms(p.t0[i])), el('td', {className: 'num'}, p.took[i] ? ms(p.took[i]) : ''),
        el('td', {}, p.lanes[p.lane[i]]), el('td', {}, T[p.what[i]]), el('td', {}, T[p.outcome[i]] + (broke.has(p.n[i]) ? '  ✗ here' : '')));
      tr.dataset.i = i; tr.onclick = () => this.select(i);
      return tr;
    });
    if (list.length > limit) rows.push(el('tr', {}, el('td', {colSpan: 5, className: 'note'}, `${list.length - limit} more in view: zoom in to see them.`)));
    this.body.replaceChildren(...rows);
    this.markRow(false);
  }

  markRow(scroll) {
    for (const tr of this.body.children) {
      const on = tr.dataset.i === String(this.selected);
      tr.setAttribute('aria-selected', String(on));
      if (on && scroll) { const r = tr.offsetTop - this.list.clientHeight / 2; this.list.scrollTop = Math.max(0, r); }
    }
  }

  select(i, quiet) {
    this.selected = i;
    if (i >= 0 && (this.a[i] > this.v1 || this.b[i] < this.v0)) {
      const half = (this.v1 - this.v0) / 2;
      this.zoom(this.a[i] - half, this.a[i] + half);
    }
    this.draw(); this.tell();
    if (!this.compact) { this.markRow(!quiet); if (this === explorer && i >= 0) { state.t = Math.round(this.play.t0[i] / 1000); remember(); } }
  }

  tell() {
    const p = this.play, i = this.selected, d = this.detail;
    d.replaceChildren();
    if (i >= 0) {
      d.append(el('b', {}, T[p.what[i]]), ` ${p.lanes[p.lane[i]]}, at ${ms(p.t0[i])} ms${p.took[i] ? `, took ${ms(p.took[i])} ms` : ''}, event ${p.n[i]}`);
      if (T[p.outcome[i]]) d.append(el('br'), T[p.outcome[i]]);
      for (const m of p.marks) if (m.n === p.n[i]) d.append(el('br'), el('b', {className: 'c-' + m.verdict}, `✗ ${m.invariant} `), T[m.sentence], el('br'), `model expects: ${T[m.expected]}; was found: ${T[m.found]}`);
    } else if (p.marks.length) {
      const m = p.marks[0];
      d.append(el('b', {className: 'c-' + m.verdict}, `${m.verdict === 'violation' ? '✗' : '?'} ${m.invariant} `), T[m.sentence]);
    } else d.append('Click an event, or use [ and ], to see it. Drag to move, wheel or + and - to zoom, double-click for all.');
  }

  step(by) {
    const list = this.inView();
    if (!list.length) return;
    const at = list.indexOf(this.selected);
    this.select(list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.max(0, Math.min(list.length - 1, at + by))]);
  }

  zoom(a, b) {
    const least = 20, span = Math.max(least, Math.min(b - a, this.full * 1.02));
    a = Math.max(-this.full * .01, Math.min(a, this.full * 1.01 - span));
    this.v0 = a; this.v1 = a + span;
    this.later();
  }
  zoomAt(v, by) { this.zoom(v - (v - this.v0) * by, v + (this.v1 - v) * by); }
  later() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0; this.draw();
      clearTimeout(this.slow);
      this.slow = setTimeout(() => { this.fill(); if (this === explorer) { state.z = this.v0 <= 0 && this.v1 >= this.full ? null : [this.t(this.v0), this.t(this.v1)]; remember(); } }, 120);
    });
  }

  hit(x, y) {
    const p = this.play;
    let best = -1, near = 9;
    for (let i = 0; i < p.count; i++) {
      if (!this.visible(i) || this.b[i] < this.v0 || this.a[i] > this.v1) continue;
      const top = this.tops[p.lane[i]] + p.row[i] * this.rowH;
      if (y < top - 2 || y > top + this.rowH + 2) continue;
      const a = this.x(this.a[i]), b = this.x(this.b[i]), d = x < a ? a - x : x > b ? x - b : 0;
      if (d < near) { near = d; best = i; }
    }
    return best;
  }

  listen() {
    const c = this.canvas, at = e => { const r = c.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
    const v = x => this.v0 + (x - this.x0) / this.scale;
    c.addEventListener('wheel', e => {
      if (!e.ctrlKey && Math.abs(e.deltaX) <= Math.abs(e.deltaY) && !e.shiftKey && this.compact) return; // let the page scroll
      e.preventDefault();
      if (Math.abs(e.deltaX) > Math.abs(e.deltaY) || e.shiftKey) { const by = (e.deltaX || e.deltaY) / this.scale; this.zoom(this.v0 + by, this.v1 + by); }
      else this.zoomAt(v(at(e)[0]), Math.exp(e.deltaY * .0015));
    }, {passive: false});
    const down = new Map();
    let moved = 0, from = null;
    c.addEventListener('pointerdown', e => { c.setPointerCapture(e.pointerId); down.set(e.pointerId, at(e)[0]); moved = 0; from = [this.v0, this.v1]; });
    c.addEventListener('pointermove', e => {
      if (!down.has(e.pointerId)) return;
      const x = at(e)[0], was = down.get(e.pointerId);
      moved += Math.abs(x - was);
      if (down.size === 1) { const by = (was - x) / this.scale; if (moved > 3) this.zoom(this.v0 + by, this.v1 + by); }
      else { const other = [...down].find(([id]) => id !== e.pointerId)[1]; this.zoomAt(v(other), Math.max(.2, Math.min(5, Math.abs(was - other) / Math.max(4, Math.abs(x - other))))); }
      down.set(e.pointerId, x);
    });
    const up = e => { if (down.delete(e.pointerId) && moved <= 3 && e.type === 'pointerup') { const [x, y] = at(e); this.select(this.hit(x, y), true); } };
    c.addEventListener('pointerup', up); c.addEventListener('pointercancel', up);
    c.addEventListener('dblclick', () => this.zoom(0, this.full));
  }
}

const legend = () => el('ul', {className: 'legend', ariaLabel: 'Legend'}, ...[
  ['l-op', 'request'], ['l-start', 'starting'], ['l-run', 'running'], ['l-unk', 'unknown, or no answer'], ['l-rel', 'released'], ['l-late', 'late, discarded'], ['l-fault', 'fault (hollow: not fired)'],
].map(([c, t]) => el('li', {}, el('i', {className: c}), t)), el('li', {}, '✓ won'), el('li', {}, '↯ lost'), el('li', {}, '✗ rule broken'));

const fit = (g, text, room) => {
  if (g.measureText(text).width <= room) return text;
  let n = Math.max(1, Math.floor(text.length * room / g.measureText(text).width) - 1);
  while (n > 1 && g.measureText(text.slice(0, n) + '…').width > room) n--;
  return text.slice(0, n) + '…';
};

let palette;
const colors = () => {
  const key = String(dark()) + (root.dataset.print || '');
  if (palette && palette.key === key) return palette;
  const css = getComputedStyle(root), v = name => css.getPropertyValue('--' + name).trim();
  const c = {key, card: v('card'), fg: v('fg'), mut: v('mut'), line: v('line'), soft: v('soft'), faultBg: v('fault-bg'), late: v('late'), unk: v('unk'), win: v('win')};
  c.look = [v('op'), v('op'), v('unk'), v('run'), v('run'), v('unk'), v('rel'), v('win'), v('late'), v('late'), v('mut'), v('call'), v('unk'), v('win'), v('mut'), v('fault'), v('fault'), v('mut'), v('mut'), v('late')];
  c.hatch = new Map();
  return palette = c;
};
const hatch = (g, color, col) => {
  if (!col.hatch.has(color)) {
    const t = el('canvas', {width: 7, height: 7}), h = t.getContext('2d');
    h.strokeStyle = color; h.globalAlpha = .55; h.lineWidth = 1.3;
    h.beginPath(); h.moveTo(-1, 8); h.lineTo(8, -1); h.moveTo(-4, 4); h.lineTo(4, -4); h.moveTo(3, 11); h.lineTo(11, 3); h.stroke();
    col.hatch.set(color, g.createPattern(t, 'repeat'));
  }
  return col.hatch.get(color);
};
const bar = (g, look, x, y, w, color, col) => {
  const h = 13;
  g.beginPath();
  if (w > 6) g.roundRect(x, y, w, h, 3); else g.rect(x, y, w, h);
  if (look === OK || look === RUNNING || look === CALL) { g.fillStyle = color; g.fill(); return; }
  g.strokeStyle = color; g.lineWidth = 1.4;
  if (look === STARTING) g.setLineDash([1.5, 2.5]);
  else if (look === UNKNOWN || look === NOANSWER || look === HANGS || look === RELEASED) g.setLineDash([5, 3]);
  g.fillStyle = look === UNKNOWN || look === NOANSWER || look === HANGS || look === FIRED ? hatch(g, color, col) : col.card;
  if (look !== ARMED) g.fill();
  g.stroke(); g.setLineDash([]); g.lineWidth = 1;
};

// ---- explorer ----
let explorer, other;
const box = $('#explorer');
const scenarioPick = el('select', {id: 'pick'}), jobPick = el('select', {id: 'pick-job'}), comparePick = el('select', {id: 'pick-compare'});
if (plays.length) {
  for (const p of plays) scenarioPick.append(new Option(`${SIGN[p.verdict]} ${p.name}`, p.name));
  const button = (text, label, f) => { const b = el('button', {type: 'button', ariaLabel: label}, text); b.onclick = f; return b; };
  const bar = el('div', {className: 'lanes-bar'},
    el('label', {htmlFor: 'pick'}, 'Scenario'), scenarioPick, el('label', {htmlFor: 'pick-job'}, 'Job'), jobPick, el('label', {htmlFor: 'pick-compare'}, 'beside'), comparePick, el('span', {className: 'grow'}),
    el('span', {className: 'zoom'}, button('−', 'Zoom out', () => explorer.zoomAt((explorer.v0 + explorer.v1) / 2, 1.5)), button('+', 'Zoom in', () => explorer.zoomAt((explorer.v0 + explorer.v1) / 2, .67)), button('all', 'Show all', () => explorer.zoom(0, explorer.full))));
  explorer = new Lanes(box, false);
  explorer.box.prepend(bar);
  scenarioPick.onchange = () => { state.job = ''; state.t = state.z = null; open(scenarioPick.value); };
  jobPick.onchange = () => { state.job = explorer.play.jobs[jobPick.value] || ''; state.t = state.z = null; open(explorer.play.name); };
  comparePick.onchange = () => compare(comparePick.value);
} else box.append(el('p', {className: 'note'}, 'No scenario was judged.'));

const compare = name => {
  const p = byName.get(name);
  if (!p) { if (other) { instances.delete(other); other.box.remove(); other.title.remove(); other = null; } return; }
  if (!other) { const title = el('p', {className: 'note'}); box.append(title); other = new Lanes(box, false); other.title = title; }
  other.title.textContent = `Beside it: ${SIGN[p.verdict]} ${p.name}`;
  other.set(p);
};

const open = (name, scroll) => {
  const p = byName.get(name);
  if (!p || !explorer) return false;
  state.s = name;
  scenarioPick.value = name;
  jobPick.replaceChildren(new Option('all', '0'), ...p.jobs.map((j, i) => [j, i]).filter(([j]) => j).map(([j, i]) => new Option(j, String(i))));
  const job = Math.max(0, p.jobs.indexOf(state.job));
  jobPick.value = String(state.job ? job : 0);
  comparePick.replaceChildren(new Option('nothing', ''), ...plays.filter(o => o !== p && (o.slug === p.slug || plays.length < 12)).map(o => new Option(`${SIGN[o.verdict]} ${o.name}`, o.name)));
  compare('');
  $('#lanes-name').textContent = `${SIGN[p.verdict]} ${p.name}`;
  explorer.set(p, state.job ? job : 0, state.z);
  if (state.t !== null) {
    let best = -1;
    const broke = new Set(p.marks.map(m => m.n));
    for (let i = 0; i < p.count; i++) {
      const d = Math.abs(p.t0[i] / 1000 - state.t) - (broke.has(p.n[i]) ? .9 : 0);
      if (best < 0 || d < Math.abs(p.t0[best] / 1000 - state.t) - (broke.has(p.n[best]) ? .9 : 0)) best = i;
    }
    if (best >= 0) explorer.select(best);
  }
  remember();
  if (scroll) $('#lanes').scrollIntoView();
  return true;
};

// ---- address ----
let writing = false, ready = false;
const remember = () => {
  if (!ready) return;
  const q = new URLSearchParams();
  if (state.s) q.set('s', state.s);
  if (state.job) q.set('job', state.job);
  if (state.t !== null) q.set('t', state.t);
  if (state.z) q.set('z', state.z.map(t => Math.round(t / 1000)).join('-'));
  if (state.q) q.set('q', state.q);
  const hash = '#' + q.toString();
  if (hash === location.hash) return;
  try { history.replaceState(null, '', hash); } catch { writing = true; location.hash = hash; }
};
const follow = first => {
  if (writing) { writing = false; return; }
  const raw = location.hash.slice(1);
  if (raw && !raw.includes('=')) {
    if (!document.getElementById(raw)) message(`This report has no part called “${raw.slice(0, 80)}”.`);
    return;
  }
  const q = new URLSearchParams(raw), s = q.get('s') || '';
  const z = (q.get('z') || '').match(/^(\d+)-(\d+)$/);
  state.job = q.get('job') || ''; state.q = q.get('q') || '';
  state.t = /^\d+$/.test(q.get('t') || '') ? Number(q.get('t')) : null;
  state.z = z && +z[1] < +z[2] ? [z[1] * 1000, z[2] * 1000] : null;
  filter.value = state.q; applyFilter();
  message('');
  if (s && !byName.has(s)) { message(`This report has no scenario called “${s.slice(0, 80)}”.`); state.s = ''; return; }
  if (s) open(s, true);
  else if (first && plays.length) open((plays.find(p => p.verdict === 'violation') || plays.find(p => p.verdict !== 'pass') || plays[0]).name);
};
addEventListener('hashchange', () => follow(false));
document.addEventListener('click', e => {
  const row = e.target.closest('#scenario-table tr[data-play]');
  if (row && !e.target.closest('a')) { state.job = ''; state.t = state.z = null; open(row.dataset.play, true); }
});

// ---- lanes inside the violations ----
for (const slot of $$('.lanes-slot')) {
  const p = byName.get(slot.dataset.play);
  if (!p || !p.count) continue;
  const show = () => { if (slot.childElementCount || !slot.closest('details').open) return; new Lanes(slot, true).set(p); };
  new IntersectionObserver((seen, o) => { if (seen.some(s => s.isIntersecting)) { o.disconnect(); show(); } }, {rootMargin: '300px'}).observe(slot);
  slot.closest('details').addEventListener('toggle', show);
}

// ---- density strip ----
const strip = $('#strip');
const drawStrip = () => {
  if (!plays.length) return;
  $('#strip-box').hidden = false;
  const w = strip.clientWidth, h = 26, dpr = devicePixelRatio || 1, g = strip.getContext('2d');
  strip.width = Math.round(w * dpr); strip.height = Math.round(h * dpr);
  g.setTransform(dpr, 0, 0, dpr, 0, 0); g.clearRect(0, 0, w, h);
  const from = Math.min(...plays.map(p => p.start)), to = Math.max(...plays.map(p => p.start + p.span)), cols = new Int8Array(Math.max(1, Math.ceil(w))).fill(-1);
  strip.of = x => from + (to - from) * x / w;
  for (const p of plays) {
    const a = Math.floor((p.start - from) / (to - from || 1) * (w - 1)), b = Math.ceil((p.start + p.span - from) / (to - from || 1) * (w - 1));
    for (let x = a; x <= b && x < cols.length; x++) cols[x] = Math.max(cols[x], RANK.indexOf(p.verdict));
  }
  const css = getComputedStyle(root);
  cols.forEach((r, x) => {
    if (r < 0) return;
    g.fillStyle = css.getPropertyValue('--' + RANK[r]);
    g.globalAlpha = r === 0 ? .45 : 1;
    const tall = r === 0 ? 12 : 26; // not by colour alone
    g.fillRect(x, h - tall, 1, tall);
  });
  g.globalAlpha = 1;
  $('#strip-note').textContent = `The whole run, ${(to - from) / 1e6 < 10 ? ((to - from) / 1e6).toFixed(1) : Math.round((to - from) / 1e6)} s: full columns did not come out as they must.`;
};
strip.addEventListener('click', e => {
  const t = strip.of(e.offsetX), near = p => t < p.start ? p.start - t : t > p.start + p.span ? t - p.start - p.span : 0;
  const best = [...plays].sort((a, b) => near(a) - near(b) || RANK.indexOf(b.verdict) - RANK.indexOf(a.verdict) || a.span - b.span)[0];
  state.job = ''; state.t = state.z = null; open(best.name, true);
});
new ResizeObserver(drawStrip).observe(strip.parentElement);
function redraw() { palette = null; for (const l of instances) l.draw(); drawStrip(); }

// ---- keys ----
const move = (list, by) => {
  if (!list.length) return;
  const at = list.findIndex(p => p.name === state.s);
  state.job = ''; state.t = state.z = null;
  open(list[at < 0 ? 0 : (at + by + list.length) % list.length].name, true);
};
addEventListener('keydown', e => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === 'Escape') { if (document.activeElement === filter) filter.blur(); else if (explorer) explorer.select(-1); message(''); return; }
  if (keys.open || e.target.closest('input, select, textarea')) return;
  const middle = explorer ? (explorer.v0 + explorer.v1) / 2 : 0, bad = plays.filter(p => p.verdict !== 'pass');
  const act = {
    '?': () => keys.showModal(), j: () => move(plays, 1), k: () => move(plays, -1), n: () => move(bad, 1), p: () => move(bad, -1),
    '[': () => explorer?.step(-1), ']': () => explorer?.step(1), '+': () => explorer?.zoomAt(middle, .67), '=': () => explorer?.zoomAt(middle, .67),
    '-': () => explorer?.zoomAt(middle, 1.5), 0: () => explorer?.zoom(0, explorer.full), f: () => filter.focus(),
    c: () => { const d = $$('details[data-play]').find(d => d.dataset.play === state.s); const b = d ? $('.copy', d) : $('.cmd .copy'); if (b) copy(b.dataset.copy, b); },
  }[e.key];
  if (act) { e.preventDefault(); act(); }
});

// ---- print: each violation on a page, its lanes as a picture and a table ----
addEventListener('beforeprint', () => {
  for (const d of $$('details')) d.open = true;
  const was = root.dataset.theme, out = $('#print');
  root.dataset.theme = 'light'; root.dataset.print = '1'; palette = null;
  out.replaceChildren(...plays.filter(p => p.verdict !== 'pass' && p.count).slice(0, 30).map(p => {
    const hidden = el('div'); hidden.style.width = '1000px';
    const fig = el('figure', {}, el('h2', {}, `${SIGN[p.verdict]} ${p.name}`));
    out.append(hidden); out.style.display = 'block';
    const l = new Lanes(hidden, false); l.set(p);
    fig.append(el('img', {src: l.canvas.toDataURL('image/png'), alt: l.canvas.getAttribute('aria-label')}), l.list.firstChild);
    instances.delete(l);
    return fig;
  }));
  out.style.display = '';
  if (was) root.dataset.theme = was; else delete root.dataset.theme;
  delete root.dataset.print; palette = null;
});
addEventListener('afterprint', () => { $('#print').replaceChildren(); redraw(); });

follow(true);
ready = true;
drawStrip();
root.dataset.ready = '1';
// For measuring only: draws the explorer n times at other zooms and returns the times in ms.
window.interlockFrames = n => {
  const l = explorer, full = l.full, times = [];
  for (let i = 0; i < n; i++) {
    const z = .5 + .5 * Math.cos(i / 20);
    l.v0 = full * (1 - z) * .4; l.v1 = l.v0 + full * z + 100;
    const t = performance.now(); l.draw(); times.push(performance.now() - t);
  }
  l.zoom(0, full);
  times.sort((a, b) => a - b);
  return {p50: times[n >> 1], p99: times[Math.floor(n * .99)], max: times[n - 1]};
};
})();
