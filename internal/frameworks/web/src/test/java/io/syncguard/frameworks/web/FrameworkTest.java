package io.syncguard.frameworks.web;

import io.syncguard.testing.PostgresServer;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import javax.sql.DataSource;
import org.apache.ibatis.annotations.Mapper;
import org.mybatis.spring.annotation.MapperScan;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.data.rest.autoconfigure.DataRestAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.EnableAsync;

/** One application for the tests of this module that need no JPA. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@SpringBootTest(
        classes = FrameworkTest.Application.class,
        webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
        properties = {"spring.session.jdbc.initialize-schema=always", "logging.level.io.syncguard.transaction=debug"})
@interface FrameworkTest {

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    @EnableAutoConfiguration(
            exclude = {
                HibernateJpaAutoConfiguration.class,
                DataJpaRepositoriesAutoConfiguration.class,
                DataRestAutoConfiguration.class
            })
    @MapperScan(annotationClass = Mapper.class)
    @Import({
        GraphQlRefusalTests.Reservations.class,
        LateFrameworkResultTests.Open.class,
        NestedCallTests.Inner.class,
        NestedCallTests.Outer.class,
        SessionTests.Carts.class,
        SessionTests.CartController.class,
        MyBatisTests.Orders.class
    })
    class Application {

        @Bean
        DataSource dataSource() {
            DataSource created = PostgresServer.newDatabase();
            JdbcClient.create(created)
                    .sql("CREATE TABLE stock AS SELECT 0::BIGINT AS amount")
                    .update();
            return created;
        }
    }
}
