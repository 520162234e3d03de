// The list of the locks and their details.

function renderLocks() {
  const rows = locks();
  const next = state.data.managers[state.manager].next;
  $('count').textContent = rows.length + (next ? ' on this page' : '');
  renderTotals();
  renderAge();
  renderOwn();
  $('search').placeholder = state.data.keysShown ? 'Keys that begin with …' : 'The hash of a key';
  $('hidden-keys').hidden = state.data.keysShown;
  $('note').textContent = state.note;
  $('note').hidden = !state.note;
  show($('locks'), ...rows.map(renderLock));
  $('none').textContent = empty();
  $('none').hidden = rows.length > 0;
  $('pages').hidden = !next && !state.after;
  $('first').disabled = !state.after;
  $('next').disabled = !next;
}

/** All locks of the store, whatever the list has. */
function renderTotals() {
  const {totals, age, problem} = state.data.managers[state.manager].summary;
  const count = (number, one, many) => number + ' ' + (number === 1 ? one : many);
  $('totals').hidden = !totals && !problem;
  $('totals').classList.toggle('old', Boolean(problem));
  $('totals').textContent = !totals ? (problem ? 'The locks of the store could not be counted: ' + problem + '.' : '')
    : 'In the store: ' + count(totals.locked, 'key is locked', 'keys are locked') + ' by ' + count(totals.leases, 'lease', 'leases')
    + (totals.leases ? ', held for ' + shown(seconds(totals.longestHold)) + ' at most' : '') + '; '
    + count(totals.waiters, 'caller waits', 'callers wait') + (totals.waiters ? ' for ' + count(totals.waitedFor, 'key', 'keys') + ', for ' + shown(seconds(totals.longestWait)) + ' at most' : '')
    + (problem && age !== null ? ', ' + shown(seconds(age)) + ' ago: ' + problem : '') + '.';
  $('contains').disabled = !state.data.keysShown;
  $('release-all').hidden = !state.owner || settings.writable !== 'true';
}

/** Why the list is old or not complete. */
function renderAge() {
  const {problem, age} = state.data.managers[state.manager];
  $('partial').textContent = !problem ? '' : age === null ? 'The locks could not be read: ' + problem + '.' : 'This list is ' + shown(seconds(age)) + ' old or not complete: ' + problem + '.';
  $('partial').hidden = !problem;
  $('locks').classList.toggle('old', Boolean(problem));
}

/** While the store does not answer, the process still knows its own locks. */
function renderOwn() {
  const {problem} = state.data.managers[state.manager], locks = problem ? ownManager().own : [];
  $('own').hidden = locks.length === 0;
  show($('own-locks'), ...locks.map(lock => el('div', {class: 'item', 'data-own': lock.key},
    el('div', {class: 'line'}, badge(lock.mode, lock.permits ? 'one of ' + lock.permits : ''), el('span', {class: 'key'}, titled(lock.key, lock.name)), el('span', {class: 'grow'}),
      el('span', {class: 'num'}, lock.fence === null ? 'waits for ' + shown(seconds(lock.elapsed)) : 'held for ' + shown(seconds(lock.elapsed)) + ', ' + shown(seconds(lock.timeLeft)) + ' left')),
    el('div', {class: 'small muted'}, 'thread ', words(lock.thread), lock.fence === null ? '' : ' · fence ' + lock.fence))));
}

function empty() {
  if (!state.data.managers[state.manager].complete) return '';
  if (state.exact) return 'Nobody holds “' + state.exact + '” or waits for it.';
  const conditions = [state.prefix && 'has a key that begins with “' + state.prefix + '”', state.contains && 'has a key that contains “' + state.contains + '”',
    state.owner && 'has a holder or waiter whose name contains “' + state.owner + '”'].filter(Boolean).join(' and ');
  return state.onlyQueues ? 'Nobody waits for any lock' + (conditions ? ' that ' + conditions : '') + '.'
    : conditions ? 'No live lock ' + conditions + '.' : 'Nobody holds a lock.';
}

