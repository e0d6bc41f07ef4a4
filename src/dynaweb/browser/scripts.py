"""JavaScript that acts on one element (`this`), in a world of its own that the page cannot reach; the last asks the page.

Each gives `{gone: true}` when the element has left the page and `{problem: '...'}` when it refuses.
"""

# `this` is the element. Gives the point to click, or says what is in the way.
POINT = r"""async function() {
  if (!this.isConnected) return {gone: true};
  const el = this.nodeType === 1 ? this : this.parentElement;
  if (el.tagName === 'OPTION' && !el.getClientRects().length) return {problem: 'is inside a closed list; use select_option'};
  // an area of an image map has no box of its own
  const map = el.tagName === 'AREA' && el.closest('map');
  const drawn = (map && el.ownerDocument.querySelector(`img[usemap="#${CSS.escape(map.name)}"]`)) || el;
  const was = drawn.getBoundingClientRect();
  drawn.scrollIntoView({block: 'nearest', inline: 'nearest', behavior: 'instant'});
  const is = drawn.getBoundingClientRect();
  // the page hears of the scrolling with the next frame: before what is done to the element, as with a person
  if (is.x !== was.x || is.y !== was.y) {
    await new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 100); });
  }
  const area = () => {
    const at = el.coords.split(',').map(Number), circle = el.shape === 'circle';
    const middle = (first) => {
      const own = at.filter((_, i) => i % 2 === first);
      return circle ? at[first] : (Math.min(...own) + Math.max(...own)) / 2;
    };
    const left = is.left + middle(0), top = is.top + middle(1);
    return [{left: left - 1, top: top - 1, right: left + 1, bottom: top + 1, width: 2, height: 2}];
  };
  const boxes = drawn === el ? [...el.getClientRects()].filter((r) => r.width > 0 && r.height > 0) : area();
  if (!boxes.length) return {problem: 'takes no space on the page'};
  const inside = (hit) => {
    for (let n = hit; n; n = n.parentNode || n.host) { if (n === el) return true; }
    if (!hit) return false;
    if (hit.contains(el) && hit.tagName === 'LABEL') return true;
    return [...(el.labels || [])].some((l) => l.contains(hit));
  };
  // a closed shadow root is known from what is in it alone
  const closed = new Map();
  for (let root = el.getRootNode(); root.host; root = root.host.getRootNode()) closed.set(root.host, root);
  const page = el.ownerDocument, view = page.defaultView;  // of its frame
  const deepest = (x, y, root = page) => {
    let hit = root.elementFromPoint(x, y);
    while (hit && (hit.shadowRoot || closed.has(hit))) {
      const next = (hit.shadowRoot || closed.get(hit)).elementFromPoint(x, y);
      if (!next || next === hit) break;
      hit = next;
    }
    return hit;
  };
  // from this frame to the page: the same point there, or what is in the way
  const outward = (x, y) => {
    for (let inner = view, hops = 0; inner !== inner.parent; inner = inner.parent, hops++) {
      const frame = inner.frameElement;
      if (!frame) return {x, y, outward: hops};  // the page around it is of another origin, and asked by itself
      const at = frame.getBoundingClientRect(), outer = frame.ownerDocument.defaultView;
      x += at.left + frame.clientLeft; y += at.top + frame.clientTop;
      if (x < 0 || y < 0 || x >= outer.innerWidth || y >= outer.innerHeight) return {};
      const hit = deepest(x, y, frame.ownerDocument);
      if (hit !== frame) return {cover: hit};
    }
    return {x, y};
  };
  let cover = null;
  for (const box of boxes) {
    const left = Math.max(box.left, 0), right = Math.min(box.right, view.innerWidth);
    const top = Math.max(box.top, 0), bottom = Math.min(box.bottom, view.innerHeight);
    if (right <= left || bottom <= top) continue;
    for (const [fx, fy] of [[.5, .5], [.25, .25], [.75, .75], [.1, .5], [.9, .5], [.5, .1], [.5, .9]]) {
      const x = left + (right - left) * fx, y = top + (bottom - top) * fy, hit = deepest(x, y);
      const found = inside(hit) ? outward(x, y) : {cover: hit};
      if (found.problem || 'x' in found) return found;
      cover = cover || found.cover;
    }
  }
  if (!cover) return {problem: 'cannot be scrolled into view'};
  return {problem: 'is covered by a ' + cover.tagName.toLowerCase() + ' element'};
}"""

