package io.syncguard.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderMember;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.web.client.RestClient;

/**
 * Another instance leads and ends, and this one leads after it.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, properties = "sample.postgres-port=0")
class LeadershipTests {

    private static final String OTHER = "other";

    private final RestClient http;

    @Autowired
    private JdbcConnectionDetails postgres;

    @Autowired
    private LeaderElection election;

    LeadershipTests(@LocalServerPort int port) {
        this.http = RestClient.create("http://127.0.0.1:" + port);
    }

    @BeforeEach
    void leaveTheLeadToTheOther() {
        member().pause();
    }

    @AfterEach
    void leadAgain() {
        member().resume();
    }

    @Test
    void anInstanceThatStopsHandsOverAtOnceHoweverLongItsTtl() {
        ConfigurableApplicationContext other = new SpringApplicationBuilder(SampleApplication.class)
                .run(arguments("1h").toArray(String[]::new));
        Leadership before = awaitTheOther();
        member().resume();

        other.close();

        assertThat(awaitThisOne().fence()).isGreaterThan(before.fence());
    }

    @Tag("verification")
    @Test
    void anInstanceThatIsKilledIsFollowedWhenItsTtlIsOver() throws Exception {
        try (OtherInstance other = OtherInstance.start(arguments("3s"))) {
            Leadership before = awaitTheOther();
            member().resume();

            other.kill();

            Leadership after = awaitThisOne();
            assertThat(after.fence()).isGreaterThan(before.fence());
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> read("/settlement", Settlement.class).fence() >= after.fence());
        }
    }

    /** Where the other instance finds the servers of this one. */
    Stream<String> servers() {
        return Stream.of("--spring.datasource.url=" + postgres.getJdbcUrl(), "--spring.datasource.username=postgres");
    }

    private List<String> arguments(String ttl) {
        Stream<String> settings = Stream.of(
                "--server.port=0",
                "--syncguard.leader.elections.settlement.owner=" + OTHER,
                "--syncguard.leader.elections.settlement.ttl=" + ttl);
        return Stream.concat(settings, servers()).toList();
    }

    private LeaderMember member() {
        return election.member(SettlementService.ELECTION);
    }

    private Leadership awaitTheOther() {
        return awaitLeader(state -> OTHER.equals(state.leader()) && !state.leading());
    }

    private Leadership awaitThisOne() {
        return awaitLeader(state -> !OTHER.equals(state.leader()) && state.leading());
    }

    private Leadership awaitLeader(Predicate<Leadership> isTheOne) {
        return await().atMost(Duration.ofMinutes(3)).until(() -> read("/leader", Leadership.class), isTheOne);
    }

    private <T> T read(String path, Class<T> type) {
        return Objects.requireNonNull(http.get().uri(path).retrieve().body(type));
    }
}
