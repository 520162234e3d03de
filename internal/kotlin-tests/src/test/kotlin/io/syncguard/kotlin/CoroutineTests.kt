package io.syncguard.kotlin

import io.syncguard.LockLostException
import io.syncguard.LockNotAcquiredException
import io.syncguard.LockTemplate
import io.syncguard.reactive.ReactiveLockTemplate
import io.syncguard.test.autoconfigure.AutoConfigureTestLocks
import io.syncguard.test.LockAssertions.assertThatLock
import io.syncguard.test.LockTestControl
import java.util.concurrent.TimeUnit
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.reactor.awaitSingle
import kotlinx.coroutines.reactor.mono
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.springframework.beans.factory.annotation.Autowired
import org.springframework.boot.autoconfigure.EnableAutoConfiguration
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration
import org.springframework.boot.test.context.SpringBootTest
import org.springframework.context.annotation.Configuration
import org.springframework.context.annotation.Import
import org.springframework.transaction.TransactionDefinition
import org.springframework.transaction.reactive.AbstractReactiveTransactionManager
import org.springframework.transaction.reactive.GenericReactiveTransaction
import org.springframework.transaction.reactive.TransactionSynchronizationManager
import org.springframework.transaction.reactive.TransactionalOperator
import org.springframework.transaction.reactive.executeAndAwait
import reactor.core.publisher.Mono

/** A suspending function keeps its lock while it is suspended, and a flow until it ends. */
@SpringBootTest(properties = ["syncguard.wait-time=50ms"])
@AutoConfigureTestLocks
@Timeout(60, unit = TimeUnit.SECONDS)
class CoroutineTests {

    @Autowired
    private lateinit var orders: Orders

    @Autowired
    private lateinit var deliveries: Deliveries

    @Autowired
    private lateinit var skipped: Skipped

    @Autowired
    private lateinit var locks: LockTestControl

    @Autowired
    private lateinit var blocking: LockTemplate

    @Autowired
    private lateinit var template: ReactiveLockTemplate

    @Test
    fun `the lock is held while the function is suspended`() = test {
        val payment = CompletableDeferred<String>()
        val order = async(Dispatchers.Default) { orders.place("42", payment) }
        eventually { isHeld("order:42") }

        payment.complete("paid")

        assertThat(order.await()).isEqualTo("paid under order:42")
        assertThatLock("order:42").isFree()
    }

    @Test
    fun `as many functions are suspended under a lock as it has permits`() = test {
        val quote = CompletableDeferred<String>()
        val quotes = List(2) { async(Dispatchers.Default) { orders.ask(quote) } }
        eventually { blocking.manager().admin().holders("partner").size == 2 }

        assertThat(failureOf { orders.ask(quote) }).isInstanceOf(LockNotAcquiredException::class.java)
        quote.complete("quoted")

        quotes.forEach { assertThat(it.await()).isEqualTo("quoted") }
        assertThat(orders.ask(quote)).isEqualTo("quoted")
        assertThatLock("partner").isFree()
    }

    @Test
    fun `the handle is in the context only`() = test {
        assertThat(orders.current("42")).isFalse()
    }

    @Test
    fun `the template locks a block`() {
        assertThat(Payments(blocking).pay("42")).startsWith("42 paid with ")
    }

    @Test
    fun `a function without a result is one too`() = test {
        orders.nothing()

        assertThatLock("orders").isFree()
    }

    @Test
    fun `a failure reaches the caller and releases the lock`() = test {
        val payment = CompletableDeferred<String>()
        payment.completeExceptionally(IllegalStateException("refused card"))

        assertThat(failureOf { orders.place("42", payment) })
            .isInstanceOf(IllegalStateException::class.java)
            .hasMessage("refused card")
        assertThatLock("order:42").isFree()
    }

    @Test
    fun `a coroutine that is cancelled releases the lock`() = test {
        val order = async(Dispatchers.Default) { orders.place("42", CompletableDeferred()) }
        eventually { isHeld("order:42") }

        order.cancel()

        eventually { !isHeld("order:42") }
    }

    @Test
    fun `a loss ends the function`() = test {
        val order = async(Dispatchers.Default) { runCatching { orders.place("42", CompletableDeferred()) } }
        eventually { isHeld("order:42") }

        locks.endLease("order:42")

        assertThat(order.await().exceptionOrNull()).isInstanceOf(LockLostException::class.java)
    }

    @Test
    fun `a nested call joins the lock on any thread`() = test {
        val placed = orders.around("42") {
            withContext(Dispatchers.Default) { orders.place("42", CompletableDeferred("paid")) }
        }

        assertThat(placed).isEqualTo("paid under order:42")
    }

