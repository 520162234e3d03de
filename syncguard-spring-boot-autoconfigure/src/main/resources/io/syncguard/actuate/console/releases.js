// Releases by force and their dialogs.

/** Asks before the release of these grants. Only they end: somebody else may hold the key when the answer is given. */
function confirmForce(lock, grants = lock.holders) {
  state.forced = {...lock, manager: state.manager, grants};
  show($('force-title'), 'Release “', ...titled(lock.key, lock.name), '” by force?');
  $('reason').value = state.reason;
  $('confirm').disabled = !state.reason;
  renderForced();
  $('force').showModal();
  $('reason').focus();
}

/** The grants that will end, and who waits, as of the last answer. */
function renderForced() {
  const {key, manager, grants} = state.forced;
  const lock = manager !== state.manager ? state.forced
    : state.details.get(id(state.forced)) || locks().find(each => each.key === key) || {holders: [], queue: [], waiters: 0, permits: []};
  const isOver = grant => !lock.holders.some(holder => holder.fence === grant.fence);
  const others = lock.holders.filter(holder => !grants.some(grant => grant.fence === holder.fence));
  const list = (kind, members, all, text) => el('ul', {class: kind}, members.slice(0, LISTED).map(each => el('li', {}, text(each))), all > LISTED ? el('li', {class: 'muted'}, 'and ' + (all - LISTED) + ' more') : null);
  show($('force-facts'),
    list('held-by', grants, grants.length, holder => isOver(holder) ? [caller(holder), ' held it under fence ' + holder.fence + ', which is over']
      : [caller(holder), holds(holder, lock) + ' for ', el('span', {class: 'num'}, shown(heldFor(holder)) + ', fence ' + holder.fence)]),
    others.length ? el('p', {class: 'others'}, 'Beside that, these hold it and keep it: ', others.slice(0, LISTED).map(holder => holder.owner + ' (fence ' + holder.fence + ')').join(', ')) : '',
    el('p', {}, lock.waiters === 0 ? 'Nobody waits for it.' : lock.waiters === 1 ? '1 waits for it:' : lock.waiters + ' wait for it:'),
    lock.waiters ? list('waited-by', lock.queue, lock.waiters, waiter => [caller(waiter), ' for ', el('span', {class: 'num'}, shown(seconds(waiter.waiting)))]) : '');
}

/** Ends each grant by itself, and reports what the store did. */
async function force({key, name, manager, grants}, reason) {
  const headers = tokens();
  const ended = [], commits = [];
  let lock = null, problem = '';
  try {
    for (const {fence} of grants) {
      const {status, body} = await ask('?' + new URLSearchParams({key, fence, manager, reason}), {method: 'DELETE', headers});
      if (status === 200 || status === 409) {
        ended.push(...body.released);
        commits.push(...body.remaining.filter(each => each.fence === fence));
        lock = body.lock;
      } else if (status === 404) {
        lock = null;
      } else {
        problem = status === 403 ? 'Refused (403): log in as a user who may release locks, and load this page again.'
          : 'The endpoint syncguard answered ' + status + ': ' + (body.message || body.detail || '');
        break;
      }
    }
  } catch (failure) {
    problem = failure instanceof TypeError ? 'The application does not answer.' : failure.message;
  }
  // Whoever has to log in first need not type it again.
  state.reason = problem ? reason : '';
  report([summary('“' + title(key, name) + '”', grants, ended, commits, lock, problem), problem].filter(Boolean).join(' '));
  refresh();
}

function summary(what, grants, ended, commits, lock, problem) {
  const named = leases => leases.slice(0, LISTED).map(each => each.owner + ' (fence ' + each.fence + ')').join(', ') + (leases.length > LISTED ? ' and ' + (leases.length - LISTED) + ' more' : '');
  const next = !lock ? 'Nobody holds it or waits for it now.'
    : lock.holders.length ? 'Held now by ' + named(lock.holders) + '.' : 'Next in the queue: ' + lock.queue[0].owner + '.';
  if (ended.length) return 'Released ' + what + ' by force: ended ' + named(ended) + '. ' + next;
  if (commits.length) return 'A transaction commits under ' + what + ', so its lease remains: ' + named(commits) + '. Try again when it has ended.';
  return problem ? '' : 'Nothing was released: ' + named(grants) + (grants.length === 1 ? ' does not hold ' : ' do not hold ') + what + ' any more. ' + next;
}

