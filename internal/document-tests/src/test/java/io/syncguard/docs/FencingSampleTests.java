package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.DistributedLock;
import io.syncguard.Fence;
import io.syncguard.LockHandle;
import io.syncguard.LockTemplate;
import io.syncguard.StaleFenceException;
import io.syncguard.fencing.FenceGuard;
import io.syncguard.testing.FencingApplications;
import io.syncguard.web.FenceHeaderInterceptor;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.web.servlet.client.MockMvcClientHttpRequestFactory;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.RestClient;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

/** The samples of docs/fencing.md, compiled and run. {@link DocumentationTests} checks that both are equal. */
@Timeout(60)
class FencingSampleTests {

    private static final Fence OLD = new Fence(4);

    private static final Fence NEW = new Fence(5);

    @Test
    void a_guard_in_a_service() {
        run(context -> {
            Accounts accounts = context.getBean(Accounts.class);
            accounts.book("42", 100, NEW);

            assertThatThrownBy(() -> accounts.book("42", 10, OLD)).isInstanceOf(StaleFenceException.class);
            accounts.book("42", 1, NEW);

            assertThat(cents(context)).isEqualTo(101);
        });
    }

    @Test
    void a_guard_by_the_annotation() {
        run(context -> {
            Transfers transfers = context.getBean(Transfers.class);
            transfers.book("42", 100);
            context.getBean(Accounts.class).book("42", 10, NEW);

            assertThatThrownBy(() -> transfers.book("42", 1)).isInstanceOf(StaleFenceException.class);

            assertThat(cents(context)).isEqualTo(110);
        });
    }

    @Test
    void a_fence_in_a_column_of_the_table() {
        run(context -> {
            FenceColumn accounts = context.getBean(FenceColumn.class);
            accounts.set("42", 100, NEW);

            assertThatThrownBy(() -> accounts.set("42", 10, OLD)).isInstanceOf(IllegalStateException.class);
            accounts.set("42", 101, NEW);

            assertThat(cents(context)).isEqualTo(101);
        });
    }

    @Test
    void a_fence_in_an_object_store() {
        ObjectStore store = new ObjectStore();
        Reports reports = new Reports(store);
        reports.put("report", "new", NEW);

        assertThatThrownBy(() -> reports.put("report", "old", OLD)).isInstanceOf(StaleFenceException.class);
        reports.put("report", "again", NEW);
        store.beforeNextPut = () -> reports.put("report", "meanwhile", new Fence(6));
        assertThatThrownBy(() -> reports.put("report", "late", NEW)).isInstanceOf(StaleFenceException.class);

        assertThat(store.objects.get("report").content()).isEqualTo("meanwhile");
    }

    @Test
    void a_fence_in_a_message() {
        run(context -> {
            Publisher publisher = new Publisher();
            Consumer<Message> consumer = context.getBean(Subscriber.class)::receive;
            LockTemplate locks = context.getBean(LockTemplate.class);
            Message late = locks.execute("account:42", lock -> publisher.message("42", 100));
            Message next = locks.execute("account:42", lock -> publisher.message("42", 10));

            consumer.accept(next);
            consumer.accept(late);

            assertThat(cents(context)).isEqualTo(10);
        });
    }

    @Test
    void a_fence_over_http() {
        run(context -> {
            LockTemplate locks = context.getBean(LockTemplate.class);
            RestClient.Builder builder = RestClient.builder()
                    .requestFactory(new MockMvcClientHttpRequestFactory(
                            MockMvcBuilders.webAppContextSetup(context).build()));
            LedgerClient ledger = new LedgerClient(builder, context.getBean(FenceHeaderInterceptor.class), locks);
            ledger.book("42", 100);
            context.getBean(Accounts.class).book("42", 10, NEW);

            assertThatThrownBy(() -> ledger.book("42", 1))
                    .isInstanceOfSatisfying(
                            HttpClientErrorException.class,
                            refusal -> assertThat(refusal.getStatusCode()).isEqualTo(HttpStatus.CONFLICT));

            assertThat(cents(context)).isEqualTo(110);
        });
    }

    private static void run(Consumer<WebApplicationContext> test) {
        FencingApplications.runner().withUserConfiguration(Samples.class).run(context -> {
            assertThat(context).hasNotFailed();
            JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
            jdbc.execute("CREATE TABLE account (id VARCHAR(20) PRIMARY KEY, cents BIGINT, fence BIGINT)");
            jdbc.execute("INSERT INTO account VALUES ('42', 0, 0)");
            test.accept(context);
        });
    }

