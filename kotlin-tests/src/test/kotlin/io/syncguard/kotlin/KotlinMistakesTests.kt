package io.syncguard.kotlin

import io.syncguard.DistributedLock
import io.syncguard.LockHandle
import io.syncguard.autoconfigure.SyncGuardAutoConfiguration
import io.syncguard.memory.InMemoryLockBackend
import io.syncguard.spi.LockBackend
import java.util.function.Supplier
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.springframework.boot.autoconfigure.AutoConfigurations
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration
import org.springframework.boot.test.context.runner.ApplicationContextRunner

/** Classes, functions and data classes of Kotlin are final by default. */
class KotlinMistakesTests {

    private val runner = ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(SyncGuardAutoConfiguration::class.java, AopAutoConfiguration::class.java)
        )
        .withBean(LockBackend::class.java, Supplier<LockBackend> { InMemoryLockBackend() })

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
}
