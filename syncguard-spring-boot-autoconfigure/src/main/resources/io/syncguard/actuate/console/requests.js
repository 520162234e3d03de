// Requests to the endpoint, one at a time.

async function ask(path, options = {}) {
  const writes = options.method === 'DELETE';
  const answer = await fetch(endpoint + path, {...options, headers: {Accept: 'application/json', ...options.headers}});
  if (answer.redirected || !/json/.test(answer.headers.get('Content-Type') || '')) {
    if (answer.ok) throw loggedOut('The session has ended: log in, and try again.');
    if (answer.status === 404 && writes) return {status: 404, body: null};
    if (answer.status === 401 || answer.status === 403) throw loggedOut('You may not do this (' + answer.status + '): log in as a user with the right, and try again.');
    throw new Error(answer.status === 405 ? 'The endpoint is read-only: set management.endpoint.syncguard.access=unrestricted.'
      : 'The endpoint syncguard answered ' + answer.status + '.');
  }
  const body = await answer.json();
  if (!answer.ok && !writes) throw new Error(body.message || body.detail
    || 'The endpoint syncguard answered ' + answer.status + '.');
  return {status: answer.status, body};
}

/** The login of the application leads back to this page, in another tab: what is typed here stays. */
function loggedOut(text) {
  const failure = new Error(text);
  failure.login = true;
  return failure;
}

/** One request at a time: what is asked for meanwhile follows its answer. */
async function refresh() {
  clearTimeout(state.timer);
  state.changed = true;
  if (state.asking) return;
  state.asking = true;
  const begun = performance.now();
  let works = true;
  while (state.changed) {
    state.changed = false;
    works = await askAndShow();
  }
  state.asking = false;
  // An application that is slow or away has rest.
  state.pause = Math.min(LONGEST_PAUSE_MILLIS, works ? Math.max(REFRESH_MILLIS, 4 * (performance.now() - begun)) : 2 * state.pause);
  schedule();
}

function schedule() {
  clearTimeout(state.timer);
  if (!state.paused && Date.now() - state.usedAt > IDLE_MILLIS) pause(true, 'Paused after ' + IDLE_MILLIS / 60000 + ' minutes without input.');
  if (!state.paused && !document.hidden && !state.asking) state.timer = setTimeout(refresh, state.pause);
}

function pause(paused, note = '') {
  state.paused = paused;
  state.note = note;
  $('note').textContent = note;
  $('note').hidden = !note;
  $('pause').setAttribute('aria-pressed', paused);
  $('pause').textContent = paused ? 'Go on' : 'Pause';
}

async function askAndShow() {
  const query = new URLSearchParams({since: known()});
  if (state.exact) query.set('key', state.exact);
  else if (state.prefix) query.set('prefix', state.prefix);
  if (!state.exact) {
    for (const name of ['after', 'contains', 'owner', 'order']) if (state[name]) query.set(name, state[name]);
    if (state.onlyQueues) query.set('waitedFor', true);
  }
  try {
    const {body} = await ask('?' + query);
    if (state.changed) return true;
    take(body);
    await lookAtOpenLocks();
    $('error').hidden = true;
    document.body.classList.remove('old');
    $('updated').textContent = 'updated ' + clock(Date.now()) + ' ' + ZONE;
    render();
    return true;
  } catch (failure) {
    $('error-text').textContent = (failure instanceof TypeError ? 'The application does not answer.' : failure.message) + ' What this page shows is old.';
    $('error').hidden = false;
    $('login').hidden = !failure.login;
    document.body.classList.add('old');
    return false;
  }
}
