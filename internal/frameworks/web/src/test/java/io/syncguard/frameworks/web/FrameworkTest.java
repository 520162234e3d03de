package io.syncguard.frameworks.web;

import io.syncguard.testing.PostgresServer;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import javax.sql.DataSource;
import org.mybatis.spring.annotation.MapperScan;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.jdbc.core.simple.JdbcClient;

/** One application for all tests of this module. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@SpringBootTest(
        classes = FrameworkTest.Application.class,
        webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
        properties = {
            "spring.jpa.open-in-view=false",
            "spring.session.jdbc.initialize-schema=always",
            "spring.data.rest.base-path=/rest",
            "spring.data.rest.detection-strategy=annotated",
            "logging.level.io.syncguard.transaction=debug"
        })
@interface FrameworkTest {

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableJpaRepositories(considerNestedRepositories = true)
    @org.springframework.boot.persistence.autoconfigure.EntityScan
    @MapperScan(annotationClass = org.apache.ibatis.annotations.Mapper.class)
    @Import({
        GraphQlRefusalTests.Reservations.class,
        LateFrameworkResultTests.Open.class,
        SessionTests.Carts.class,
        SessionTests.CartController.class,
        MyBatisTests.Orders.class
    })
    class Application {

        @Bean
        DataSource dataSource() {
            DataSource created = PostgresServer.newDatabase();
            JdbcClient jdbc = JdbcClient.create(created);
            jdbc.sql("CREATE TABLE stock AS SELECT 0::BIGINT AS amount").update();
            jdbc.sql("CREATE TABLE account (id BIGINT PRIMARY KEY, cents BIGINT, note TEXT, version BIGINT)")
                    .update();
            return created;
        }
    }
}