# `this` holds a frame of another origin; a point in that frame becomes one of the page, as with POINT.
OUTWARD = r"""async function(x, y) {
  if (!this.isConnected) return {gone: true};
  const page = this.ownerDocument, view = page.defaultView;
  const placed = () => {
    const at = this.getBoundingClientRect();
    return [at.left + this.clientLeft + x, at.top + this.clientTop + y];
  };
  const drawn = ([left, top]) => left >= 0 && top >= 0 && left < view.innerWidth && top < view.innerHeight;
  let at = placed();
  if (!drawn(at)) {
    this.scrollIntoView({block: 'nearest', inline: 'nearest', behavior: 'instant'});
    at = placed();
    if (!drawn(at)) view.scrollBy({left: at[0] - view.innerWidth / 2, top: at[1] - view.innerHeight / 2, behavior: 'instant'});
    await new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 100); });
    at = placed();
    if (!drawn(at)) return {problem: 'cannot be scrolled into view'};
  }
  [x, y] = at;
  for (let frame = this, hops = 0; ; hops++) {
    const root = frame.getRootNode(), hit = (root.elementFromPoint ? root : frame.ownerDocument).elementFromPoint(x, y);
    if (hit !== frame) return hit ? {problem: 'is covered by a ' + hit.tagName.toLowerCase() + ' element'} : {problem: 'cannot be scrolled into view'};
    const inner = frame.ownerDocument.defaultView;
    if (inner === inner.parent) return {x, y};
    frame = inner.frameElement;
    if (!frame) return {x, y, outward: hops};
    const box = frame.getBoundingClientRect();
    x += box.left + frame.clientLeft; y += box.top + frame.clientTop;
  }
}"""

FOCUS = r"""function() {
  if (!this.isConnected) return {gone: true};
  this.focus();
  const root = this.getRootNode();
  return root.activeElement === this ? {} : {problem: 'cannot take the keyboard; click it instead'};
}"""

# Text inputs are selected, to be typed over by real input; pickers take their value at once.
PREPARE = r"""function(value) {
  if (!this.isConnected) return {gone: true};
  this.focus();
  const typed = ['text', 'search', 'url', 'tel', 'email', 'password', 'number'];
  const fire = (kind) => this.dispatchEvent(new Event(kind, {bubbles: true, composed: true}));
  if (this.tagName === 'TEXTAREA' || (this.tagName === 'INPUT' && typed.includes(this.type))) {
    if (this.type === 'number' && value !== '' && Number.isNaN(Number(value))) return {problem: 'takes a number only'};
    this.select();
    return {typed: true, empty: this.value === '' && !(this.validity && this.validity.badInput)};
  }
  if (this.tagName === 'INPUT') {
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set, before = this.value;
    set.call(this, value);
    if (value !== '' && this.value !== value && this.type !== 'range') {
      set.call(this, before);
      const form = {date: 'YYYY-MM-DD', time: 'HH:MM', month: 'YYYY-MM', week: 'YYYY-Www', color: '#rrggbb',
                    'datetime-local': 'YYYY-MM-DDTHH:MM'}[this.type];
      return {problem: form ? 'takes ' + form + ' only' : 'does not take this value'};
    }
    fire('input'); fire('change');
    return {typed: false};
  }
  if (this.isContentEditable) {
    const range = this.ownerDocument.createRange(), chosen = this.ownerDocument.getSelection();
    range.selectNodeContents(this);
    chosen.removeAllRanges();
    chosen.addRange(range);
    return {typed: true, empty: this.textContent === ''};
  }
  return {problem: 'cannot be filled; it is not a text field', editable: false};
}"""

