// Page time stands still between actions and is moved by the environment (ours).
// Timers, animation frames, Date and performance.now follow it, so that a page is a function
// of its seed and the actions, and no step waits for a wall clock. Runs before any page script.
(() => {
  if (Object.prototype.hasOwnProperty.call(window, '__dynawebClock')) return;
  const START = __EPOCH_MS__;
  const FRAME = 16;      // ms between animation frames
  const ANIMATION = 50;  // a repeating timer faster than this drives an animation: wait for it
  const MAX_NETWORK = 2000; // real ms to wait for answers from a server
  const MAX_CHAIN = 400; // a timer that keeps setting itself again is a loop, not something to wait for
  const RealDate = Date;
  const realFrame = window.requestAnimationFrame.bind(window), realTimeout = window.setTimeout.bind(window);
  const timers = new Map();
  let now = 0, serial = 0, chain = 0, busy = false;

  const add = (kind, fn, delay, args) => {
    const ms = Math.max(kind === 'interval' ? 1 : 0, Math.min(Number(delay) || 0, 2147483647));
    const due = kind === 'frame' ? (Math.floor(now / FRAME) + 1) * FRAME : now + ms;
    timers.set(++serial, {id: serial, kind, fn, due, every: ms, args, chain: chain + 1});
    return serial;
  };
  const drop = (id) => { timers.delete(id); };
  const define = (object, name, value) =>
    Object.defineProperty(object, name, {value, writable: true, configurable: true, enumerable: true});

  define(window, 'setTimeout', (fn, delay, ...args) => add('timeout', fn, delay, args));
  define(window, 'setInterval', (fn, delay, ...args) => add('interval', fn, delay, args));
  define(window, 'requestAnimationFrame', (fn) => add('frame', fn, 0, []));
  define(window, 'requestIdleCallback', (fn) => add('idle', fn, 1, []));
  for (const name of ['clearTimeout', 'clearInterval', 'cancelAnimationFrame', 'cancelIdleCallback']) {
    define(window, name, drop);
  }
  window.Date = new Proxy(RealDate, {
    construct: (target, args, self) =>
      Reflect.construct(target, args.length ? args : [START + now], self === window.Date ? target : self),
    apply: (target) => new target(START + now).toString(),
    get: (target, key) => (key === 'now' ? () => START + now : Reflect.get(target, key)),
  });
  RealDate.prototype.constructor = window.Date;
  performance.now = () => now;

  // Until a task seeds it, Math.random is seeded too (mulberry32).
  let state = 0x9e3779b9;
  Math.random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };

  const channel = new MessageChannel();
  const waiting = [];
  channel.port1.onmessage = () => waiting.shift()();
  const breathe = () => new Promise((done) => { waiting.push(done); channel.port2.postMessage(0); });

  // Scroll events and layout observers come with a drawn frame; a tab in the background draws none.
  const drawn = () => new Promise((done) => { realFrame(done); realTimeout(done, 100); });

  // Answers from a server come in real time: count what is on its way.
  let requests = 0;
  const counted = () => { requests++; let open = true; return () => { if (open) { open = false; requests--; } }; };
  const realFetch = window.fetch, realSend = XMLHttpRequest.prototype.send;
  window.fetch = function fetch(...args) {
    const end = counted(), answer = realFetch.apply(window, args);
    answer.then(end, end);
    return answer;
  };
  for (const name of ['text', 'json', 'blob', 'arrayBuffer', 'formData']) {
    const read = Response.prototype[name];
    Response.prototype[name] = function (...args) {
      const end = counted(), body = read.apply(this, args);
      body.then(end, end);
      return body;
    };
  }
  XMLHttpRequest.prototype.send = function send(...args) {
    this.addEventListener('loadend', counted());
    return realSend.apply(this, args);
  };
  const answered = async () => {
    for (let waited = 0; requests > 0 && waited < MAX_NETWORK; waited += 10) {
      await new Promise((done) => realTimeout(done, 10));
    }
  };

  const first = (filter) => {
    let best = null;
    for (const t of timers.values()) {
      if (filter(t) && (best === null || t.due < best.due || (t.due === best.due && t.id < best.id))) best = t;
    }
    return best;
  };
  const fire = async (t) => {
    now = Math.max(now, t.due);
    if (t.kind === 'interval') { t.due = now + t.every; } else { timers.delete(t.id); }
    chain = t.kind === 'interval' ? 0 : t.chain;
    try {
      if (typeof t.fn !== 'function') { (0, eval)(String(t.fn)); }
      else if (t.kind === 'frame') { t.fn.call(window, now); }
      else if (t.kind === 'idle') { t.fn.call(window, {didTimeout: false, timeRemaining: () => 50}); }
      else { t.fn.apply(window, t.args); }
    } catch (error) { reportError(error); } finally { chain = 0; }
    await breathe();
  };
  const runTo = async (end) => {
    for (let t = first((x) => x.due <= end); t !== null; t = first((x) => x.due <= end)) await fire(t);
    now = Math.max(now, end);
  };
  const finishTransitions = () => {
    for (const a of document.getAnimations()) {
      const end = a.effect && a.effect.getComputedTiming().endTime;
      if (a.playState === 'running' && Number.isFinite(end)) { try { a.finish(); } catch (_) { a.cancel(); } }
    }
  };
  const awaited = (t) => t.kind === 'interval' ? t.every < ANIMATION : t.chain < MAX_CHAIN;

  Object.defineProperty(window, '__dynawebClock', {value: Object.freeze({
    // Let everything that the page has started come to an end: at least `floor` ms, at most `cap` ms.
    async settle(floor, cap, frames) {
      if (busy) return now;
      busy = true;
      try {
        const begin = now;
        for (let i = 0; i < frames; i++) await drawn();
        finishTransitions();
        await runTo(begin + floor);
        const next = () => first((x) => awaited(x) && x.due <= begin + cap);
        for (let t = next(); t !== null || requests > 0; t = next()) {
          if (requests > 0) {
            await answered();
            if (requests > 0) break;
          } else { await runTo(t.due); }
        }
        finishTransitions();
        await breathe();
        return now;
      } finally { busy = false; }
    },
  })});
})();
