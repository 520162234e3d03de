// What the page knows, and what it shows.

'use strict';
document.getElementById('shell').hidden = true;
const settings = document.querySelector('meta[name=syncguard]').dataset;
// The address of the page may have a user and a password, with which fetch refuses a URL. The origin has neither.
const endpoint = new URL(settings.endpoint, location.origin + location.pathname).href;
const REFRESH_MILLIS = 2000;
const LONGEST_PAUSE_MILLIS = 10000;
const EVENTS_KEPT = 200;
/** A page that nobody looks at must not keep a session alive. */
const IDLE_MILLIS = 15 * 60 * 1000;
const LISTED = 5;
/** How long another instance is shown as it was when it answered last. A balancer picks one for each request. */
const STALE_MILLIS = 30 * 1000;
const FORGET_MILLIS = 15 * 60 * 1000;
const $ = id => document.getElementById(id);
const state = {data: null, manager: '', prefix: '', exact: '', after: '', contains: '', owner: '', order: '', releasing: null, paused: false, onlyQueues: false, filter: '', reason: '', eventsOf: '',
  open: new Set(), openBlocked: false, note: '', forced: null, details: new Map(), full: new Map(), instances: new Map(), instance: '', picked: false, callers: new Map(),
  asking: false, changed: false, pause: REFRESH_MILLIS, timer: 0, usedAt: Date.now()};
