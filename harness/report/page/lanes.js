// Draws the lanes of one play on a canvas, and beside it the same facts as a
// table, in step with zoom and selection. It stands in report.html and in the
// console, and knows of neither.
'use strict';
const el = (name, props = {}, ...kids) => {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(props)) k in e ? e[k] = v : e.setAttribute(k, v);
  e.append(...kids);
  return e;
};
const table = (heads, ...rows) => el('table', {}, el('thead', {}, el('tr', {}, ...heads.map(h => el('th', {scope: 'col'}, h)))), el('tbody', {}, ...rows));
const ms = us => (us / 1000).toFixed(us < 1e6 ? 1 : 0);

// playOf makes a play of its packed columns: texts are numbers, times differences
// in microseconds.
const playOf = (p, texts) => {
  const of = list => list.map(i => texts[i]), count = p.from.length, t0 = new Float64Array(count), t1 = new Float64Array(count), rows = p.lanes.map(() => 1);
  for (let i = 0, t = 0; i < count; i++) {
    t0[i] = t += p.from[i];
    t1[i] = t + p.took[i];
    rows[p.lane[i]] = Math.max(rows[p.lane[i]], p.row[i] + 1);
  }
  const marks = (p.marks || []).map(m => ({...m, sentence: texts[m.sentence], expected: texts[m.expected], found: texts[m.found]}));
  return {...p, count, t0, t1, rows, marks, lanes: of(p.lanes), jobs: of(p.jobs), label: of(p.label), what: of(p.what), outcome: of(p.outcome)};
};

// How each look is drawn, in the order of report.Look: its colour, how its bar is
// filled and dashed, and the mark of what takes no time. Closed marks are filled.
const RING = 'M5.5 0A5.5 5.5 0 1 1-5.5 0A5.5 5.5 0 1 1 5.5 0', CROSS = 'M-4-4 4 4M4-4-4 4';
const LOOKS = [
  ['op', 'full'], ['op'], ['unsure', 'hatch', [5, 3]], ['work', '', [1.5, 2.5]], ['work', 'full'], ['unsure', 'hatch', [5, 3]], ['freed', '', [5, 3]],
  ['won', '', [], RING + 'M-2.6 0-.6 2.2 2.8-2.4'], ['late', '', [], 'M2-6-2.5 1 2 .5-2 6.5'], ['late', '', [], CROSS], ['mut', '', [], RING + 'M-3.5 3.5 3.5-3.5'],
  ['call', 'full'], ['unsure', 'hatch', [5, 3]], ['won', '', [], 'M0-6 5 0 0 6-5 0Z'], ['mut'], ['fault', 'none'], ['fault', 'hatch', [], 'M0-6 5 5-5 5Z'],
  ['mut'], ['mut', '', [], 'M-3.5-5 3.5 0-3.5 5-3.5-5'], ['late'],
].map(([color, fill, dash = [], mark = 'M0-5V5']) => ({color, fill, dash, mark: new Path2D(mark), solid: mark.endsWith('Z')}));
const WON = 7, LOST = 8, FIRED = 16, PHASE = 17;

const colors = () => {
  const css = getComputedStyle(document.documentElement);
  return Object.fromEntries(['card', 'fg', 'soft', 'line', 'fault-bg', ...LOOKS.map(l => l.color)].map(name => [name, css.getPropertyValue('--' + name)]));
};
const redraw = () => { for (const c of document.querySelectorAll('canvas')) c.lanes.draw(); };
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
new MutationObserver(redraw).observe(document.documentElement, {attributeFilter: ['data-theme']});
const hatches = {};
const hatch = (g, color) => hatches[color] ??= (() => {
  const h = el('canvas', {width: 7, height: 7}).getContext('2d');
  h.strokeStyle = color; h.globalAlpha = .55; h.lineWidth = 1.3;
  h.stroke(new Path2D('M-1 8 8-1M-4 4 4-4M3 11 11 3'));
  return g.createPattern(h.canvas, 'repeat');
})();
const fit = (g, text, room) => {
  if (g.measureText(text).width <= room) return text;
  let n = Math.max(1, Math.floor(text.length * room / g.measureText(text).width) - 1);
  while (n > 1 && g.measureText(text.slice(0, n) + '…').width > room) n--;
  return text.slice(0, n) + '…';
};
// between maps x from one list of places to another, in a straight line from each
// place to the next.
const between = (x, from, to) => {
  let i = 1;
  while (i < from.length - 1 && x > from[i]) i++;
  return to[i - 1] + (x - from[i - 1]) * (to[i] - to[i - 1]) / (from[i] - from[i - 1] || 1);
};
const LEGEND = {'l-op': 'request', 'l-start': 'starting', 'l-run': 'running', 'l-unk': 'unknown, or no answer', 'l-rel': 'released', 'l-late': 'late, discarded', 'l-fault': 'fault (hollow: not fired)'};

