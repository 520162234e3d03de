// Keys, times and badges as readers see them.

/** Characters that nobody sees, or that change the order of others, as their numbers. */
const visible = text => String(text).replace(/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, each => '\\u' + each.charCodeAt(0).toString(16).padStart(4, '0'))
  .replace(/^\s+$/, each => '\u2423'.repeat(each.length));

/** The text in parts, so that a line ends within none of them, or between the words of one that is longer than a line. */
const words = text => visible(text).split(/(?<=[.:\/@,;=&?|])(?<!\d[.:](?=\d))/).map(part => el('span', {class: 'word'},
  part.split(/(?<=[a-z\d])(?=[A-Z])|(?<=[-_])/).flatMap((word, i) => i ? [el('wbr'), word] : [word])));

/** A key, or the name of the lock and the hash of its key. */
const titled = (key, name) => state.data.keysShown || !name || !key ? words(key || name) : [...words(name), ' ', el('span', {class: 'hash'}, key)];
const title = (key, name) => visible(state.data.keysShown || !name ? key : name + ' (' + key + ')');

/** Seconds of an ISO 8601 duration. */
function seconds(duration) {
  const parts = /^(-?)P(?:(-?\d+)D)?(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?[\d.]+)S)?)?$/.exec(duration || 'PT0S');
  if (!parts) return 0;
  const [days, hours, minutes, rest] = parts.slice(2).map(part => Number(part || 0));
  return (parts[1] ? -1 : 1) * (days * 86400 + hours * 3600 + minutes * 60 + rest);
}

function shown(total) {
  const value = Math.abs(total), sign = total < 0 ? '−' : '';
  if (value > 0 && value < 1) return sign + Math.ceil(value * 1000) + ' ms';
  if (value < 10) return sign + value.toFixed(1) + ' s';
  if (value < 120) return sign + Math.floor(value) + ' s';
  if (value < 7200) return sign + Math.floor(value / 60) + ' min';
  if (value < 172800) return sign + Math.floor(value / 3600) + ' h';
  return sign + Math.floor(value / 86400) + ' d';
}

const ZONE = new Intl.DateTimeFormat('en-GB', {timeZoneName: 'short'}).formatToParts(new Date()).find(part => part.type === 'timeZoneName').value;

/** The local time; the date, too, if it is not today. */
function clock(instant) {
  const at = new Date(instant), time = at.toLocaleTimeString('en-GB');
  return at.toDateString() === new Date().toDateString() ? time : at.toLocaleDateString('en-CA') + ' ' + time;
}

const when = instant => el('time', {datetime: instant, title: new Date(instant).toISOString()}, clock(instant));
const badge = (kind, text) => el('span', {class: 'badge ' + kind.toLowerCase()}, text || kind.toLowerCase().replace('_', ' '));
const id = lock => state.manager + '\n' + lock.key;
