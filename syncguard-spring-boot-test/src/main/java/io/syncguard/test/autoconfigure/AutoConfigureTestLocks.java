package io.syncguard.test.autoconfigure;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * Replaces the store of the locks with one in memory, in a {@code @SpringBootTest} or in a slice, so that locks need
 * neither PostgreSQL nor Redis.
 *
 * <p>Within the JVM, the locks are real: callers exclude each other and wait in one queue, leases have fences and are
 * extended, members elect a leader. Each application context has a store of its own. After each test method the store
 * is {@linkplain io.syncguard.test.LockTestControl#reset reset}.
 *
 * <pre>{@code
 * @SpringBootTest
 * @AutoConfigureTestLocks
 * class OrderServiceTests {
 *
 *     @Autowired
 *     LockTestControl locks;
 * }
 * }</pre>
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration
public @interface AutoConfigureTestLocks {

    /**
     * Whether this test has locks. Overrides {@code syncguard.enabled}. Without locks, annotated methods and
     * {@code LockTemplate} run their bodies without a lock.
     */
    boolean enabled() default true;
}
