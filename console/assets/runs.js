// Draws the newest play of a run while it is recorded, with the script of the
// report. The server says when there is more; what it is, is read here.
'use strict';
(() => {
  const card = document.getElementById('live');
  const lanes = lanesIn(card, {newest: true});
  const signs = {__proto__: null, pass: '✓', violation: '✗', inconclusive: '?', infrastructure: '!'};
  let shown = {run: 0, play: '', revision: -1};
  let reading = false, again = false;

  async function read() {
    if (reading) {
      again = true;
      return;
    }
    reading = true;
    do {
      again = false;
      try {
        const response = await fetch('/runs/lanes?after=' + shown.revision);
        if (response.status === 200) show(await response.json());
      } catch { // the stream says when the server is back
        break;
      }
    } while (again);
    reading = false;
  }

  // show draws what came. The same play keeps its zoom and what is selected.
  function show(now) {
    const same = now.run === shown.run && now.play === shown.play;
    shown = now;
    card.hidden = !now.data;
    document.getElementById('live-name').textContent = now.play;
    if (!now.data) return;
    const {verdict} = now.data.plays[0], state = document.getElementById('live-state');
    const word = verdict in signs ? `${signs[verdict]} ${verdict}` : now.ended ? '! not judged' : '▸ under way';
    if (state.textContent !== word) state.textContent = word;
    state.className = 'badge state-' + (verdict in signs ? verdict : now.ended ? 'failed' : 'running');
    lanes.set(playOf(now.data.plays[0], now.data.texts), 0, same ? lanes.range() : null, same ? lanes.chosen : 0);
  }

  card.addEventListener('click', (event) => {
    const button = event.target.closest('[data-key]');
    if (button) lanes.key(button.dataset.key);
  });
  card.addEventListener('keydown', (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey && lanes.key(event.key)) event.preventDefault();
  });
  document.addEventListener('lanes', ({detail}) => {
    if (detail !== 'lanes') shown.revision = -1; // it may be another console
    read();
  });
  read();
})();
