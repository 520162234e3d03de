package io.syncguard.kotlin

import io.syncguard.DistributedLock
import io.syncguard.LockHandle
import io.syncguard.autoconfigure.SyncGuardAutoConfiguration
import io.syncguard.autoconfigure.SyncGuardLeaderAutoConfiguration
import io.syncguard.leader.LeaderOnly
import io.syncguard.memory.InMemoryLockBackend
import io.syncguard.scheduling.ScheduledLock
import io.syncguard.spi.LockBackend
import java.io.File
import java.net.URLClassLoader
import java.util.function.Supplier
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flowOf
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource
import org.junit.jupiter.params.provider.ValueSource
import org.springframework.boot.autoconfigure.AutoConfigurations
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration
import org.springframework.boot.test.context.runner.ApplicationContextRunner
import reactor.core.publisher.Mono

/** Classes, functions and data classes of Kotlin are final by default. */
class KotlinMistakesTests {

    private val runner = ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                SyncGuardAutoConfiguration::class.java,
                SyncGuardLeaderAutoConfiguration::class.java,
                AopAutoConfiguration::class.java,
            )
        )
        .withBean(LockBackend::class.java, Supplier<LockBackend> { InMemoryLockBackend() })
        .withPropertyValues("syncguard.leader.elections.order.auto-startup=false")

    @Test
    fun `a class that is not open is refused`() =
        assertRefused(FinalOrders::class.java, "whose class is final", "open before the class and the method")

    @Test
    fun `a function that is not open is refused`() =
        assertRefused(FinalFunction::class.java, "which is final", "open before the method", "kotlin-spring")

    @Test
    fun `a property that a data class does not have is refused`() =
        assertRefused(MisspeltProperty::class.java, "no public 'idd'", "[id]")

    @Test
    fun `a property of a data class is known`() {
        runner.withUserConfiguration(KnownProperty::class.java).run { assertThat(it).hasNotFailed() }
    }

    @Test
    fun `a class that is not open is locked behind a proxy of its interface`() {
        runner.withUserConfiguration(FinalShop::class.java)
            .withPropertyValues("spring.aop.proxy-target-class=false")
            .run { assertThat(it.getBean(Shop::class.java).place()).isEqualTo("order") }
    }

    @ParameterizedTest
    @ValueSource(
        classes = [
            SkippedName::class, SkippedLater::class, SkippedData::class, SkippedAny::class, LedName::class,
        ]
    )
    fun `a result that is never null and has no empty value cannot be skipped`(bean: Class<*>) =
        assertRefused(bean, "a skipped call returns null", "never null", "such as String?")

    @Test
    fun `a property that skips such a call is named`() {
        runner.withUserConfiguration(ThrowingName::class.java).run { assertThat(it).hasNotFailed() }
        runner.withUserConfiguration(ThrowingName::class.java)
            .withPropertyValues("syncguard.locks.order.on-contention=skip")
            .run {
                assertThat(it.startupFailure).rootCause()
                    .hasMessageContainingAll("syncguard.locks.order.on-contention is skip", "never null")
            }
    }

    @ParameterizedTest
    @ValueSource(classes = [SkippedNullable::class, SkippedCount::class, SkippedUnit::class, SkippedOfAnyType::class])
    fun `one that may be null or empty can`(bean: Class<*>) {
        runner.withUserConfiguration(bean).run { assertThat(it).hasNotFailed() }
    }

    @Test
    fun `leaders run no suspending function`() =
        assertRefused(LedLater::class.java, "a suspending function has not ended when it returns")

    @ParameterizedTest
    @CsvSource("Suspending, a suspending function needs", "Flowing, a Flow needs")
    fun `the library that coroutines need is named`(bean: String, message: String) {
        val all = System.getProperty("java.class.path").split(File.pathSeparator)
        val others = all.filterNot { it.contains("kotlinx-coroutines-reactor") }
        assertThat(others).hasSize(all.size - 1)
        val loader = URLClassLoader(
            others.map { File(it).toURI().toURL() }.toTypedArray(), ClassLoader.getPlatformClassLoader()
        )
        val own = Thread.currentThread().contextClassLoader
        Thread.currentThread().contextClassLoader = loader
        try {
            val tests = loader.loadClass(javaClass.name)
            val failure = tests.getMethod("failureOf", Class::class.java)
                .invoke(tests.getConstructor().newInstance(), loader.loadClass(javaClass.name + "$" + bean))

            assertThat(failure as String)
                .contains("return type: $message org.jetbrains.kotlinx:kotlinx-coroutines-reactor")
        } finally {
            Thread.currentThread().contextClassLoader = own
            loader.close()
        }
    }

    /** Also called by reflection, in another class loader. */
    fun failureOf(bean: Class<*>): String {
        var message = ""
        runner.withUserConfiguration(bean).run {
            message = generateSequence(it.startupFailure) { each -> each.cause }.joinToString("\n")
        }
        return message
    }

    private fun assertRefused(bean: Class<*>, vararg parts: String) {
        runner.withUserConfiguration(bean).run {
            assertThat(it.startupFailure).rootCause().hasMessageContainingAll(*parts)
        }
    }

    data class Order(val id: String)

    interface Shop {
        fun place(): String?
    }

    class FinalShop : Shop {
        @DistributedLock(name = "order")
        override fun place(): String? = LockHandle.current().map { it.key() }.orElse(null)
    }

    class FinalOrders {
        @DistributedLock(name = "order")
        fun place() {
        }
    }

    open class FinalFunction {
        @DistributedLock(name = "order")
        fun place() {
        }
    }

    open class MisspeltProperty {
        @DistributedLock(name = "order", key = "#order.idd")
        open fun place(order: Order) {
        }
    }

    open class KnownProperty {
        @DistributedLock(name = "order", key = "#order.id")
        open fun place(order: Order) {
        }
    }

    open class Suspending {
        @DistributedLock("order")
        open suspend fun place(): String = "a"
    }

    open class Flowing {
        @DistributedLock("order")
        open fun all(): Flow<String> = flowOf("a")
    }

    open class LedLater {
        @LeaderOnly("order")
        open suspend fun place(): String? = "a"
    }

    open class SkippedName {
        @ScheduledLock("order")
        open fun name(): String = "a"
    }

    open class SkippedLater {
        @ScheduledLock("order")
        open suspend fun name(): String = "a"
    }

    open class SkippedData {
        @ScheduledLock("order")
        open fun order(): Order = Order("a")
    }

    open class SkippedAny {
        @ScheduledLock("order")
        open suspend fun any(): Any = "a"
    }

    open class LedName {
        @LeaderOnly("order")
        open fun name(): String = "a"
    }

    open class ThrowingName {
        @DistributedLock("order")
        open suspend fun name(): String = "a"
    }

    open class SkippedNullable {
        @ScheduledLock("order")
        open fun name(): String? = "a"

        @ScheduledLock("order")
        open suspend fun order(): Order? = null

        @ScheduledLock("order")
        open fun mono(): Mono<String> = Mono.just("a")

        @ScheduledLock("order")
        open fun flow(): Flow<String> = flowOf("a")

        @get:ScheduledLock("order")
        open val property: String? = null
    }

    open class SkippedCount : Supply<Int> {
        @ScheduledLock("order")
        override fun supply(): Int = 1
    }

    open class SkippedUnit : Supply<Unit> {
        @ScheduledLock("order")
        override fun supply() {
        }
    }

    interface Supply<T> {
        fun supply(): T
    }

    open class SkippedOfAnyType : SkippedValue<String?>(null)

    open class SkippedValue<T>(private val value: T) {
        @ScheduledLock("order")
        open fun supply(): T = value
    }
}
