package io.syncguard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Which manager is current, and which answers are mistakes of the supplier. */
class RoutingLockManagerTests {

    private final LockManager north = LockManager.withoutLocks();
    private final AtomicReference<LockManager> supplied = new AtomicReference<>(north);
    private final LockManager routing = LockManager.routing(supplied::get);

    @Test
    void a_manager_with_a_store_is_current_itself() {
        assertThat(north.current()).isSameAs(north);
    }

    @Test
    void a_routing_manager_names_the_one_of_the_moment() {
        assertThat(routing.current()).isSameAs(north);
        LockManager south = LockManager.withoutLocks();
        supplied.set(south);

        assertThat(routing.current()).isSameAs(south);
    }

    @Test
    void a_routing_manager_may_lead_to_another_one() {
        assertThat(LockManager.routing(() -> routing).current()).isSameAs(north);
    }

    @Test
    void a_supplier_that_returns_null_is_told_so() {
        supplied.set(null);

        assertThatThrownBy(() -> routing.acquire(LockRequest.of("order:42")))
                .isInstanceOfSatisfying(
                        LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                .hasMessageContaining("The supplier of LockManager.routing returned null: return a manager");
    }

    @Test
    void so_is_one_that_leads_back_to_its_own_manager() {
        supplied.set(LockManager.routing(() -> routing));

        assertThatThrownBy(() -> routing.isLocked("order:42"))
                .isInstanceOf(LockException.class)
                .hasMessageContaining("leads back to the routing manager itself");
    }

    @Test
    void what_a_supplier_throws_reaches_the_caller() {
        IllegalStateException noTenant = new IllegalStateException("no tenant");

        assertThatThrownBy(() -> LockManager.routing(() -> {
                            throw noTenant;
                        })
                        .release("AAAAAAAAAAAAAAAAAAAAAA"))
                .isSameAs(noTenant);
    }

    @Test
    void handles_are_closed_without_asking_the_supplier() {
        LockHandles handles = routing.acquire(List.of(LockRequest.of("a"), LockRequest.of("b")));
        supplied.set(null);

        handles.close();

        assertThat(handles.all()).hasSize(2).extracting(LockHandle::state).containsOnly(LockHandle.State.RELEASED);
    }

    static Stream<Consumer<LockAdmin>> operations() {
        return Stream.of(
                LockAdmin::backend,
                admin -> admin.lookup("order:42"),
                admin -> admin.holders("order:42"),
                admin -> admin.lookupById("AAAAAAAAAAAAAAAAAAAAAA"),
                admin -> admin.debugLookup("order:42"),
                admin -> admin.debugLookupById("AAAAAAAAAAAAAAAAAAAAAA"),
                admin -> admin.list(LockQuery.all()),
                LockAdmin::summary,
                admin -> admin.status("order:42"),
                admin -> admin.forceRelease("order:42"));
    }

    @ParameterizedTest
    @MethodSource("operations")
    void an_admin_asks_the_manager_of_the_moment(Consumer<LockAdmin> operation) {
        supplied.set(null);
        LockAdmin admin = routing.admin();
        assertThatThrownBy(() -> operation.accept(admin))
                .hasMessageContaining("The supplier of LockManager.routing returned null");

        supplied.set(north);
        assertThatNoException().isThrownBy(() -> operation.accept(admin));
    }

    @Test
    void a_supplier_is_not_null() {
        assertThatThrownBy(() -> LockManager.routing(null))
                .isInstanceOf(LockException.class)
                .hasMessageContaining("must not be null");
    }
}
