// What the reader does. It also begins.

let typing = 0;
$('search').addEventListener('input', () => {
  clearTimeout(typing);
  if (state.data && !state.data.keysShown && $('search').value) return;
  typing = setTimeout(() => { Object.assign(state, {prefix: $('search').value.trim(), exact: '', after: '', note: ''}); refresh(); }, 250);
});
$('exact').addEventListener('click', () => {
  clearTimeout(typing);
  const exact = $('search').value.trim();
  Object.assign(state, {exact, openBlocked: true, after: '', onlyQueues: !exact});
  $('waiting').setAttribute('aria-pressed', state.onlyQueues);
  refresh();
});
for (const name of ['contains', 'owner']) {
  $(name).addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(() => { Object.assign(state, {[name]: $(name).value.trim(), exact: '', after: '', note: ''}); refresh(); }, 250);
  });
}
$('order').addEventListener('change', () => { Object.assign(state, {order: $('order').value, after: ''}); refresh(); });
$('release-all').addEventListener('click', confirmAll);
$('all-cancel').addEventListener('click', () => $('all').close());
$('all-reason').addEventListener('input', () => { $('all-confirm').disabled = !$('all-reason').value.trim() || !state.releasing.leases.length; });
$('all').addEventListener('close', () => {
  if ($('all').returnValue === 'release' && !$('all-confirm').disabled) releaseAll(state.releasing, $('all-reason').value.trim());
  $('all').returnValue = '';
  state.releasing = null;
});
$('search').addEventListener('keydown', event => { if (event.key === 'Enter') $('search').dispatchEvent(new Event('input')); });
$('waiting').addEventListener('click', () => {
  Object.assign(state, {onlyQueues: !state.onlyQueues, exact: '', after: '', note: ''});
  $('waiting').setAttribute('aria-pressed', state.onlyQueues);
  refresh();
});
$('pause').addEventListener('click', () => { pause(!state.paused); schedule(); });
for (const type of ['pointerdown', 'keydown']) document.addEventListener(type, () => { state.usedAt = Date.now(); });
$('managers').addEventListener('change', () => { state.manager = $('managers').value; state.after = ''; refresh(); });
$('instances').addEventListener('change', () => { Object.assign(state, {instance: $('instances').value, picked: true}); render(); });
$('events-of').addEventListener('input', () => { state.eventsOf = $('events-of').value.trim(); renderEvents(); });
$('filter').addEventListener('change', () => { state.filter = $('filter').value; renderEvents(); });
$('first').addEventListener('click', () => { state.after = ''; refresh(); });
$('next').addEventListener('click', () => { state.after = state.data.managers[state.manager].next; refresh(); });
$('retry').addEventListener('click', refresh);
$('login').href = location.href;
$('cancel').addEventListener('click', () => $('force').close());
$('reason').addEventListener('input', () => { $('confirm').disabled = !$('reason').value.trim(); });
$('force').addEventListener('close', () => {
  if ($('force').returnValue === 'release' && !$('confirm').disabled) force(state.forced, $('reason').value.trim());
  $('force').returnValue = '';
  state.forced = null;
});
document.addEventListener('visibilitychange', () => { clearTimeout(state.timer); if (!state.paused && !document.hidden) refresh(); });
follow();
refresh();
