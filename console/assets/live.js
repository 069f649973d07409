// One event stream for all tabs of a browser: browsers open six connections to
// one server at most, and each stream would take one of them for ever.
'use strict';
const ports = new Set();
const kinds = ['job', 'provider', 'fault', 'gate', 'run', 'lanes', 'tour', 'store', 'resync'];
let now = {state: 'connecting', since: Date.now()};
let source = null;

function tell(message) {
  for (const port of ports) port.postMessage(message);
}

function become(state) {
  if (now.state === state) return;
  now = {state, since: Date.now()};
  tell({kind: 'link', ...now});
}

function connect() {
  source = new EventSource('/events');
  source.addEventListener('hello', () => become('live'));
  for (const kind of kinds) {
    source.addEventListener(kind, (event) => tell({kind, id: event.data}));
  }
  source.onerror = () => {
    become('lost');
    if (source.readyState === EventSource.CLOSED) { // refused: it does not try again by itself
      source.close();
      setTimeout(connect, 1000);
    }
  };
}

onconnect = (event) => {
  const port = event.ports[0];
  ports.add(port);
  port.onmessage = (message) => {
    if (message.data === 'bye') ports.delete(port);
  };
  port.postMessage({kind: 'link', ...now});
  if (!source) connect();
};