function renderLock(lock) {
  const key = id(lock), open = state.open.has(key), holder = lock.holders[0];
  const longest = holder ? full(key, holder) : 1;
  const left = holder ? seconds(holder.timeLeft) : 0;
  const cell = (kind, ...children) => el('span', {class: kind, role: 'cell'}, ...children);
  return el('div', {class: 'row', role: 'presentation', 'data-lock': lock.key},
    el('div', {class: 'lock', role: 'row', onclick: () => toggle(key)},
      cell('k', el('button', {class: 'toggle key', type: 'button', 'aria-expanded': String(open)}, titled(lock.key, lock.name))),
      cell('who', ...(holder ? [badge(holder.mode), ' ', lock.permits.length && lock.permitsInUse ? [badge('permits', inUse(lock)), ' '] : '', ...words(holder.owner), lock.holders.length > 1 ? ' and ' + (lock.holders.length - 1) + ' more' : ''] : [el('span', {class: 'muted'}, 'nobody')])),
      cell('held num', holder ? shown(heldFor(holder)) : ''),
      cell('left num', holder ? (left < 0 ? 'ended' : shown(left) + ' left') + since() : '', holder ? el('div', {title: 'Time left, of the longest that this page has seen for this grant', class: 'meter' + (left < longest / 4 ? ' low' : '')}, el('i', {style: {width: Math.max(0, Math.min(100, 100 * left / longest)) + '%'}})) : null),
      cell('fence mono num', holder ? String(holder.fence) : ''),
      cell('q', lock.waiters ? badge('queue', lock.waiters + ' waiting') : '')),
    open ? el('div', {role: 'row'}, el('div', {class: 'detail', role: 'cell', 'aria-colspan': '6'}, renderDetail(state.details.get(key) || lock))) : null);
}

/** When the list was read, if that was not now. */
function since() {
  const {problem, age} = state.data.managers[state.manager];
  return problem && age !== null ? ', ' + shown(seconds(age)) + ' ago' : '';
}

/** Callers of one key may ask for one of different numbers. */
const inUse = lock => lock.permitsInUse + ' of ' + lock.permits.join(' or ');

const heldFor = holder => (Date.parse(holder.expiresAt) - Date.parse(holder.since)) / 1000 - seconds(holder.timeLeft);

/** The length of the bar: the largest time left that was seen for this grant. */
function full(key, holder) {
  const grant = key + '\n' + holder.fence, left = seconds(holder.timeLeft);
  if (state.full.size > 5000) state.full.clear();
  state.full.set(grant, Math.max(left, state.full.get(grant) || 0.001));
  return state.full.get(grant);
}

function renderDetail(lock) {
  const key = id(lock);
  const writable = settings.writable === 'true';
  return [
    el('div', {'data-part': 'why'}, el('h3', {}, lock.waiters ? 'Why blocked' : 'Who holds it'), el('p', {class: 'why', style: {margin: 0}}, why(lock))),
    lock.holders.length > 1 ? el('div', {'data-part': 'holders'}, el('h3', {}, 'Holders'), el('ul', {class: 'holders'}, lock.holders.map(holder => el('li', {}, badge(holder.mode), el('span', {}, caller(holder)),
      el('span', {class: 'muted num'}, 'fence ' + holder.fence + ', ' + shown(seconds(holder.timeLeft)) + ' left'),
      writable ? el('button', {class: 'link small', type: 'button', 'data-force-grant': holder.fence, onclick: () => confirmForce(lock, [holder])}, 'Release …') : null)))) : null,
    lock.queue.length ? el('div', {'data-part': 'queue'}, el('h3', {}, 'Queue'), el('ol', {class: 'queue'}, lock.queue.map(waiter => el('li', {},
      el('span', {class: 'pos num'}, waiter.position + '.'), el('span', {}, badge(waiter.mode, waiter.permits ? 'one of ' + waiter.permits : '')), el('span', {class: 'caller'}, caller(waiter)),
      el('span', {class: 'for num'}, 'for ' + shown(seconds(waiter.waiting))),
      el('span', {class: 'behind small muted'}, waiter.blockedBy.length ? words('behind ' + behind(waiter.blockedBy)) : 'next'))),
      lock.waiters > lock.queue.length ? el('li', {class: 'muted'}, 'and ' + (lock.waiters - lock.queue.length) + ' more') : null)) : null,
    lock.sessions.length ? el('div', {'data-part': 'sessions'}, el('h3', {}, 'Sessions of the database that lock its rows'), el('ul', {class: 'sessions'}, lock.sessions.map(session => el('li', {},
      el('span', {class: 'mono'}, String(session.id || '')), el('span', {}, words(session.application || 'unnamed')), el('span', {class: 'muted'}, [session.user, session.state, session.since ? 'since ' + clock(session.since) : '', session.blockedBy.length ? 'waits for session ' + session.blockedBy.join(', ') : ''].filter(Boolean).join(', ')),
      session.statement ? el('span', {class: 'mono small muted'}, words(session.statement)) : null)))) : null,
    copies(lock),
    lock.holders.length && settings.writable !== 'denied' ? el('div', {class: 'foot', 'data-part': 'force'},
      el('button', {class: 'btn', type: 'button', disabled: !writable, 'data-force': lock.key, onclick: () => confirmForce(lock)}, 'Release by force …'),
      writable ? null : el('span', {class: 'muted small'}, 'Read-only: management.endpoint.syncguard.access=unrestricted allows it.')) : null];
}

