"""JavaScript that acts on one element (`this`), in a world of its own that the page cannot reach.

Each gives `{gone: true}` when the element has left the page and `{problem: '...'}` when it refuses.
"""

# `this` is the element. Gives the point to click, or says what is in the way.
POINT = r"""async function() {
  if (!this.isConnected) return {gone: true};
  const el = this.nodeType === 1 ? this : this.parentElement;
  if (el.tagName === 'OPTION' && !el.getClientRects().length) return {problem: 'is inside a closed list; use select_option'};
  const was = el.getBoundingClientRect();
  el.scrollIntoView({block: 'nearest', inline: 'nearest', behavior: 'instant'});
  const is = el.getBoundingClientRect();
  // the page hears of the scrolling with the next frame: before what is done to the element, as with a person
  if (is.x !== was.x || is.y !== was.y) {
    await new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 100); });
  }
  const boxes = [...el.getClientRects()].filter((r) => r.width > 0 && r.height > 0);
  if (!boxes.length) return {problem: 'takes no space on the page'};
  const inside = (hit) => {
    for (let n = hit; n; n = n.parentNode || n.host) { if (n === el) return true; }
    if (!hit) return false;
    if (hit.contains(el) && hit.tagName === 'LABEL') return true;
    return [...(el.labels || [])].some((l) => l.contains(hit));
  };
  const deepest = (x, y) => {
    let hit = document.elementFromPoint(x, y);
    while (hit && hit.shadowRoot) {
      const next = hit.shadowRoot.elementFromPoint(x, y);
      if (!next || next === hit) break;
      hit = next;
    }
    return hit;
  };
  let cover = null;
  for (const box of boxes) {
    const left = Math.max(box.left, 0), right = Math.min(box.right, innerWidth);
    const top = Math.max(box.top, 0), bottom = Math.min(box.bottom, innerHeight);
    if (right <= left || bottom <= top) continue;
    for (const [fx, fy] of [[.5, .5], [.25, .25], [.75, .75], [.1, .5], [.9, .5], [.5, .1], [.5, .9]]) {
      const x = left + (right - left) * fx, y = top + (bottom - top) * fy, hit = deepest(x, y);
      if (inside(hit)) return {x, y};
      cover = cover || hit;
    }
  }
  if (!cover) return {problem: 'cannot be scrolled into view'};
  return {problem: 'is covered by a ' + cover.tagName.toLowerCase() + ' element'};
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
    const range = document.createRange();
    range.selectNodeContents(this);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
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
