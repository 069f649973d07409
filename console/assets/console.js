// Keeps a page true: when the server says that something changed, the page is
// read again and what is marked data-live is brought up to date in place, so that
// focus, typed text and open details stay. Nothing is drawn from guesses.
'use strict';
(() => {
  const body = document.body;
  const link = document.getElementById('link');
  const lost = document.getElementById('lost');
  const topics = (body.dataset.topics || '').split(' ').filter(Boolean);
  let linked = {state: 'connecting', since: Date.now()};
  let reading = false, again = false, read = Date.now();

  // Bringing up to date.

  function sync(old, fresh) {
    if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName || (old.id || '') !== (fresh.id || '')) {
      old.replaceWith(fresh);
      return;
    }
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
      return;
    }
    for (const {name} of [...old.attributes]) {
      if (!fresh.hasAttribute(name) && !(name === 'open' && old.nodeName === 'DETAILS')) old.removeAttribute(name);
    }
    for (const {name, value} of fresh.attributes) {
      if (old.getAttribute(name) !== value && !(name === 'value' && old.nodeName === 'INPUT')) old.setAttribute(name, value);
    }
    if (old.nodeName === 'TEXTAREA' || old.nodeName === 'SELECT') return; // what is typed stays
    if (old.dataset && 'from' in old.dataset) return; // a running clock, see tick
    const kept = [...old.childNodes], wanted = [...fresh.childNodes];
    wanted.forEach((node, i) => {
      if (i < kept.length) sync(kept[i], node);
      else old.append(node);
    });
    kept.slice(wanted.length).forEach((node) => node.remove());
  }

  async function refresh() {
    if (reading) {
      again = true;
      return;
    }
    reading = true;
    do {
      again = false;
      try {
        const response = await fetch(location.href, {headers: {'X-Live': '1'}, redirect: 'error'});
        const page = new DOMParser().parseFromString(await response.text(), 'text/html');
        if (!page.body.dataset.console) break; // no page of ours: the banner says what is wrong
        await frame();
        merge(page);
        read = Date.now();
      } catch { // the stream says when the server is back
        break;
      }
    } while (again);
    reading = false;
  }

  function frame() { // a tab that nobody sees draws no frames, and is brought up to date all the same
    return new Promise((done) => {
      requestAnimationFrame(done);
      setTimeout(done, document.hidden ? 0 : 100);
    });
  }

  function merge(page) {
    if (!page.querySelector('[data-live]:not(nav)') !== !document.querySelector('[data-live]:not(nav)') || page.title !== document.title) {
      sync(document.getElementById('main'), page.getElementById('main')); // it has become another page
      document.title = page.title;
    }
    for (const old of document.querySelectorAll('[data-live]')) {
      const fresh = page.getElementById(old.id);
      if (fresh) sync(old, fresh);
    }
    const key = document.querySelector('#next[data-key]');
    const field = document.querySelector('input[data-next]');
    if (key && field && field.dataset.sent === field.value) field.value = key.dataset.key;
    tick();
  }

  function concerns(kind, id) {
    if (kind === 'resync' || kind === 'store') return true;
    return topics.some((topic) => topic === kind || topic === kind + ':' + id) || menu(kind);
  }

  // heard brings up to date what a message concerns. Lanes read their own data.
  function heard(kind, id) {
    if (kind === 'lanes' || kind === 'resync') document.dispatchEvent(new CustomEvent('lanes', {detail: kind}));
    if (concerns(kind, id)) refresh();
  }

  function menu(kind) { // the counts beside the pages
    return kind === 'job' || kind === 'provider' || kind === 'fault';
  }

  // The link to the server.

  function onLink(next) {
    const was = linked.state;
    linked = next;
    if (next.state === 'live' && was !== 'live') heard('resync');
    showLink();
  }

  function showLink() {
    const live = linked.state === 'live';
    link.className = 'live ' + (live ? 'is-live' : linked.state === 'lost' ? 'is-lost' : '');
    const word = live ? 'live' : linked.state === 'lost' ? 'connection lost' : 'connecting';
    const place = link.querySelector('.word');
    if (place.textContent !== word) place.textContent = word;
    lost.hidden = linked.state !== 'lost';
    if (!lost.hidden) {
      const age = Math.max(0, Math.round((Date.now() - linked.since) / 1000));
      lost.textContent = `The console does not answer since ${age} s. What you see is as it was at ${new Date(read).toLocaleTimeString()}; it is read again as soon as the console is back.`;
    }
  }

  function listen() {
    if (!window.SharedWorker) { // some phones: look every two seconds
      setInterval(async () => {
        try {
          const response = await fetch('/healthz');
          const {revision} = await response.json();
          onLink({state: 'live', since: Date.now()});
          if (revision !== listen.revision) heard('resync');
          listen.revision = revision;
        } catch {
          onLink({state: 'lost', since: linked.state === 'lost' ? linked.since : Date.now()});
        }
      }, 2000);
      return;
    }
    const worker = new SharedWorker('/assets/live.js', {name: 'interlock'});
    worker.port.onmessage = ({data}) => {
      if (data.kind === 'link') onLink(data);
      else heard(data.kind, data.id);
    };
    window.addEventListener('pagehide', () => worker.port.postMessage('bye'));
    window.addEventListener('pageshow', (event) => { if (event.persisted) location.reload(); });
    worker.port.start();
  }

  // Clicks: the answer comes into the page that stands there.

  async function send(event) {
    const form = event.target, button = event.submitter;
    const place = document.getElementById(form.dataset.answer || '');
    if (!place || form.method !== 'post') return;
    event.preventDefault();
    if (form.getAttribute('aria-busy') === 'true') return;
    const data = new URLSearchParams(new FormData(form, button));
    const field = form.querySelector('input[data-next]');
    if (field) field.dataset.sent = field.value;
    form.setAttribute('aria-busy', 'true');
    if (button) button.setAttribute('aria-busy', 'true');
    try {
      const response = await fetch(button && button.hasAttribute('formaction') ? button.formAction : form.action, {
        method: 'POST', body: data, headers: {'X-Live': '1'},
      });
      const page = new DOMParser().parseFromString(await response.text(), 'text/html');
      const answer = page.querySelector('.answer');
      place.replaceChildren(answer || say('The console did not understand that.'));
      if (answer && answer.dataset.go) {
        location.assign(answer.dataset.go);
        return;
      }
      if (answer && answer.dataset.job && 'follow' in form.dataset) {
        history.replaceState(null, '', '?job=' + encodeURIComponent(answer.dataset.job));
      }
    } catch {
      place.replaceChildren(say('The console does not answer. Whether the click arrived is not known; the page tells once it is back.'));
    } finally {
      form.removeAttribute('aria-busy');
      if (button) button.removeAttribute('aria-busy');
    }
    refresh();
  }

  function say(text) {
    const p = document.createElement('p');
    p.className = 'answer bad';
    p.textContent = text;
    return p;
  }

  // Clocks that run, and lanes that grow.

  function span(ms) {
    if (ms < 1000) return Math.max(0, Math.round(ms)) + ' ms';
    if (ms < 60000) return (ms / 1000).toFixed(1) + ' s';
    return Math.floor(ms / 60000) + ' min ' + Math.floor(ms % 60000 / 1000) + ' s';
  }

  function tick() {
    for (const place of document.querySelectorAll('[data-from]')) place.textContent = span(Date.now() - place.dataset.from);
  }

  setInterval(() => {
    tick();
    if (linked.state === 'lost') showLink();
  }, 500);
  setInterval(() => {
    if (linked.state === 'live' && !document.hidden && document.querySelector('svg[data-open]')) refresh();
  }, 1000);

  // Dark or light.

  const theme = document.getElementById('theme');
  const root = document.documentElement;
  try {
    if (localStorage.theme) root.dataset.theme = localStorage.theme;
  } catch { /* no storage: the choice holds for this page */ }
  theme.hidden = false;
  theme.addEventListener('click', () => {
    const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
    try {
      localStorage.theme = root.dataset.theme;
    } catch { /* as above */ }
  });

  document.addEventListener('submit', send);
  tick();
  showLink();
  listen();
})();
