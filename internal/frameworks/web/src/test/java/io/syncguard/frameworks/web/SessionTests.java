package io.syncguard.frameworks.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.DistributedLock;
import io.syncguard.autoconfigure.PostgresLockAutoConfiguration;
import io.syncguard.autoconfigure.SyncGuardAutoConfiguration;
import io.syncguard.autoconfigure.SyncGuardWebAutoConfiguration;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.PostgresServer;
import jakarta.servlet.http.HttpSession;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.session.MapSessionRepository;
import org.springframework.session.Session;
import org.springframework.session.SessionRepository;
import org.springframework.session.web.http.SessionRepositoryFilter;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** A lock by session protects attributes that are read and saved under it. */
@FrameworkTest
@Timeout(60)
class SessionTests {

    private final HttpClient http = HttpClient.newHttpClient();

    @LocalServerPort
    private int port;

    @Test
    void no_increment_of_an_attribute_is_lost() throws Exception {
        HttpResponse<String> first = http.send(request("POST", ""), HttpResponse.BodyHandlers.ofString());
        String cookie = first.headers().firstValue("set-cookie").orElseThrow().split(";")[0];

        List<CompletableFuture<HttpResponse<String>>> others = IntStream.range(0, 10)
                .mapToObj(i -> http.sendAsync(request("POST", cookie), HttpResponse.BodyHandlers.ofString()))
                .toList();
        others.forEach(each -> assertThat(each.join().statusCode()).isEqualTo(200));

        assertThat(http.send(request("GET", cookie), HttpResponse.BodyHandlers.ofString())
                        .body())
                .isEqualTo("10");
    }

    @ParameterizedTest
    @CsvSource({"Locked, true", "LockedById, false"})
    void a_locked_method_that_gets_the_session_is_warned_of_at_the_start(String bean, boolean warned)
            throws ClassNotFoundException {
        try (CapturedLog log = new CapturedLog()) {
            new WebApplicationContextRunner()
                    .withConfiguration(AutoConfigurations.of(
                            SyncGuardAutoConfiguration.class,
                            PostgresLockAutoConfiguration.class,
                            AopAutoConfiguration.class,
                            SyncGuardWebAutoConfiguration.class))
                    .withBean(DataSource.class, PostgresServer::newDatabase)
                    .withBean(
                            SessionRepositoryFilter.class,
                            () -> new SessionRepositoryFilter<>(new MapSessionRepository(new ConcurrentHashMap<>())))
                    .withBean(Class.forName(SessionTests.class.getName() + "$" + bean))
                    .run(context -> assertThat(context).hasNotFailed());

            assertThat(log.messages().stream().anyMatch(message -> message.contains("Locked.add gets a session")))
                    .isEqualTo(warned);
        }
    }

    static class Locked {

        @DistributedLock(name = "cart", key = "#session.id")
        public void add(HttpSession session) {}
    }

    static class LockedById {

        @DistributedLock(name = "cart", key = "#sessionId")
        public void add(String sessionId) {}
    }

    private HttpRequest request(String method, String cookie) {
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/cart"))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .header("Cookie", cookie)
                .build();
    }

    @RestController
    static class CartController {

        private final Carts carts;

        CartController(Carts carts) {
            this.carts = carts;
        }

        @PostMapping("/cart")
        void add(HttpSession session) {
            session.setAttribute("since", "today"); // creates the session, and is saved at the end of the request
            carts.add(session.getId());
        }

        @GetMapping("/cart")
        Object items(HttpSession session) {
            return String.valueOf(session.getAttribute("items"));
        }
    }

    static class Carts {

        private final SessionRepository<Session> sessions;

        @SuppressWarnings("unchecked")
        Carts(SessionRepository<? extends Session> sessions) {
            this.sessions = (SessionRepository<Session>) sessions;
        }

        @DistributedLock(name = "cart", key = "#sessionId", waitTime = "30s")
        public void add(String sessionId) {
            Session session = sessions.findById(sessionId);
            if (session == null) {
                return;
            }
            session.setAttribute("items", Objects.requireNonNullElse(session.<Integer>getAttribute("items"), 0) + 1);
            sessions.save(session);
        }
    }
}
