package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.DistributedLock;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import java.util.List;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.stereotype.Component;

/**
 * How a call says what it locks.
 */
@Timeout(60)
class DistributedLockKeysTests {

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    private final ApplicationContextRunner runner = application.with(Keyed.class, Tenant.class, Grants.class);

    @Test
    void a_name_alone_is_the_key() {
        assertKey("name", Keyed::nameOnly);
    }

    @Test
    void a_name_may_come_from_a_property() {
        assertKey("tenant-7-import", Keyed::nameFromProperty);
    }

    @Test
    void a_key_alone_is_the_key() {
        assertKey("42", keyed -> keyed.keyOnly("42"));
    }

    @Test
    void name_and_key_are_joined_by_a_colon() {
        assertKey("order:42", keyed -> keyed.nameAndKey(42));
    }

    @Test
    void a_key_may_be_a_constant() {
        assertKey("constant", Keyed::constant);
    }

    @Test
    void arguments_are_known_by_name() {
        assertKey("a-b", keyed -> keyed.byName("a", "b"));
    }

    @Test
    void arguments_are_known_as_p_and_position() {
        assertKey("a-b", keyed -> keyed.byP("a", "b"));
    }

    @Test
    void arguments_are_known_as_a_and_position() {
        assertKey("a-b", keyed -> keyed.byA("a", "b"));
    }

    @Test
    void properties_of_arguments_are_known() {
        assertKey("order:7", keyed -> keyed.property(new Order("7")));
    }

    @Test
    void the_method_is_known() {
        assertKey("methodName", Keyed::methodName);
    }

    @Test
    void all_arguments_are_known() {
        assertKey("b", keyed -> keyed.arguments("a", "b"));
    }

    @Test
    void the_bean_and_its_class_are_known() {
        assertKey("Keyed-target", Keyed::target);
    }

    @Test
    void other_beans_are_known() {
        assertKey("acme:x", keyed -> keyed.bean("x"));
    }

    @Test
    void the_condition_sees_what_the_key_sees() {
        runner.run(context -> {
            Keyed keyed = context.getBean(Keyed.class);

            assertThat(keyed.conditional("x", true)).contains("x");
            assertThat(keyed.conditional("x", false)).isEmpty();
        });
    }

    @Test
    void a_condition_is_asked_before_the_key() {
        runner.run(context ->
                assertThat(context.getBean(Keyed.class).unlessNull(null)).isEmpty());
    }

    @Test
    void a_condition_that_is_neither_true_nor_false_is_refused_at_the_call() {
        assertRefused(keyed -> keyed.unclear(1), "#amount", "Keyed.unclear", "true");
    }

    @Test
    void an_expression_that_cannot_be_evaluated_is_refused_at_the_call() {
        assertRefused(
                keyed -> keyed.property(null),
                "Keyed.property",
                "attribute 'key'",
                "'#order.id'",
                "there is no 'id' of null");
    }

    @Test
    void a_property_that_an_argument_does_not_have_is_refused_at_the_call() {
        assertRefused(
                keyed -> keyed.misspelt(new Order("7")),
                "Keyed.misspelt",
                "attribute 'key'",
                "'#order.idd'",
                "there is no public 'idd' in " + Order.class.getName());
    }

    @Test
    void a_method_that_an_argument_does_not_have_is_refused_at_the_call() {
        assertRefused(
                keyed -> keyed.misspeltMethod("7"),
                "Keyed.misspeltMethod",
                "attribute 'condition'",
                "there is no public method 'isEmptyy()' in java.lang.String");
    }

    @Test
    void a_method_of_null_is_refused_at_the_call() {
        assertRefused(keyed -> keyed.misspeltMethod(null), "attribute 'condition'", "'isEmptyy()'", "null");
    }

    @Test
    void an_element_of_null_is_refused_at_the_call() {
        assertRefused(keyed -> keyed.element(null), "Keyed.element", "attribute 'key'", "null has no elements");
    }

    @Test
    void a_null_key_is_refused_at_the_call() {
        assertRefused(keyed -> keyed.keyOnly(null), "#id", "Keyed.keyOnly", "null");
    }