    @Test
    fun `a function in a transaction keeps the lock until that has ended`() = test {
        val placed = CompletableDeferred<String>()
        val mayCommit = CompletableDeferred<String>()
        val transaction = async(Dispatchers.Default) {
            TransactionalOperator.create(NoDatabase()).executeAndAwait {
                placed.complete(orders.place("42", CompletableDeferred("paid")))
                mayCommit.await()
            }
        }
        placed.await()
        assertThat(isHeld("order:42")).isTrue()

        mayCommit.complete("commit")

        transaction.await()
        assertThatLock("order:42").isFree()
    }

    @Test
    fun `a refusal is thrown`() = test {
        locks.holdElsewhere("order:42")

        assertThat(failureOf { orders.place("42", CompletableDeferred("paid")) })
            .isInstanceOf(LockNotAcquiredException::class.java)
    }

    @Test
    fun `a skipped function returns null`() = test {
        locks.holdElsewhere("orders")

        assertThat(orders.skipping()).isNull()
    }

    @Test
    fun `a skipped function returns what is empty`() = test {
        locks.holdElsewhere("orders")

        assertThat(skipped.count()).isZero()
        assertThat(skipped.size()).isZero()
        assertThat(skipped.letter()).isEqualTo('\u0000')
        assertThat(skipped.ready()).isFalse()
        assertThat(skipped.names()).isEmpty()
        assertThat(skipped.prices()).isEmpty()
        assertThat(skipped.bytes()).isEmpty()
        assertThat(skipped.first()).isEmpty()
        assertThat(skipped.all().toList()).isEmpty()
        assertThat(skipped.none()).isNull()
        assertThat(skipped.name()).isNull()
        assertThat(skipped.nothing()).isEqualTo(Unit)
    }

    @Test
    fun `a fallback may suspend and may ask for the refusal`() = test {
        assertThat(orders.withFallback("42")).isEqualTo("42")
        locks.holdElsewhere("order:42")

        assertThat(orders.withFallback("42")).isEqualTo("42 later, because of order:42")
    }

    @Test
    fun `a fallback may be a function of the interface`() = test {
        assertThat(deliveries.deliver("42")).isEqualTo("42")
        locks.holdElsewhere("order:42")

        assertThat(deliveries.deliver("42")).isEqualTo("42 later, because of order:42")
    }

    @Test
    fun `a flow keeps the lock until it ends`() = test {
        val held = orders.all(heldWhileEmitting())
        assertThatLock("orders").isFree()

        assertThat(held.toList()).containsExactly("held", "held")
        assertThatLock("orders").isFree()
    }

    @Test
    fun `so does a flow that comes later`() = test {
        val held = orders.allLater(CompletableDeferred(heldWhileEmitting()))

        assertThat(held.toList()).containsExactly("held", "held")
        assertThatLock("orders").isFree()
    }

    @Test
    fun `the template runs a coroutine`() = test {
        val held = template.mono("order:42") { mono { isHeld("order:42") } }.awaitSingle()

        assertThat(held).isTrue()
        assertThatLock("order:42").isFree()
    }

    private fun heldWhileEmitting() = flow {
        repeat(2) { emit(if (isHeld("orders")) "held" else "free") }
    }

    private fun isHeld(key: String) = locks.status(key).holders().isNotEmpty()

    private fun test(body: suspend CoroutineScope.() -> Unit) = runBlocking { body() }

    private suspend fun failureOf(body: suspend () -> Unit): Throwable? = runCatching { body() }.exceptionOrNull()

    private suspend fun eventually(condition: () -> Boolean) = withTimeout(10_000) {
        while (!condition()) {
            delay(5)
        }
    }

    /** Its transactions write nothing. */
    private class NoDatabase : AbstractReactiveTransactionManager() {

        override fun doGetTransaction(all: TransactionSynchronizationManager): Any = this

        override fun doBegin(
            all: TransactionSynchronizationManager,
            transaction: Any,
            definition: TransactionDefinition,
        ): Mono<Void> = Mono.empty()

        override fun doCommit(
            all: TransactionSynchronizationManager,
            status: GenericReactiveTransaction,
        ): Mono<Void> = Mono.empty()

        override fun doRollback(
            all: TransactionSynchronizationManager,
            status: GenericReactiveTransaction,
        ): Mono<Void> = Mono.empty()
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(exclude = [DataSourceAutoConfiguration::class])
    @Import(Orders::class, OwnDeliveries::class, Skipped::class)
    open class Application
}
