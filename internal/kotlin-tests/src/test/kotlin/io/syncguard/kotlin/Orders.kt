package io.syncguard.kotlin

import io.syncguard.DistributedLock
import io.syncguard.Fence
import io.syncguard.LockHandle
import io.syncguard.LockNotAcquiredException
import io.syncguard.LockTemplate
import io.syncguard.OnContention
import io.syncguard.scheduling.ScheduledLock
import java.util.Optional
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flowOf
import kotlinx.coroutines.reactor.ReactorContext

/** Functions that end later than they return. */
open class Orders {

    @DistributedLock(name = "order", key = "#id")
    open suspend fun place(id: String, payment: CompletableDeferred<String>): String {
        val lock = currentCoroutineContext()[ReactorContext]!!.context.get(LockHandle::class.java)
        return payment.await() + " under " + lock.key() // locked until here
    }

    @DistributedLock(name = "order", key = "#id")
    open suspend fun current(id: String): Boolean = LockHandle.current().isPresent

    @DistributedLock(name = "order", key = "#id")
    open suspend fun around(id: String, inner: suspend () -> String): String = inner()

    @DistributedLock(name = "partner", permits = "2")
    open suspend fun ask(quote: CompletableDeferred<String>): String = quote.await()

    @DistributedLock(name = "orders")
    open fun all(ids: Flow<String>): Flow<String> = ids

    @DistributedLock(name = "orders")
    open suspend fun allLater(ids: CompletableDeferred<Flow<String>>): Flow<String> = ids.await()

    @DistributedLock(name = "orders")
    open suspend fun nothing() {
    }

    @DistributedLock(name = "orders", onContention = OnContention.SKIP)
    open suspend fun skipping(): String? = "ran"

    @DistributedLock(name = "order", key = "#id", fallback = "later")
    open suspend fun withFallback(id: String): String = id

    open suspend fun later(id: String, refusal: LockNotAcquiredException): String = "$id later, because of ${refusal.key()}"
}

/** Its fallback is a function of the interface. */
interface Deliveries {

    @DistributedLock(name = "order", key = "#id", fallback = "later")
    suspend fun deliver(id: String): String

    suspend fun later(id: String, refusal: LockNotAcquiredException): String = "$id later, because of ${refusal.key()}"
}

open class OwnDeliveries : Deliveries {

    override suspend fun deliver(id: String): String = id
}

interface Sizes<T> {
    suspend fun size(): T
}

/** What skipped functions return. */
open class Skipped : Sizes<Long> {

    @ScheduledLock("orders")
    open suspend fun count(): Int = 1

    @ScheduledLock("orders")
    override suspend fun size(): Long = 1

    @ScheduledLock("orders")
    open suspend fun letter(): Char = 'a'

    @ScheduledLock("orders")
    open suspend fun ready(): Boolean = true

    @ScheduledLock("orders")
    open suspend fun names(): List<String> = listOf("a")

    @ScheduledLock("orders")
    open suspend fun prices(): MutableMap<String, Int> = mutableMapOf("a" to 1)

    @ScheduledLock("orders")
    open suspend fun bytes(): ByteArray = ByteArray(1)

    @ScheduledLock("orders")
    open suspend fun first(): Optional<String> = Optional.of("a")

    @ScheduledLock("orders")
    open suspend fun all(): Flow<String> = flowOf("a")

    @ScheduledLock("orders")
    open suspend fun none(): Int? = 1

    @ScheduledLock("orders")
    open suspend fun name(): String? = "a"

    @ScheduledLock("orders")
    open suspend fun nothing() {
    }
}

/** Functions that lock in code. */
class Payments(private val locks: LockTemplate) {

    fun pay(id: String) = locks.execute<String, RuntimeException>("order:$id") { lock -> charge(id, lock.fence()) }

    private fun charge(id: String, fence: Fence): String = "$id paid with $fence"
}
