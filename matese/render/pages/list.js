// A list of which only what can be seen is drawn. Heights are guessed until a row has been drawn, then known; rows
// above that turn out otherwise than guessed do not move what is being read.
const makeList = (box, draw, guess) => {
  let order = [], offsets = new Float64Array(1), heights = [], drawn = new Map(), isWhole = false;

  const place = () => {
    offsets = new Float64Array(order.length + 1);
    order.forEach((row, at) => { offsets[at + 1] = offsets[at] + (heights[row] ?? guess(row)); });
  };
  const find = (offset) => { // the position of the row at an offset
    let low = 0, high = order.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (offsets[middle + 1] > offset) high = middle; else low = middle + 1;
    }
    return Math.min(low, Math.max(0, order.length - 1));
  };
  const top = () => box.getBoundingClientRect().top;

  const show = (first, last) => {
    for (const [at, node] of drawn) if (at < first || at >= last) { node.remove(); drawn.delete(at); }
    let after = null;
    const added = [];
    for (let at = last - 1; at >= first; at--) {
      if (!drawn.has(at)) {
        const node = draw(order[at], at, order.length);
        drawn.set(at, node);
        box.insertBefore(node, after);
        added.push(node);
      }
      after = drawn.get(at);
    }
    box.style.paddingTop = `${offsets[first]}px`;
    box.style.paddingBottom = `${offsets[order.length] - offsets[last]}px`;
    added.forEach(keepLabelsInside); // measures: not before the list has its height again, or the browser would scroll
  };
  const measure = () => { // whether a row was otherwise than guessed
    let isNew = false;
    for (const [at, node] of drawn) {
      const height = node.getBoundingClientRect().height;
      if (Math.abs((heights[order[at]] ?? -1) - height) > 0.5) { heights[order[at]] = height; isNew = true; }
    }
    return isNew;
  };
  const render = () => {
    if (isWhole) return;
    for (let round = 0; round < 4; round++) {
      const seen = -top(), room = window.innerHeight;
      const first = find(Math.max(0, seen - room)), last = Math.min(order.length, find(seen + 2 * room) + 1);
      show(first, last);
      const anchor = find(Math.max(0, seen)), before = offsets[anchor];
      if (!measure()) return;
      place();
      show(first, last);
      if (seen > 0 && offsets[anchor] !== before) window.scrollBy(0, offsets[anchor] - before);
    }
  };
  const clear = () => { for (const node of drawn.values()) node.remove(); drawn.clear(); };

  let isAsked = false;
  const ask = () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => { isAsked = false; render(); });
  };
  window.addEventListener("scroll", ask, { passive: true });
  window.addEventListener("resize", () => { heights = []; place(); ask(); keepLabelsInside(box); });
  // On paper there is nothing to scroll: everything that the filters leave is drawn.
  window.addEventListener("beforeprint", () => {
    isWhole = true;
    show(0, order.length);
    box.style.paddingTop = box.style.paddingBottom = "0";
  });
  window.addEventListener("afterprint", () => { isWhole = false; clear(); render(); });

  return {
    set(rows) { clear(); order = rows; place(); render(); },
    redraw() { clear(); heights = []; place(); render(); },
    refresh(row) { // draws one row anew and returns its element; null if it is not drawn now
      const at = order.indexOf(row), old = drawn.get(at);
      if (!old) return null;
      const node = draw(row, at, order.length);
      old.replaceWith(node);
      keepLabelsInside(node);
      drawn.set(at, node);
      render();
      return node;
    },
    rows: () => order,
    current() { return find(Math.max(0, -top() + box.ownerDocument.getElementById("controls").offsetHeight + 4)); },
    reveal(at) { // scrolls to a row and returns its element
      for (let round = 0; round < 3; round++) {
        const bar = document.getElementById("controls").offsetHeight;
        window.scrollTo(0, window.scrollY + top() + offsets[at] - bar - 2);
        render();
      }
      return drawn.get(at);
    },
  };
};