SELECT = r"""function(wanted) {
  if (!this.isConnected) return {gone: true};
  if (this.tagName !== 'SELECT') return {problem: 'has no options to select'};
  const clean = (t) => t.replace(/\s+/g, ' ').trim(), chosen = [];
  for (const w of this.multiple ? wanted : wanted.slice(0, 1)) {
    const all = [...this.options];
    const o = all.find((x) => clean(x.label) === clean(w)) || all.find((x) => x.value === w);
    if (!o) return {problem: 'has no option ' + JSON.stringify(w)};
    if (o.disabled) return {problem: 'has option ' + JSON.stringify(w) + ' disabled'};
    chosen.push(o);
  }
  this.focus();
  const before = [...this.selectedOptions];
  for (const o of this.options) o.selected = chosen.includes(o);
  const same = before.length === chosen.length && before.every((o) => chosen.includes(o));
  if (!same) for (const k of ['input', 'change']) this.dispatchEvent(new Event(k, {bubbles: true, composed: true}));
  return {};
}"""

# What pressing `this` would send, and where. A form's own properties may be fields of it, so everything is read through prototypes.
LOOK = r"""function(enter) {
  const start = this.nodeType === 1 ? this : this.parentElement;
  if (!start || !this.isConnected) return {gone: true};
  const get = (el, name) => Element.prototype.getAttribute.call(el, name);
  const inside = 'a[href],area[href],button,input,select,textarea,summary,[role=button],[role=link],[role=menuitem],[onclick]';
  let el = Element.prototype.closest.call(start, 'label') || start;
  if (el.tagName === 'LABEL') el = el.control || start;
  el = Element.prototype.closest.call(el, inside) || el;
  const tag = el.tagName.toLowerCase(), type = (get(el, 'type') || '').toLowerCase();
  const field = ['input', 'button', 'select', 'textarea'].includes(tag);
  const owner = field ? el.form : null;
  const presses = (tag === 'button' && !['button', 'reset'].includes(type)) || (tag === 'input' && ['submit', 'image'].includes(type));
  const types = tag === 'input' && !['submit', 'image', 'button', 'reset', 'file'].includes(type);
  const submits = owner && (presses || (enter && types));
  const text = (tag === 'input' && !types ? el.value : el.innerText) || get(el, 'aria-label') || get(el, 'title') || '';
  const found = {
    tag, type, text: String(text).slice(0, 400), origin: location.origin, form: null,
    href: ['a', 'area'].includes(tag) && get(el, 'href') !== null ? String(el.href) : '',
    acts: ['a', 'area', 'button', 'summary'].includes(tag) || (tag === 'input' && !types) ||
          get(el, 'role') !== null || get(el, 'onclick') !== null,
  };
  if (!submits) return found;
  const by = presses ? el : [...HTMLFormElement.prototype.__lookupGetter__('elements').call(owner)].find(
    (e) => (e.tagName === 'BUTTON' && e.type === 'submit') || (e.tagName === 'INPUT' && ['submit', 'image'].includes(e.type))) || null;
  const of = (name) => (by && get(by, 'form' + name)) || get(owner, name) || '';
  const fields = [], hidden = [];
  for (const [name, value] of new FormData(owner, by)) fields.push([name, typeof value === 'string' ? value : value.name]);
  for (const e of HTMLFormElement.prototype.__lookupGetter__('elements').call(owner)) if (e.type === 'password') hidden.push(e.name);
  const action = new URL(of('action') || location.href, document.baseURI);
  action.hash = '';
  const method = of('method').toUpperCase();
  if (method !== 'POST' && method !== 'DIALOG') action.search = '';
  found.form = {action: String(action), method: ['POST', 'DIALOG'].includes(method) ? method : 'GET', fields, hidden};
  if (by) found.text = String(by.value || by.innerText || found.text).slice(0, 400);
  return found;
}"""

# Origin of the document that has the keyboard; empty where that is a frame which cannot be looked into.
KEYBOARD = r"""(() => {
  for (let root = document; ; ) {
    const at = root.activeElement;
    if (at && at.shadowRoot && at.shadowRoot.activeElement) { root = at.shadowRoot; continue; }
    if (!at || !['IFRAME', 'FRAME', 'OBJECT', 'EMBED'].includes(at.tagName)) return (root.ownerDocument || root).defaultView.origin;
    if (!at.contentDocument) return '';
    root = at.contentDocument;
  }
})()"""
