package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.docs.ShopApplication.StockService;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.testcontainers.junit.jupiter.EnabledIfDockerAvailable;
import org.testcontainers.postgresql.PostgreSQLContainer;

/** The sample with a container, where a Docker engine runs. {@code ServiceConnectionTests} needs none. */
@EnabledIfDockerAvailable
@SpringBootTest
@Import(ContainerSampleTests.Servers.class)
class ContainerSampleTests {

    @Test
    void locks_are_in_the_container(@Autowired StockService stock) {
        assertThat(stock.reserve("pen")).isEqualTo(1);
    }

    // sample: test-containers
    @TestConfiguration(proxyBeanMethods = false)
    static class Servers {

        @Bean
        @ServiceConnection
        PostgreSQLContainer postgres() {
            return new PostgreSQLContainer("postgres:18");
        }
    }
    // end
}
