// What an answer changes in the state.

/** The address leads back to what the reader looks at. */
function link() {
  const {contains, owner, order} = state.exact ? {} : state;
  const seen = Object.entries({store: state.manager, prefix: state.exact ? '' : state.prefix, key: state.exact, contains, owner, order}).filter(([, value]) => value);
  history.replaceState(null, '', seen.length > 1 ? '#' + new URLSearchParams(seen) : location.pathname + location.search);
}

function follow() {
  const seen = new URLSearchParams(location.hash.slice(1));
  Object.assign(state, {manager: seen.get('store') || '', prefix: seen.get('prefix') || '', exact: seen.get('key') || '', openBlocked: seen.has('key'),
    contains: seen.get('contains') || '', owner: seen.get('owner') || '', order: seen.get('order') || ''});
  for (const name of ['contains', 'owner', 'order']) $(name).value = state[name];
  $('search').value = state.exact || state.prefix;
}

function take(data) {
  const names = Object.keys(data.managers);
  if (!names.includes(state.manager)) state.manager = names[0] || '';
  answered(data, names.length ? data.managers[names[0]].process.owner : '');
  state.data = data;
  recall(data);
  if (state.openBlocked) openBlocked();
  link();
}

/** Keeps what the instance knows of itself, and chooses one to show: the same until it does not answer any more. */
function answered(data, owner) {
  const known = state.instances.get(data.instance) || {events: [], since: 0};
  // Locks that work must not displace the problems.
  const events = known.events.concat(data.events.filter(event => event.number > known.since).map(event => ({...event, instance: data.instance})));
  state.instances.set(data.instance, {owner, data, at: Date.now(), since: events.reduce((last, event) => Math.max(last, event.number), known.since),
    events: [...events.filter(isProblem).slice(-EVENTS_KEPT), ...events.filter(event => !isProblem(event)).slice(-EVENTS_KEPT)]});
  for (const [each, {at}] of state.instances) if (!(state.picked && each === state.instance) && Date.now() - at > FORGET_MILLIS) state.instances.delete(each);
  const shown = state.instances.get(state.instance);
  if (!shown || !state.picked && Date.now() - shown.at > STALE_MILLIS) Object.assign(state, {instance: data.instance, picked: false});
}

/** The last event of each instance that this page knows. */
const known = () => [...state.instances].map(([instance, {since}]) => instance + ':' + since).join();

/** What the instance that is shown said of itself last. */
const own = () => state.instances.get(state.instance).data;
const ownManager = () => own().managers[state.manager] || state.data.managers[state.manager];

/** Instances that have answered lately, the one that is shown first. */
const answering = () => [...state.instances].filter(([each, {at}]) => each === state.instance || Date.now() - at < STALE_MILLIS);

/** The number tells instances with one label apart. */
const labelOf = instance => (state.instances.get(instance) || {owner: ''}).owner + ' · ' + instance;

/** Only one instance knows the name and the thread of a lock: the answers of the others get them from here. */
function recall(data) {
  if (state.instances.size < 2) return;
  if (state.callers.size > 5000) state.callers.clear();
  const fill = (key, target, field) => {
    if (target[field]) state.callers.set(key, target[field]);
    else if (state.callers.has(key)) target[field] = state.callers.get(key);
  };
  for (const [manager, {locks}] of Object.entries(data.managers)) for (const lock of locks) {
    fill([manager, lock.key].join('\n'), lock, 'name');
    for (const holder of lock.holders) fill([manager, lock.key, holder.fence].join('\n'), holder, 'thread');
    for (const waiter of lock.queue) for (const field of ['thread', 'traceId']) fill([manager, lock.key, waiter.owner, waiter.since, field].join('\n'), waiter, field);
  }
}

/** Answers “Why blocked?” for one key, or for those of the list that somebody waits for: the server finds them. */
function openBlocked() {
  const rows = state.exact ? locks() : locks().filter(lock => lock.waiters > 0), more = state.data.managers[state.manager].next ? ' or more' : '';
  state.openBlocked = false;
  state.open = new Set(rows.map(id));
  state.note = state.exact ? '' : rows.length === 0 ? 'Nobody waits for any of these locks.'
    : rows.length === 1 ? 'Callers wait for one of these locks.' : 'Callers wait for ' + rows.length + more + ' of these locks.';
}

/** Sessions of the server are shown for one key only. */
async function lookAtOpenLocks() {
  state.details.clear();
  const open = locks().filter(lock => state.open.has(id(lock))).slice(0, 5);
  if (state.forced && !open.some(lock => lock.key === state.forced.key)) open.push(state.forced);
  await Promise.all(open.map(async lock => {
    if (lock !== state.forced && (lock.sessions.length || state.exact)) return;
    const {body} = await ask('?' + new URLSearchParams({key: lock.key, since: known()}));
    const found = body.managers[state.manager].locks[0];
    if (found) state.details.set(id(lock), found);
  }));
}

const locks = () => state.data && state.data.managers[state.manager] ? state.data.managers[state.manager].locks : [];