// lanesIn puts lanes into box. compact leaves the table out; newest lists the last
// events in view instead of the first. moved is told what is in view, from and to
// in microseconds or null for all of it; chose is told which event is selected.
const lanesIn = (box, {compact, newest, moved = () => {}, chose = () => {}} = {}) => {
  const ROW = 15, LIMIT = 250;
  const canvas = el('canvas', {tabIndex: 0, role: 'img'}), g = canvas.getContext('2d');
  const detail = el('div', {className: 'detail', role: 'status'}), note = el('p', {className: 'note'});
  const facts = table(['ms', 'took ms', 'lane', 'what', 'outcome']), list = el('div', {className: 'list', tabIndex: 0, role: 'region', ariaLabel: 'The same facts as a table'}, facts);
  const legend = el('ul', {className: 'legend', ariaLabel: 'Legend'}, ...Object.entries(LEGEND).map(([c, text]) => el('li', {}, el('i', {className: c}), text)), ...['✓ won', '↯ lost', '✗ rule broken'].map(text => el('li', {}, text)));
  const view = el('div', {className: 'lanes-view'}, canvas, detail, ...compact ? [legend] : [list, legend, note]);
  // v is time as it is drawn: long silences are short.
  let play, job, chosen, broke, ts, vs, full, v0, v1, a, b, next;
  let col, w, h, x0, scale, tops, frame, slow;

  const visible = i => !job || !play.job[i] || play.job[i] === job;
  const inView = i => visible(i) && b[i] >= v0 && a[i] <= v1;
  const x = v => x0 + (v - v0) * scale;
  const slot = i => play.lane[i] * 8 + play.row[i];

  const set = (p, j = 0, zoom = null, n = 0) => {
    play = p; job = j; chosen = n ? p.n.indexOf(n) : -1; broke = new Set(p.marks.map(m => m.n));
    fold();
    [v0, v1] = zoom ? zoom.map(t => between(t, ts, vs)) : [0, full];
    v1 = Math.max(v1, v0 + 1);
    canvas.ariaLabel = `Lanes of ${p.name}: ${p.count} events on ${p.lanes.join(', ')}. ${compact ? 'The excerpt above holds what matters.' : 'The table below holds the same facts.'}`;
    note.textContent = p.leftOut ? `${p.leftOut} more events of this play are in history.jsonl.` : '';
    draw(); fill(); tell();
  };

  // fold shortens stretches in which nothing happens: vs is where the times ts are
  // drawn. It also finds, for each event, the next one in its row.
  const fold = () => {
    const times = [0, play.span], silences = [], after = {};
    next = [];
    for (let i = play.count - 1; i >= 0; i--) {
      if (!visible(i)) continue;
      times.push(play.t0[i], play.t1[i]);
      next[i] = after[slot(i)] ?? -1;
      after[slot(i)] = i;
    }
    let left = play.span, last = 0;
    for (const t of Float64Array.from(times).sort()) {
      if (t - last > play.span * .12) { silences.push([last, t]); left -= t - last; }
      last = t;
    }
    const stub = Math.max(left, play.span * .05) * .06;
    ts = [0]; vs = [0];
    const to = (t, v) => { ts.push(t); vs.push(v); };
    for (const [from, until] of silences) {
      to(from, vs.at(-1) + from - ts.at(-1));
      to(until, vs.at(-1) + Math.min(stub, until - from));
    }
    to(play.span, vs.at(-1) + play.span - ts.at(-1));
    full = vs.at(-1) || 1;
    [a, b] = [play.t0, play.t1].map(l => l.map(t => between(t, ts, vs)));
  };

  const upright = (v, color, dash = []) => {
    const at = Math.round(x(v)) + .5;
    g.strokeStyle = color; g.setLineDash(dash);
    g.beginPath(); g.moveTo(at, 18); g.lineTo(at, h); g.stroke();
    g.setLineDash([]);
    return at;
  };

  const draw = () => {
    if (!play || !canvas.isConnected) return;
    const dpr = devicePixelRatio;
    w = canvas.clientWidth || 600; x0 = w < 560 ? 78 : 124; scale = (w - x0 - 12) / (v1 - v0);
    h = 24; tops = play.rows.map(rows => (h += Math.max(24, rows * ROW + 9)) - Math.max(24, rows * ROW + 9));
    h += 6;
    canvas.style.height = h + 'px';
    for (const [side, size] of [['width', w], ['height', h]]) if (canvas[side] !== Math.round(size * dpr)) canvas[side] = Math.round(size * dpr);
    col = colors();
    g.setTransform(dpr, 0, 0, dpr, 0, 0);
    g.fillStyle = col.card; g.fillRect(0, 0, w, h);
    g.font = '12px system-ui, sans-serif'; g.textBaseline = 'middle'; g.lineWidth = 1;
    ground();
    g.save();
    g.beginPath(); g.rect(x0 - 4, 0, w, h); g.clip();
    for (let i = 0; i < play.count; i++) {
      if (b[i] < v0 || a[i] > v1) continue;
      if (play.look[i] === PHASE) upright(a[i], col.mut, [2, 4]);
      else if (play.look[i] === FIRED) { g.fillStyle = col['fault-bg']; g.fillRect(x(a[i]), 18, Math.max(1, (b[i] - a[i]) * scale), h); }
    }
    items();
    over();
    g.restore();
  };

  // ground is the names of the lanes and the times.
  const ground = () => {
    play.lanes.forEach((lane, i) => {
      g.fillStyle = col.soft; g.globalAlpha = .5;
      if (i % 2) g.fillRect(0, tops[i] - 3, w, (tops[i + 1] || h) - tops[i]);
      g.fillStyle = col.mut; g.globalAlpha = 1;
      g.fillText(fit(g, lane, x0 - 16), 10, tops[i] + 9);
    });
    const steps = Math.max(2, Math.floor((w - x0) / 110));
    for (let k = 0; k <= steps; k++) {
      const v = v0 + (v1 - v0) * k / steps, at = upright(v, col.line), text = ms(between(v, vs, ts)) + (k ? '' : ' ms'), width = g.measureText(text).width;
      g.fillText(text, Math.min(at - (k ? width / 2 : 0), w - width - 4), 10);
    }
  };

  const items = () => {
    // by row: where the ink and the text end, and what was drawn there
    const last = [], said = [], was = [];
    for (let i = 0; i < play.count; i++) {
      if (!inView(i)) continue;
      const k = slot(i), look = LOOKS[play.look[i]], left = x(a[i]), width = (b[i] - a[i]) * scale, y = tops[play.lane[i]] + play.row[i] * ROW + 2;
      // the same pixel again
      if (width < 1.5 && left - last[k] < 1 && look === was[k] && i !== chosen) continue;
      const free = Math.max(last[k] ?? 0, said[k] ?? 0) + 4;
      last[k] = left + Math.max(width, 1); was[k] = look;
      g.strokeStyle = g.fillStyle = col[look.color];
      if (width) bar(look, left, y, Math.max(2, width)); else mark(look, left, y + 6.5);
      if (i === chosen) { g.strokeStyle = col.fg; g.lineWidth = 2; g.strokeRect(left - (width ? 2 : 7), y - 2, width ? Math.max(4, width + 4) : 14, 16); }
      g.lineWidth = 1;
      said[k] = Math.max(said[k] ?? 0, label(i, left, y + 6.5, width, free));
    }
  };

  const mark = (look, left, y) => {
    g.translate(left, y); g.lineWidth = 1.6;
    if (look.solid) g.fill(look.mark); else g.stroke(look.mark);
    g.translate(-left, -y);
  };

  const bar = ({color, fill, dash}, left, y, width) => {
    g.beginPath();
    if (width > 6) g.roundRect(left, y, width, 13, 3); else g.rect(left, y, width, 13);
    if (fill === 'full') { g.fill(); return; }
    g.fillStyle = fill === 'hatch' ? hatch(g, col[color]) : col.card;
    if (fill !== 'none') g.fill();
    g.lineWidth = 1.4; g.setLineDash(dash); g.stroke(); g.setLineDash([]);
  };

  // label writes what there is room for: in the bar, to its right or, at the right
  // edge, to its left. It returns where the text ends.
  const label = (i, left, y, width, free) => {
    const text = play.label[i], look = LOOKS[play.look[i]], lost = play.look[i] === LOST;
    if (!text) return 0;
    const put = (shown, at, struck) => {
      g.fillText(shown, at, y);
      if (lost) g.fillRect(at, y - .5, g.measureText(struck).width, 1.2);
      return at + g.measureText(shown).width;
    };
    if (width > 30) {
      const from = Math.max(left, x0) + 5, inside = Math.min(left + width, w) - from - 3;
      if (inside > 20) {
        g.fillStyle = look.fill === 'full' ? col.card : col.fg;
        const shown = fit(g, text, inside);
        return put(shown, from, shown);
      }
    }
    const at = left + (width ? Math.max(2, width) + 4 : 8), room = (next[i] < 0 ? w - 6 : x(a[next[i]]) - 8) - left - (width || 8);
    if (room < 14 && next[i] >= 0) return 0;
    const long = g.measureText(text).width, bare = text.split(',')[0];
    g.fillStyle = lost || play.look[i] === WON ? col[look.color] : col.fg;
    if (long <= room) return put(text, at, bare);
    if (next[i] < 0 && left - Math.max(x0, free) > long + 12) { put(text, left - long - 9, bare); return 0; }
    return room > 40 ? put(fit(g, text, room), at, '') : 0;
  };

  // over is drawn last: silences, and where a rule broke.
  const over = () => {
    g.strokeStyle = g.fillStyle = col.mut;
    for (let i = 1; i < ts.length - 1; i += 2) {
      const from = x(vs[i]), until = x(vs[i + 1]), at = (from + until) / 2, text = ms(ts[i + 1] - ts[i]) + ' ms of silence', width = g.measureText(text).width;
      g.beginPath();
      for (let y = 18, k = 3; y <= h; y += 6) g.lineTo(at + (k = -k), y);
      g.stroke();
      if (width < until - from) g.fillText(text, at - width / 2, h - 8);
    }
    g.font = 'bold 13px system-ui, sans-serif';
    g.lineWidth = 1.5;
    for (const m of play.marks) {
      const v = between(m.at, ts, vs), broken = m.verdict === 'violation';
      if (v < v0 || v > v1) continue;
      g.fillStyle = broken ? col.late : col.unsure;
      g.fillText(broken ? '✗' : '?', Math.min(upright(v, g.fillStyle) + 4, w - 14), h - 9);
    }
  };

  // ---- the table and the words ----
  const shown = () => [...a.keys()].filter(inView);

  const fill = () => {
    if (compact) return;
    const all = shown(), low = newest && list.scrollTop + list.clientHeight > list.scrollHeight - 40, num = text => el('td', {className: 'num'}, text);
    const rows = (newest ? all.slice(-LIMIT) : all.slice(0, LIMIT)).map(i => {
      const tr = el('tr', {className: broke.has(play.n[i]) ? 'broke' : '', onclick: () => select(i)}, num(ms(play.t0[i])), num(play.took[i] ? ms(play.took[i]) : ''),
        ...[play.lanes[play.lane[i]], play.what[i], play.outcome[i] + (broke.has(play.n[i]) ? '  ✗ here' : '')].map(text => el('td', {}, text)));
      tr.dataset.i = i;
      return tr;
    });
    if (all.length > LIMIT) rows[newest ? 'unshift' : 'push'](el('tr', {}, el('td', {colSpan: 5, className: 'note'}, `${all.length - LIMIT} more in view: zoom in to see them.`)));
    facts.tBodies[0].replaceChildren(...rows);
    point();
    if (low) list.scrollTop = list.scrollHeight;
  };

  const point = scroll => {
    for (const tr of facts.tBodies[0].rows) {
      tr.ariaSelected = tr.dataset.i === String(chosen);
      if (scroll && tr.ariaSelected === 'true') list.scrollTop = tr.offsetTop - list.clientHeight / 2;
    }
  };

  const tell = () => {
    const p = play, i = chosen, word = m => el('b', {className: 'c-' + m.verdict}, `${m.verdict === 'violation' ? '✗' : '?'} ${m.invariant} `);
    const said = p.marks.slice(0, 1).flatMap(m => [word(m), m.sentence]);
    if (i >= 0) {
      said.splice(0, 2, el('b', {}, p.what[i]), ` ${p.lanes[p.lane[i]]}, at ${ms(p.t0[i])} ms${p.took[i] ? `, took ${ms(p.took[i])} ms` : ''}, event ${p.n[i]}`, ...p.outcome[i] ? [el('br'), p.outcome[i]] : [],
        ...p.marks.filter(m => m.n === p.n[i]).flatMap(m => [el('br'), word(m), m.sentence, el('br'), `model expects: ${m.expected}; was found: ${m.found}`]));
    }
    if (!said.length) said.push('Click an event, or use [ and ], to see it. Drag to move, wheel or + and - to zoom, double-click for all.');
    // what is the same is not said again: somebody may hear it
    if (el('p', {}, ...said).textContent !== detail.textContent) detail.replaceChildren(...said);
  };

  const select = (i, quiet) => {
    chosen = i;
    if (i >= 0 && !inView(i)) zoom(a[i] - (v1 - v0) / 2, a[i] + (v1 - v0) / 2);
    draw(); tell(); point(!quiet);
    if (i >= 0) chose(i);
  };

  // ---- moving ----
  const zoom = (from, to) => {
    const span = Math.max(20, Math.min(to - from, full * 1.02));
    v0 = Math.max(-full * .01, Math.min(from, full * 1.01 - span)); v1 = v0 + span;
    frame ||= requestAnimationFrame(() => {
      frame = 0; draw();
      clearTimeout(slow);
      slow = setTimeout(() => { fill(); moved(range()); }, 120);
    });
  };
  const range = () => v0 <= 0 && v1 >= full ? null : [v0, v1].map(v => between(v, vs, ts));
  const zoomAt = (v, by) => zoom(v - (v - v0) * by, v + (v1 - v) * by);
  const shift = by => zoom(v0 + by / scale, v1 + by / scale);
  const step = by => {
    const all = shown(), at = all.indexOf(chosen);
    if (all.length) select(all.at(at < 0 ? Math.min(0, by) : Math.max(0, Math.min(all.length - 1, at + by))));
  };
  // key does what a key or the button of that name means, and says whether it means something.
  const key = name => {
    const act = {'[': () => step(-1), ']': () => step(1), '+': () => zoomAt((v0 + v1) / 2, .67), '=': () => key('+'), '-': () => zoomAt((v0 + v1) / 2, 1.5), 0: () => zoom(0, full), Escape: () => select(-1)}[name];
    if (act && play) act();
    return !!act;
  };

  const hit = ({offsetX, offsetY}) => {
    let best = -1, near = 9;
    for (let i = 0; i < play.count; i++) {
      const top = tops[play.lane[i]] + play.row[i] * ROW, d = Math.max(x(a[i]) - offsetX, offsetX - x(b[i]), 0);
      if (d < near && inView(i) && offsetY >= top - 2 && offsetY <= top + ROW + 2) { near = d; best = i; }
    }
    return best;
  };
  const at = px => v0 + (px - x0) / scale, down = new Map();
  let way = 0;
  const up = e => { if (down.delete(e.pointerId) && way <= 3 && e.type === 'pointerup') select(hit(e), true); };
  Object.assign(canvas, {
    onwheel(e) {
      const sideways = e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY);
      // a picture in a text lets the page scroll
      if (compact && !e.ctrlKey && !sideways) return;
      e.preventDefault();
      if (sideways) shift(e.deltaX || e.deltaY); else zoomAt(at(e.offsetX), Math.exp(e.deltaY * .0015));
    },
    onpointerdown(e) { canvas.setPointerCapture(e.pointerId); down.set(e.pointerId, e.offsetX); way = 0; },
    onpointermove(e) {
      const to = e.offsetX, from = down.get(e.pointerId);
      if (from === undefined) return;
      way += Math.abs(to - from);
      for (const [id, other] of down) if (id !== e.pointerId) zoomAt(at(other), Math.max(.2, Math.min(5, Math.abs(from - other) / Math.max(4, Math.abs(to - other)))));
      if (down.size < 2 && way > 3) shift(from - to);
      down.set(e.pointerId, to);
    },
    onpointerup: up, onpointercancel: up, ondblclick: () => key('0'),
  });

  box.append(view);
  new ResizeObserver(draw).observe(canvas);
  return canvas.lanes = {canvas, view, facts, set, zoom, range, select, key, draw, get chosen() { return play?.n[chosen] ?? 0; }};
};
