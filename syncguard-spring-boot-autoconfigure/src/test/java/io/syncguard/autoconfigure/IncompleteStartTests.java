package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockSetupException;
import io.syncguard.LockTemplate;
import io.syncguard.concurrent.Chain;
import io.syncguard.testing.MariaDbServer;
import io.syncguard.testing.PostgresServer;
import java.sql.SQLFeatureNotSupportedException;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** A wrapper of connections may lack features of JDBC. Locks use those of the driver behind it, or refuse it. */
class IncompleteStartTests {

    private static final Supplier<Throwable> REFUSAL = SQLFeatureNotSupportedException::new;
    private static final Supplier<Throwable> NO_METHOD = () -> new AbstractMethodError("no method");
    private static final Supplier<Throwable> NO_OPERATION = () -> new UnsupportedOperationException("no operation");

    private static final Function<DataSource, DataSource> PLAIN = source -> source;

    private static final Function<DataSource, DataSource> IN_A_POOL = source -> {
        HikariDataSource pool = new HikariDataSource();
        pool.setDataSource(source);
        return pool;
    };

    private static String postgres() {
        return PostgresServer.newDatabaseUrl();
    }

    private static String mariaDb() {
        return MariaDbServer.newDatabaseUrl();
    }

    private static String h2() {
        return "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
    }

    private static Arguments lacking(
            Supplier<String> url, Function<DataSource, DataSource> bean, Supplier<Throwable> lack, String... methods) {
        return Arguments.of(url, bean, lack, methods);
    }

    static Stream<Arguments> startable() {
        return Stream.of(
                lacking(IncompleteStartTests::postgres, PLAIN, REFUSAL, "createArrayOf"),
                lacking(IncompleteStartTests::postgres, PLAIN, NO_METHOD, "getMetaData"),
                lacking(IncompleteStartTests::postgres, PLAIN, NO_OPERATION, "getDatabaseMajorVersion", "getUserName"),
                lacking(IncompleteStartTests::postgres, PLAIN, NO_METHOD, "getNetworkTimeout", "setNetworkTimeout"),
                lacking(IncompleteStartTests::postgres, PLAIN, REFUSAL, "isValid", "abort", "isReadOnly"),
                lacking(IncompleteStartTests::postgres, PLAIN, REFUSAL, "setQueryTimeout", "getMoreResults"),
                lacking(IncompleteStartTests::postgres, IN_A_POOL, NO_OPERATION, "createArrayOf"),
                lacking(IncompleteStartTests::mariaDb, PLAIN, REFUSAL, "getMetaData"),
                lacking(IncompleteStartTests::mariaDb, PLAIN, NO_METHOD, "getNetworkTimeout", "setNetworkTimeout"),
                lacking(IncompleteStartTests::mariaDb, PLAIN, NO_OPERATION, "getIndexInfo", "getMoreResults"),
                lacking(IncompleteStartTests::mariaDb, PLAIN, NO_METHOD, "isWrapperFor"),
                lacking(IncompleteStartTests::mariaDb, PLAIN, REFUSAL, "getIndexInfo", "isWrapperFor", "unwrap"),
                lacking(IncompleteStartTests::mariaDb, IN_A_POOL, NO_METHOD, "getMetaData"),
                lacking(IncompleteStartTests::h2, PLAIN, NO_METHOD, "getMetaData"));
    }

    @ParameterizedTest
    @MethodSource("startable")
    void locks_work(
            Supplier<String> url, Function<DataSource, DataSource> bean, Supplier<Throwable> lack, String... methods) {
        DataSource source = bean.apply(new IncompleteDataSource(new DriverManagerDataSource(url.get()), lack, methods));
        Applications.withoutDatabase()
                .withBean(DataSource.class, () -> source)
                .run(application -> assertThat(application
                                .getBean(LockTemplate.class)
                                .<String, RuntimeException>execute("order:1", lock -> "held"))
                        .isEqualTo("held"));
    }

    static Stream<Arguments> refused() {
        return Stream.of(
                lacking(IncompleteStartTests::postgres, PLAIN, NO_METHOD, "isWrapperFor"),
                lacking(IncompleteStartTests::postgres, PLAIN, REFUSAL, "unwrap"),
                lacking(IncompleteStartTests::postgres, PLAIN, NO_OPERATION, "setArray"),
                lacking(IncompleteStartTests::postgres, IN_A_POOL, REFUSAL, "setArray"),
                lacking(IncompleteStartTests::mariaDb, PLAIN, NO_METHOD, "setBytes"),
                lacking(IncompleteStartTests::mariaDb, PLAIN, REFUSAL, "isWrapperFor", "getMetaData"),
                lacking(IncompleteStartTests::mariaDb, PLAIN, NO_METHOD, "setNetworkTimeout", "isWrapperFor"),
                lacking(IncompleteStartTests::h2, PLAIN, NO_OPERATION, "setBytes"));
    }

    @ParameterizedTest
    @MethodSource("refused")
    void a_start_names_the_feature_and_the_class(
            Supplier<String> url, Function<DataSource, DataSource> bean, Supplier<Throwable> lack, String... methods)
            throws Exception {
        IncompleteDataSource source = new IncompleteDataSource(new DriverManagerDataSource(url.get()), lack, methods);
        String type = source.getConnection().getClass().getName();
        Applications.withoutDatabase()
                .withBean(DataSource.class, () -> bean.apply(source))
                .run(application -> assertThat(Chain.causes(application.getStartupFailure())
                                .filter(LockSetupException.class::isInstance)
                                .map(LockSetupException.class::cast))
                        .singleElement()
                        .satisfies(failure -> assertThat(failure.problem())
                                .contains("SyncGuard needs", "." + methods[0] + " of JDBC")
                                .contains("a connection of the class " + type + " lacks"))
                        .satisfies(failure -> assertThat(failure.nextSteps())
                                .anyMatch(step -> step.contains("@SyncGuardDataSource"))));
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void the_failed_start_names_two_ways_out(CapturedOutput output) {
        new FailedStart(output)
                .with(WithoutSetArray.class)
                .whereasMatches("of the class \\S+ lacks", "of the class CONNECTION lacks")
                .reads("connection-lacks-feature");
    }

    @Configuration(proxyBeanMethods = false)
    static class WithoutSetArray {

        @Bean
        DataSource dataSource() {
            return new IncompleteDataSource(new DriverManagerDataSource(postgres()), NO_OPERATION, "setArray");
        }
    }
}
