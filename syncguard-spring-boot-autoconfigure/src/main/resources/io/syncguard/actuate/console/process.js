// Elections, events and names of the instance that is shown.

function renderElections() {
  const elections = Object.entries(own().elections);
  show($('elections'), ...(elections.length ? elections.map(([name, election]) => {
    const leader = election.lock && election.lock.holders[0];
    const members = election.lock ? election.lock.queue.map(waiter => waiter.owner) : [];
    return el('div', {class: 'item', 'data-election': name},
      el('div', {class: 'line'}, el('b', {}, words(name)), el('span', {class: 'grow'}),
        election.leads ? badge('lead', 'this process leads') : badge('', election.joined ? 'candidate here' : 'not joined here')),
      leader ? el('div', {class: 'leader'}, words(leader.owner), el('div', {class: 'small muted num'}, 'fence ' + leader.fence + ' · leads since ' + clock(leader.since)))
        : el('div', {class: 'leader muted'}, election.known ? 'has no leader' : 'the store has not said who leads'),
      members.length ? el('div', {class: 'small muted'}, 'waiting: ', words(members.join(', '))) : null);
  }) : [el('div', {class: 'empty'}, 'This process takes part in none.')]));
}

const ENDED = ['RELEASED', 'LOST', 'FORCE_RELEASED', 'REVOKED'];
const PROBLEMS = ['LOST', 'LEAKED', 'FAILED', 'FORCE_RELEASED'];
const isProblem = event => PROBLEMS.includes(event.type) || (event.type === 'REVOKED' && event.text === 'lost');
const FILTERS = {'': () => true, ended: event => ENDED.includes(event.type), problems: isProblem, refused: event => event.type === 'REFUSED'};

/** Problems first, and the newest of each kind first. */
function renderEvents() {
  const events = [...state.instances.values()].flatMap(each => each.events).filter(FILTERS[state.filter]).filter(isAskedFor)
    .sort((one, other) => Date.parse(other.at) - Date.parse(one.at) || other.number - one.number);
  const problems = events.filter(isProblem), others = events.filter(event => !isProblem(event));
  const failures = new Map();
  for (const each of problems.filter(event => event.type === 'FAILED')) {
    const equal = [each.instance, each.text].join('\n');
    failures.set(equal, [...(failures.get(equal) || []), each]);
  }
  const group = (title, items) => items.length ? [problems.length ? el('h3', {class: 'group'}, title) : null, ...items] : [];
  show($('events'), ...(events.length ? [...group('Problems', problems.filter(event => event.type !== 'FAILED').map(renderEvent)), ...group('Failed operations', [...failures.values()].map(renderFailures)),
    ...group('Others', others.map(renderEvent))] : [el('div', {class: 'empty'}, state.eventsOf ? 'No event has this text.' : 'Nothing has happened yet.')]));
}

/** Equal failures are one event: an outage fails for each lock at each heartbeat. */
function renderFailures(equal) {
  if (equal.length === 1) return renderEvent(equal[0]);
  const [last] = equal, first = equal[equal.length - 1], keys = new Set(equal.map(each => each.key));
  return el('div', {class: 'item', 'data-event': 'FAILED', 'data-number': last.instance + 'failed' + first.number},
    el('div', {class: 'line'}, badge('FAILED'), keys.size === 1 ? el('span', {class: 'key'}, titled(last.key, last.name)) : el('b', {}, keys.size + ' locks'), el('span', {class: 'grow'}),
      el('span', {class: 'muted small num'}, equal.length + ' times since ', when(first.at), ', last ', when(last.at))),
    el('div', {class: 'small muted'}, words(last.text), of(last.instance)));
}

/** Which instance, if this page knows several. */
const of = instance => state.instances.size > 1 ? [' · ', ...words(labelOf(instance))] : null;

/** Whether the event has the text that the reader looks for in its key, name, text or owner. */
const isAskedFor = event => [event.key, event.name, event.text, labelOf(event.instance)].some(each => each && each.toLowerCase().includes(state.eventsOf.toLowerCase()));

function renderEvent(event) {
  return el('div', {class: 'item', 'data-event': event.type, 'data-number': event.instance + event.number},
    el('div', {class: 'line'}, badge(event.type), el('span', {class: 'key'}, titled(event.key, event.name)), el('span', {class: 'grow'}),
      el('span', {class: 'muted small num'}, when(event.at))),
    el('div', {class: 'small muted'}, words(describe(event)), of(event.instance)));
}

function describe(event) {
  const time = event.elapsed == null ? '' : shown(seconds(event.elapsed));
  const text = {ACQUIRED: 'after ' + time, WAITING: 'somebody holds it', REFUSED: 'after ' + time, RELEASED: 'held for ' + time, LEAKED: 'held for ' + time + ' without a body', LOST: 'after ' + time}[event.type] || '';
  return [text, event.text, event.fence == null ? '' : 'fence ' + event.fence].filter(Boolean).join(' · ');
}

/** What went wrong comes first. */
const COLUMNS = [['Lost', each => each.lost], ['Failed', each => each.failed], ['Refused', each => each.refused],
  ['Longest hold', each => longest(each.longestHeld)], ['Longest wait', each => longest(each.longestWait)], ['Granted', each => each.acquired], ['Released', each => each.released]];
const longest = duration => seconds(duration) > 0 ? shown(seconds(duration)) : '–';

/** The roles remain where the table is shown as cards. */
function renderNames() {
  const names = Object.entries(own().names);
  show($('names'), names.length ? el('table', {role: 'table'},
    el('thead', {role: 'rowgroup'}, el('tr', {role: 'row'}, ['Name', ...COLUMNS.map(([label]) => label)].map((label, column) => el('th', {class: column ? 'r' : '', scope: 'col', role: 'columnheader'}, label)))),
    el('tbody', {role: 'rowgroup'}, names.map(([name, each]) => el('tr', {role: 'row', 'data-name': name}, el('th', {class: 'key', scope: 'row', role: 'rowheader'}, words(name)),
      COLUMNS.map(([label, value]) => el('td', {class: 'r num', role: 'cell', 'data-label': label}, String(value(each))))))))
    : el('div', {class: 'empty'}, 'This process has locked nothing yet.'));
}