    private static long cents(ApplicationContext context) {
        return Objects.requireNonNull(context.getBean(JdbcTemplate.class)
                .queryForObject("SELECT cents FROM account WHERE id = '42'", Long.class));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebMvc
    @Import({Accounts.class, Transfers.class, FenceColumn.class, Subscriber.class, LedgerController.class})
    static class Samples {}

    static class Accounts {

        private final FenceGuard fences;
        private final JdbcTemplate jdbc;

        Accounts(FenceGuard fences, JdbcTemplate jdbc) {
            this.fences = fences;
            this.jdbc = jdbc;
        }

        // sample: fence-guard
        @Transactional
        public void book(String account, long cents, Fence fence) {
            fences.check("account:" + account, fence); // a StaleFenceException rolls back
            jdbc.update("UPDATE account SET cents = cents + ? WHERE id = ?", cents, account);
        }
        // end
    }

    static class Transfers {

        private final JdbcTemplate jdbc;

        Transfers(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        // sample: fenced-resource
        @Transactional
        @DistributedLock(name = "account", key = "#account", fencedResource = "#account")
        public void book(String account, long cents) {
            jdbc.update("UPDATE account SET cents = cents + ? WHERE id = ?", cents, account);
        }
        // end
    }

    static class FenceColumn {

        private final JdbcTemplate jdbc;

        FenceColumn(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        // sample: fence-column
        void set(String account, long cents, Fence fence) {
            int rows = jdbc.update(
                    "UPDATE account SET cents = ?, fence = ? WHERE id = ? AND fence <= ?",
                    cents,
                    fence.value(),
                    account,
                    fence.value());
            if (rows == 0) {
                throw new IllegalStateException("The account has seen a later fence than " + fence);
            }
        }
        // end
    }

    static class Reports {

        private final ObjectStore store;

        Reports(ObjectStore store) {
            this.store = store;
        }

        // sample: fence-object-store
        void put(String name, String content, Fence fence) {
            StoredObject current;
            do {
                current = store.head(name); // its entity tag, and its fence in the metadata
                if (current != null && current.fence().compareTo(fence) > 0) {
                    throw new StaleFenceException(name, fence, current.fence());
                }
            } while (!store.putIfMatch(name, current, content, fence)); // If-Match, or If-None-Match: *
        }
        // end
    }

    /** An object store with conditional puts. */
    static final class ObjectStore {

        private final Map<String, StoredObject> objects = new HashMap<>();
        private @Nullable Runnable beforeNextPut;

        @Nullable
        StoredObject head(String name) {
            return objects.get(name);
        }

        boolean putIfMatch(String name, @Nullable StoredObject expected, String content, Fence fence) {
            Runnable meanwhile = beforeNextPut;
            beforeNextPut = null;
            if (meanwhile != null) {
                meanwhile.run();
            }
            StoredObject current = objects.get(name);
            String tag = current == null ? null : current.tag();
            if (!Objects.equals(tag, expected == null ? null : expected.tag())) {
                return false;
            }
            objects.put(name, new StoredObject(UUID.randomUUID().toString(), content, fence));
            return true;
        }
    }

    record StoredObject(String tag, String content, Fence fence) {}

    static class Publisher {

        // sample: fence-message
        Message message(String account, long cents) {
            Fence fence = LockHandle.current().orElseThrow().fence();
            return new Message(Map.of("syncguard-fence", fence.toString()), account, cents);
        }
        // end
    }

    static class Subscriber {

        private final Accounts accounts;

        Subscriber(Accounts accounts) {
            this.accounts = accounts;
        }

        // sample: fence-subscriber
        void receive(Message message) {
            Fence fence = new Fence(Long.parseLong(message.headers().get("syncguard-fence")));
            try {
                accounts.book(message.account(), message.cents(), fence); // checks, as above
            } catch (StaleFenceException ex) {
                log("dropped: " + ex.getMessage()); // it never becomes valid again
            }
        }
        // end

        private static void log(String line) {}
    }

    record Message(Map<String, String> headers, String account, long cents) {}

    // sample: fence-client
    static class LedgerClient {

        private final RestClient http;
        private final LockTemplate locks;

        LedgerClient(RestClient.Builder builder, FenceHeaderInterceptor fenceHeader, LockTemplate locks) {
            this.http = builder.requestInterceptor(fenceHeader).build();
            this.locks = locks;
        }

        void book(String account, long cents) {
            locks.execute(
                    "account:" + account,
                    lock -> http.post() // with the header Syncguard-Fence
                            .uri("/accounts/{account}?cents={cents}", account, cents)
                            .retrieve()
                            .toBodilessEntity());
        }
    }
    // end

    // sample: fence-controller
    @RestController
    static class LedgerController {

        private final Accounts accounts;

        LedgerController(Accounts accounts) {
            this.accounts = accounts;
        }

        @PostMapping("/accounts/{account}")
        void book(@PathVariable String account, @RequestParam long cents, Fence fence) {
            accounts.book(account, cents, fence); // checks, as above; a refusal is answered with 409
        }
    }
    // end
}