    @Test
    void an_empty_key_is_refused_at_the_call() {
        assertRefused(keyed -> keyed.keyOnly(""), "#id", "Keyed.keyOnly", "blank");
    }

    @Test
    void a_blank_key_is_refused_at_the_call() {
        assertRefused(keyed -> keyed.keyOnly(" \t\n"), "#id", "Keyed.keyOnly", "blank");
    }

    @Test
    void an_object_that_has_no_text_of_its_own_is_refused_at_the_call() {
        assertRefused(keyed -> keyed.object(new Object()), "#anything", "Keyed.object", "toString");
    }

    @Test
    void a_null_key_is_refused_also_beneath_a_name() {
        assertRefused(keyed -> keyed.property(new Order(null)), "#order.id", "Keyed.property", "null");
    }

    @Test
    void a_key_that_is_too_long_is_refused_at_the_call() {
        assertRefused(keyed -> keyed.keyOnly("k".repeat(513)), "512");
    }

    private void assertKey(String key, Call call) {
        runner.withPropertyValues("tenant.number=7").run(context -> {
            Grants grants = context.getBean(Grants.class);

            call.on(context.getBean(Keyed.class));

            assertThat(grants.keys).containsExactly(key);
        });
    }

    private void assertRefused(Call call, String... parts) {
        runner.run(context -> {
            ThrowingCallable refused = () -> call.on(context.getBean(Keyed.class));

            assertThatThrownBy(refused)
                    .isInstanceOfSatisfying(
                            LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                    .hasMessageContainingAll(parts)
                    .message()
                    .doesNotContain("MethodCall")
                    .doesNotContainPattern("EL\\d{4}E");
            assertThat(context.getBean(Grants.class).keys).isEmpty();
        });
    }

    @FunctionalInterface
    private interface Call {
        void on(Keyed keyed);
    }

    record Order(@Nullable String id) {}

    @Component("tenant")
    static class Tenant {

        public String getId() {
            return "acme";
        }
    }

    static class Keyed {

        @DistributedLock(key = "#anything")
        void object(Object anything) {}

        @DistributedLock(name = "name")
        public void nameOnly() {}

        @DistributedLock(name = "tenant-${tenant.number:0}-import")
        public void nameFromProperty() {}

        @DistributedLock(key = "#id")
        public void keyOnly(@Nullable String id) {}

        @DistributedLock(name = "order", key = "#id")
        public void nameAndKey(int id) {}

        @DistributedLock(key = "'constant'")
        public void constant() {}

        @DistributedLock(key = "#from + '-' + #to")
        public void byName(String from, String to) {}

        @DistributedLock(key = "#p0 + '-' + #p1")
        public void byP(String from, String to) {}

        @DistributedLock(key = "#a0 + '-' + #a1")
        public void byA(String from, String to) {}

        @DistributedLock(name = "order", key = "#order.id")
        public void property(@Nullable Order order) {}

        @DistributedLock(name = "order", key = "#order.idd")
        public void misspelt(Object order) {}

        @DistributedLock(name = "order", condition = "#id.isEmptyy()")
        public void misspeltMethod(@Nullable Object id) {}

        @DistributedLock(key = "#ids[0]")
        public void element(@Nullable List<String> ids) {}

        @DistributedLock(name = "unclear", condition = "#amount")
        public void unclear(int amount) {}

        @DistributedLock(key = "#root.method.name")
        public void methodName() {}

        @DistributedLock(key = "#root.args[1]")
        public void arguments(String first, String second) {}

        @DistributedLock(key = "#root.targetClass.simpleName + '-' + #root.target.label()")
        public void target() {}

        @DistributedLock(key = "@tenant.id + ':' + #id")
        public void bean(String id) {}

        @DistributedLock(key = "#id", condition = "#locked")
        public Optional<String> conditional(String id, boolean locked) {
            return LockHandle.current().map(LockHandle::key);
        }

        @DistributedLock(key = "#id", condition = "#id != null")
        public Optional<String> unlessNull(@Nullable String id) {
            return LockHandle.current().map(LockHandle::key);
        }

        public String label() {
            return "target";
        }
    }
}