/** For other tools: what identifies the lock and its holder, and the command that reads it. */
function copies(lock) {
  const holder = lock.holders[0];
  const address = new URL(endpoint + '?' + new URLSearchParams({key: lock.key}), location.href).href;
  const texts = {key: lock.key, ...(holder ? {owner: holder.owner, fence: String(holder.fence)} : {}), curl: "curl '" + address.replace(/'/g, '%27') + "'"};
  return el('div', {class: 'foot', 'data-part': 'copy'}, el('span', {class: 'muted small'}, 'Copy'), Object.entries(texts).map(([name, text]) =>
    el('button', {class: 'link small', type: 'button', 'data-copy': name, 'aria-label': 'Copy ' + name, onclick: () => copy(name, text)}, name)));
}

async function copy(name, text) {
  try {
    await navigator.clipboard.writeText(text);
    state.note = 'Copied: ' + name + '.';
  } catch {
    state.note = 'The browser does not let this page copy. ' + name + ': ' + text;
  }
  render();
}

/** One process may hold several permits. */
function behind(blockers) {
  const times = new Map();
  for (const each of blockers) times.set(each, 1 + (times.get(each) || 0));
  const texts = [...times].map(([each, count]) => each.replace(/^held by /, 'the holder ') + (count > 1 ? ' (' + count + ' times)' : ''));
  return [...texts.slice(0, LISTED), ...(texts.length > LISTED ? [texts.length - LISTED + ' more'] : [])].join(', ');
}

/** The process, and which of its callers it is. */
const caller = each => [...linked(settings.ownerLink, 'owner', each.owner),
  each.thread ? el('span', {class: 'muted thread'}, ' · thread ', words(each.thread)) : null,
  each.traceId ? el('span', {class: 'muted trace'}, ' · trace ', linked(settings.traceLink, 'traceId', each.traceId)) : null];

/** Leads to another tool, if the application knows its address. */
const linked = (address, placeholder, value) => address
  ? [el('a', {href: address.replaceAll('{' + placeholder + '}', encodeURIComponent(value)), target: '_blank', rel: 'noreferrer'}, words(value))] : words(value);

const holds = (holder, lock) => (holder.mode === 'SHARED' ? lock.permits.length ? ' holds a permit' : ' holds it for reading' : ' holds it exclusively');

function why(lock) {
  const parts = [];
  if (lock.holders.length === 0) parts.push('Nobody holds it; the first waiter is about to be granted it.');
  if (lock.permits.length && lock.permitsInUse) parts.push(inUse(lock) + (lock.permitsInUse === 1 ? ' permits is in use. ' : ' permits are in use. '));
  for (const holder of lock.holders.slice(0, 3)) {
    parts.push(...linked(settings.ownerLink, 'owner', holder.owner), holds(holder, lock) + ' since ' + clock(holder.since) + (holder.thread && lock.holders.length === 1 ? ' in the thread ' : ''),
      ...words(holder.thread && lock.holders.length === 1 ? holder.thread : ''), (seconds(holder.timeLeft) < 0 ? '; its lease has ended ' + shown(-seconds(holder.timeLeft)) + ' ago. ' : '. '));
  }
  if (lock.sessions.length) parts.push(lock.sessions.length + (lock.sessions.length === 1 ? ' transaction of the database locks' : ' transactions of the database lock') + ' its rows: a commit under it, or what keeps its operations waiting. ');
  parts.push(lock.waiters === 0 ? 'Nobody waits for it.' : lock.waiters === 1 ? '1 waits.' : lock.waiters + ' wait, in the order below.');
  return parts;
}

function toggle(key) {
  if (!state.open.delete(key)) state.open.add(key);
  render();
  refresh();
}
