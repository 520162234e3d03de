package io.syncguard.kotlin

import io.syncguard.DistributedLock
import io.syncguard.LockHandle
import io.syncguard.LockNotAcquiredException
import io.syncguard.OnContention
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.reactor.ReactorContext

/** Functions that end later than they return. */
open class Orders {

    // sample: kotlin
    @DistributedLock(name = "order", key = "#id")
    open suspend fun place(id: String, payment: CompletableDeferred<String>): String {
        val lock = currentCoroutineContext()[ReactorContext]!!.context.get(LockHandle::class.java)
        return payment.await() + " under " + lock.key() // locked until here
    }
    // end

    @DistributedLock(name = "order", key = "#id")
    open suspend fun around(id: String, inner: suspend () -> String): String = inner()

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
