/**
 * The rules of a key: who is granted it, who waits, and who is woken. They need no store, no lock and no clock.
 * {@link io.syncguard.rules.KeyRules} takes the state of a key, a request and a time, and returns the answer, the rows
 * to write and the messages to send. A store that keeps {@linkplain io.syncguard.rules.KeyState the state} in rows
 * reads it under a lock, runs one rule or several, and {@linkplain io.syncguard.rules.KeyChanges writes} what has
 * changed. The functions of PostgreSQL and the scripts of Redis follow the same rules; tests compare their answers.
 *
 * <h2>Leases</h2>
 *
 * <ul>
 *   <li>A lease is live until one {@linkplain io.syncguard.spi.LockBackend#TOLERANCE_MILLIS tolerance} after its end.
 *       Its holder stops at the end, so it knows of the loss before others are granted the key.
 *   <li>A lapsed lease is in nobody's way. It cannot be extended or released. A grant deletes it.
 *   <li>An extension sets the end to one ttl from now, which may be earlier than before. A rotation extends an
 *       exclusive lease, and gives it the next fence.
 *   <li>Each grant draws a fence that is larger than all before. It is the next number of the counter, and at least a
 *       hundred times the milliseconds of the clock if {@linkplain io.syncguard.spi.FenceSource the clock} is the
 *       source, up to 810 000 000 000 000. Without fences left, nothing is granted.
 *   <li>A lease that is released with a time to hold has no holder, and keeps the key until that time after its grant,
 *       without a tolerance.
 * </ul>
 *
 * <h2>Who is granted the key</h2>
 *
 * <p>A request is granted if no lease and no waiter blocks it:
 *
 * <table>
 *   <caption>What blocks a request</caption>
 *   <tr><th>request</th><th>live leases</th><th>waiters in front</th></tr>
 *   <tr><td>exclusive</td><td>any</td><td>any</td></tr>
 *   <tr><td>with n permits</td><td>an exclusive one, or n shared ones</td><td>any</td></tr>
 *   <tr><td>shared, without permits (reader)</td><td>an exclusive one</td><td>exclusive ones, and ones with
 *       permits</td></tr>
 * </table>
 *
 * <ul>
 *   <li>Each request is judged by its own number of permits. Shared leases without permits count, too.
 *   <li>In front of a waiter are those who arrived before. In front of a caller without a queue entry are all waiters.
 *   <li>A waiter whose entry a hand-over has made a lease gets that lease, with a whole ttl from now.
 *   <li>Requests that are granted together are decided in their order, each by these rules, in one step. No key behind
 *       a refused one is granted.
 * </ul>
 *
 * <h2>The queue</h2>
 *
 * <ul>
 *   <li>A request of a waiter that is blocked gets an entry behind all others, or renews its own, which keeps its
 *       place.
 *   <li>A blocked request of a caller who does not wait is refused, and its entry is deleted if it has one.
 *   <li>An entry lives for one waiter ttl unless it is renewed, without a tolerance. A lapsed one blocks nobody.
 *   <li>The answer to a waiter, and to a renewal, says when the next look is worthwhile: when the first lease or entry
 *       that blocks it ends. If the first waiter can be granted the key now, those in front count as holders. A refusal
 *       says when there is room and nobody in front, if nobody releases or extends.
 * </ul>
 *
 * <h2>Hand-overs</h2>
 *
 * <ul>
 *   <li>A release grants the key to the first waiter in the same step, if that one accepts it: its request allows it,
 *       its process receives messages, and it is exclusive or has permits. Readers are woken together instead.
 *   <li>The waiters behind follow as long as each is the first one, accepts, and has room:
 *       {@value io.syncguard.spi.LockBackend#MAX_HAND_OVERS} at most.
 *   <li>The lease of a hand-over ends one waiter ttl from now, because the waiter may be dead.
 *   <li>Forced releases, releases with a time to hold, and entries that are deleted hand nothing over.
 * </ul>
 *
 * <h2>Wake-ups</h2>
 *
 * <p>A waiter is woken when it can be granted the key, or when its next look was chosen for something that has changed.
 * The front of a queue is the first readers, and the first other waiter.
 *
 * <table>
 *   <caption>Who is woken</caption>
 *   <tr><th>after</th><th>woken are</th></tr>
 *   <tr><td>a release, a forced release, a cleanup</td><td>those who can be granted the key now</td></tr>
 *   <tr><td>a hand-over, a grant to a waiter</td><td>also those whom lapses let in within a third of a waiter ttl, the
 *       longest time between two polls: they may not know of the new lease. A grant to a reader wakes no readers, who
 *       were woken with it</td></tr>
 *   <tr><td>a waiter that leaves</td><td>also those behind it who are first now and waited for it. If it was no reader:
 *       those who are in the front now</td></tr>
 *   <tr><td>an end that comes earlier, a release with a time to hold</td><td>also the whole front</td></tr>
 * </table>
 *
 * <p>A message has the number of the waiter's last request.
 */
@NullMarked
package io.syncguard.rules;

import org.jspecify.annotations.NullMarked;
