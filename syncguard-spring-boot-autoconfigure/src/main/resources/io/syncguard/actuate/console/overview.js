// The parts around the list: title, instances, tiles, advice.

function render() {
  if (!state.data) return;
  if ($('force').open) {
    renderForced();
    return;
  }
  const focused = document.activeElement;
  renderAll();
  // What had the focus is gone or cannot be used any more: the next key must not begin at the top of the page.
  if (focused !== document.body && (!focused.isConnected || focused.disabled)) $('locks-title').focus();
}

function renderAll() {
  renderTitle();
  renderManagers();
  renderTiles();
  renderAdvice();
  renderLocks();
  renderElections();
  renderEvents();
  renderNames();
}

/** What a reader of many tabs looks for. */
function renderTitle() {
  const {totals} = state.data.managers[state.manager].summary, blocked = totals ? totals.waitedFor : 0;
  const bad = answering().some(([, {data}]) => Object.values(data.managers).some(manager => manager.process.outage));
  document.title = (bad ? 'Store away – ' : blocked ? blocked + ' blocked – ' : '') + 'SyncGuard';
}

function renderManagers() {
  const names = Object.keys(state.data.managers);
  renderInstances();
  $('managers').hidden = names.length < 2;
  if (names.join() !== [...$('managers').options].map(each => each.value).join()) {
    show($('managers'), ...names.map(name => el('option', {value: name}, name)));
  }
  $('managers').value = state.manager;
}

/** Which instance the tiles, names and elections are of. */
function renderInstances() {
  const ids = [...state.instances.keys()], {owner, at} = state.instances.get(state.instance);
  const age = Date.now() - at;
  $('instance').textContent = ids.length < 2 ? owner : age > 3 * REFRESH_MILLIS ? 'answered ' + shown(age / 1000) + ' ago' : '';
  $('instances').hidden = ids.length < 2;
  if (ids.join() !== [...$('instances').options].map(each => each.value).join()) {
    show($('instances'), ...ids.map(each => el('option', {value: each}, labelOf(each))));
  }
  $('instances').value = state.instance;
}

function tile(label, value, kind, hint) {
  return el('div', {class: 'tile ' + kind, title: hint}, el('span', {class: 'muted small'}, label), el('b', {}, value));
}

function renderTiles() {
  const process = ownManager().process;
  const lag = process.sinceHeartbeat == null ? null : seconds(process.sinceHeartbeat);
  const pool = process.pool, outage = process.outage;
  show($('tiles'), 
    tile('Store', process.backend + (outage ? ' is away for ' + shown(seconds(outage.elapsed)) : ''), outage ? 'bad' : 'good', outage ? outage.failures + ' requests have failed: ' + (outage.message || outage.code) : 'The store answers'),
    tile('Held by this process', process.held + (process.overdue ? ', ' + process.overdue + ' not extended in time' : ''), process.overdue ? 'bad' : process.grantsLocks ? 'good' : 'warn', process.grantsLocks ? '' : 'The application stops'),
    tile('Waiting in this process', process.waiting, ''),
    tile('Last heartbeat', lag === null ? 'none yet' : shown(lag) + ' ago', process.held > 0 && process.failedHeartbeats > 0 ? 'bad' : 'good', process.failedHeartbeats + ' have failed since'),
    tile('Wake-ups', process.wakeUps == null ? 'not needed yet' : process.wakeUps ? 'arrive' : 'do not arrive', process.wakeUps === false && process.waiting > 0 ? 'warn' : 'good', 'Without them waiters poll'),
    ...(pool ? [tile('Connections in use', pool.active + ' of ' + pool.maximum, pool.awaiting > 0 ? 'bad' : 'good', pool.awaiting + ' threads wait for one')] : []));
}

function renderAdvice() {
  const given = new Map();
  for (const [instance, {data}] of answering()) for (const each of data.advice) {
    const text = JSON.stringify(each);
    given.set(text, {...each, by: [...(given.has(text) ? given.get(text).by : []), instance]});
  }
  const isOfAll = each => each.by.length === answering().length;
  $('advice').hidden = given.size === 0;
  show($('advice').firstElementChild, ...[...given.values()].map(each => el('li', {},
    el('b', {}, each.subject ? [...titled(each.subject, nameOf(each.subject)), ': '] : null, words(each.problem), '. '), words(each.action), '.',
    isOfAll(each) ? null : el('span', {class: 'muted small'}, ' (' + each.by.map(labelOf).join(', ') + ')'))));
}

const nameOf = key => ([...locks(), ...state.data.managers[state.manager].summary.queues].find(lock => lock.key === key) || {}).name;