const tokens = () => (settings.csrfHeader ? {[settings.csrfHeader]: settings.csrfToken} : cookieToken());

/** Asks before the release of all leases of an owner: first the store lists them. */
async function confirmAll() {
  const {owner, manager} = state;
  try {
    const {status, body} = await ask('?' + new URLSearchParams({owner, manager, dryRun: true}), {method: 'DELETE', headers: tokens()});
    if (status !== 200 && status !== 404) throw new Error(refusal(status, body));
    const leases = body ? body.leases : [];
    state.releasing = {owner, manager, leases};
    show($('all-title'), 'Release all leases of “', ...words(owner), '”?');
    show($('all-facts'), el('p', {}, leases.length === 0 ? 'No holder has this text in its name.'
      : leases.length === 1 ? '1 lease will end:' : leases.length + ' leases will end:'), body && !body.complete ? el('p', {}, 'There are more. Repeat it for those.') : '');
    show($('all-leases'), ...leases.map(lease => el('li', {'data-part': lease.key + ' ' + lease.fence}, el('span', {class: 'key'}, words(lease.key)), ' ', ...words(lease.owner),
      el('span', {class: 'muted num'}, ', since ' + clock(lease.since) + ', fence ' + lease.fence))));
    $('all-reason').value = '';
    $('all-confirm').disabled = true;
    $('all').showModal();
    $('all-reason').focus();
  } catch (failure) {
    report(failure instanceof TypeError ? 'The application does not answer.' : failure.message);
  }
}

const refusal = (status, body) => (status === 403 ? 'Refused (403): log in as a user who may release locks, and load this page again.'
  : 'The endpoint syncguard answered ' + status + ': ' + (body && (body.message || body.detail) || ''));

/** Ends the leases that were listed, each by its fence, and reports those that have not ended. */
async function releaseAll({owner, manager, leases}, reason) {
  const over = [], remain = [];
  let ended = 0, tried = 0, problem = '';
  try {
    for (const {key, fence} of leases) {
      const {status, body} = await ask('?' + new URLSearchParams({key, fence, manager, reason}), {method: 'DELETE', headers: tokens()});
      if (![200, 404, 409].includes(status)) throw new Error(refusal(status, body));
      tried++;
      if (body && body.released && body.released.length) ended++;
      else if (body && body.remaining && body.remaining.some(each => each.fence === fence)) remain.push(key);
      else over.push(key);
    }
  } catch (failure) {
    problem = failure instanceof TypeError ? 'The application does not answer.' : failure.message;
  }
  const named = keys => keys.slice(0, LISTED).map(key => '“' + key + '”').join(', ') + (keys.length > LISTED ? ' and ' + (keys.length - LISTED) + ' more' : '');
  report(['Released by force: ' + ended + ' of ' + leases.length + ' leases of “' + owner + '”.',
    over.length ? 'Over before: ' + named(over) + '.' : '', remain.length ? 'A transaction commits, so these remain: ' + named(remain) + '.' : '',
    problem ? (leases.length - tried) + ' were not tried, or their outcome is unknown: ' + problem : ''].filter(Boolean).join(' '));
  refresh();
}

/** Where a script may read the token from a cookie, as the repository of Spring Security for such pages does it. */
function cookieToken() {
  const cookie = /(?:^|;\s*)XSRF-TOKEN=([^;]+)/.exec(document.cookie);
  return cookie ? {'X-XSRF-TOKEN': decodeURIComponent(cookie[1])} : {};
}

function report(text) {
  $('done').textContent = text;
  $('done').hidden = false;
  $('done').focus();
}
