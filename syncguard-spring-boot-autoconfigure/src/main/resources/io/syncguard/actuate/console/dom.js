// Elements, and updates of them in place.

/** Texts are never parsed as HTML. */
function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  element.handlers = {};
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) handle(element, name.slice(2), value);
    else if (name === 'style') Object.assign(element.style, value);
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false));
  return element;
}

/** A handler that an update of the element replaces. */
function handle(element, type, handler) {
  if (!element.handlers[type]) element.addEventListener(type, event => element.handlers[type](event));
  element.handlers[type] = handler;
}

/** What tells an element from its neighbours, so that an update finds it again in another place. */
const keyOf = node => (node.dataset ? node.dataset.part || node.dataset.lock || node.dataset.own || node.dataset.number || node.dataset.name || node.dataset.election || '' : '');

/**
 * Shows these children in place of those that are there. What stays the same is not touched, so a refresh keeps the
 * focus, a selection, and a click that is under way.
 */
function show(parent, ...children) {
  const fresh = [...el('div', {}, children).childNodes];
  const known = new Map([...parent.childNodes].filter(keyOf).map(node => [keyOf(node), node]));
  // Before anything is moved, which takes the focus away.
  const stay = new Set(fresh.map(keyOf));
  known.forEach((node, key) => { if (!stay.has(key)) node.remove(); });
  let next = parent.firstChild;
  for (const each of fresh) {
    const old = keyOf(each) ? known.get(keyOf(each)) : next && !keyOf(next) ? next : null;
    known.delete(keyOf(each));
    if (!old || old.nodeName !== each.nodeName) {
      parent.insertBefore(each, next);
    } else {
      if (old === next) next = next.nextSibling;
      else parent.insertBefore(old, next);
      update(old, each);
    }
  }
  while (next) {
    const gone = next;
    next = next.nextSibling;
    gone.remove();
  }
}

/** By the style's own text: a policy of the page may forbid the attribute. */
function update(old, fresh) {
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  for (const {name} of [...old.attributes]) if (name !== 'style' && !fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const {name, value} of fresh.attributes) if (name !== 'style' && old.getAttribute(name) !== value) old.setAttribute(name, value);
  if (old.style && old.style.cssText !== fresh.style.cssText) old.style.cssText = fresh.style.cssText;
  for (const [type, handler] of Object.entries(fresh.handlers || {})) handle(old, type, handler);
  show(old, ...fresh.childNodes);
}
