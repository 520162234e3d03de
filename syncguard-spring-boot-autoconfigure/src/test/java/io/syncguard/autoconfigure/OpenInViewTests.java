package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import ch.qos.logback.classic.Level;
import io.syncguard.DistributedLock;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.SortedAutoConfigurations;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceContext;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.support.OpenEntityManagerInViewFilter;
import org.springframework.orm.jpa.support.OpenEntityManagerInViewInterceptor;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** A persistence context that is older than the lock: what is lost, what is said, and the ways out. */
@Timeout(120)
class OpenInViewTests {

    private static final int AT_ONCE = 8;
    private static final int ROUNDS = 5;
    private static final int REQUESTS = AT_ONCE * ROUNDS;

    private static final DriverManagerDataSource DATABASE =
            new DriverManagerDataSource("jdbc:h2:mem:open-in-view;DB_CLOSE_DELAY=-1");

    private static final LocalContainerEntityManagerFactoryBean FACTORY = new LocalContainerEntityManagerFactoryBean();

    private final WebApplicationContextRunner application = new WebApplicationContextRunner()
            .withConfiguration(SortedAutoConfigurations.of(
                    SyncGuardAutoConfiguration.class, SyncGuardWebAutoConfiguration.class, AopAutoConfiguration.class))
            .withBean(LockBackend.class, InMemoryLockBackend::new)
            .withPropertyValues("syncguard.wait-time=30s");

    @BeforeAll
    static void startHibernate() {
        HibernateJpaVendorAdapter hibernate = new HibernateJpaVendorAdapter();
        hibernate.setGenerateDdl(true);
        FACTORY.setDataSource(DATABASE);
        FACTORY.setJpaVendorAdapter(hibernate);
        FACTORY.setManagedTypes(PersistenceManagedTypes.of(Article.class.getName()));
        FACTORY.afterPropertiesSet();
    }

    @AfterAll
    static void stopHibernate() {
        FACTORY.destroy();
    }

    @BeforeEach
    void emptyTheStock() {
        JdbcTemplate jdbc = new JdbcTemplate(DATABASE);
        jdbc.execute("DELETE FROM article");
        jdbc.execute("INSERT INTO article (name, amount) VALUES ('apple', 0)");
    }

    /** Each round reads the same amount in all of its requests, so that all but one of their updates are lost. */
    @Test
    void with_open_in_view_a_request_that_has_read_before_the_lock_loses_updates() {
        assertThat(amountAfterRequests(OpenInterceptor.class, "read-before")).isEqualTo(ROUNDS);
    }

    /** The samples of docs/first-lock.md. */
    @Test
    void the_right_sample_keeps_all_updates_even_with_open_in_view() {
        assertThat(amountAfterRequests(OpenInterceptor.class, "articles/apple")).isEqualTo(REQUESTS);
    }

    @Test
    void the_wrong_sample_loses_updates_with_open_in_view_and_keeps_them_without() {
        assertThat(amountAfterRequests(OpenInterceptor.class, "articles/apple/wrong"))
                .isEqualTo(ROUNDS);

        emptyTheStock();
        assertThat(amountAfterRequests(Jpa.class, "articles/apple/wrong")).isEqualTo(REQUESTS);
    }

    @ParameterizedTest
    @CsvSource({"true, read-before-and-refresh", "true, lock-before-read", "false, read-before"})
    void each_way_out_keeps_all_updates(boolean openInView, String way) {
        assertThat(amountAfterRequests(openInView ? OpenInterceptor.class : Jpa.class, way))
                .isEqualTo(REQUESTS);
    }

    @ParameterizedTest
    @CsvSource({"true, read-before, true", "true, lock-before-read, true", "false, read-before, false"})
    void a_body_that_begins_in_an_open_persistence_context_is_named_at_debug(
            boolean openInView, String way, boolean named) {
        try (CapturedLog log = new CapturedLog(Level.DEBUG)) {
            requests(openInView ? OpenInterceptor.class : Jpa.class, way, 1, 1);

            assertThat(log.messages().stream()
                            .filter(message ->
                                    message.startsWith("Lock 'stock' was acquired while a persistence context")))
                    .hasSize(named ? 1 : 0);
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {OpenInterceptor.class, OpenFilter.class, RegisteredFilter.class, OwnFilter.class})
    void open_in_view_around_locks_is_named_once_at_the_start(Class<?> opener) {
        for (List<Class<?>> beans :
                List.of(List.of(Stock.class, Orders.class), List.<Class<?>>of(LockedOrders.class))) {
            List<String> warnings = warnings(opener, beans);
            assertThat(warnings)
                    .singleElement()
                    .asString()
                    .startsWith("Open-in-view is on (bean '")
                    .contains(beans.get(0).getSimpleName() + ".", "spring.jpa.open-in-view=false", "refresh");
        }
    }

    @Test
    void nothing_is_said_without_open_in_view() {
        assertThat(warnings(Jpa.class, List.of(Stock.class, Orders.class))).isEmpty();
    }

    @Test
    void nothing_is_said_where_no_request_calls_a_locked_method() {
        assertThat(warnings(OpenInterceptor.class, List.of(OpenOrders.class, Jobs.class)))
                .as("no locked method for requests")
                .isEmpty();
        assertThat(warnings(OpenInterceptor.class, List.of(Stock.class)))
                .as("no controller")
                .isEmpty();
    }

    @Test
    void nothing_is_said_of_a_filter_that_is_turned_off() {
        assertThat(warnings(DisabledFilter.class, List.of(Stock.class, Orders.class)))
                .isEmpty();
    }

    private List<String> warnings(Class<?> opener, List<Class<?>> beans) {
        try (CapturedLog log = new CapturedLog()) {
            application
                    .withUserConfiguration(opener)
                    .withBean(CyclicBarrier.class, () -> new CyclicBarrier(1))
                    .withUserConfiguration(beans.toArray(Class<?>[]::new))
                    .run(context -> assertThat(context).hasNotFailed());
            return log.messages();
        }
    }

    private int amountAfterRequests(Class<?> configuration, String way) {
        requests(configuration, way, AT_ONCE, ROUNDS);
        return new JdbcTemplate(DATABASE).queryForObject("SELECT amount FROM article", Integer.class);
    }

    private void requests(Class<?> configuration, String way, int atOnce, int rounds) {
        application
                .withUserConfiguration(
                        configuration, Stock.class, Orders.class, ArticleStock.class, ArticleController.class)
                .withBean(CyclicBarrier.class, () -> new CyclicBarrier(atOnce))
                .run(context -> {
                    MockMvc web = MockMvcBuilders.webAppContextSetup(context).build();
                    ExecutorService clients = Executors.newFixedThreadPool(atOnce);
                    try {
                        for (int round = 0; round < rounds; round++) {
                            Callable<?> request =
                                    () -> web.perform(post("/" + way)).andExpect(status().isOk());
                            for (Future<?> each : clients.invokeAll(IntStream.range(0, atOnce)
                                    .mapToObj(i -> request)
                                    .toList())) {
                                each.get();
                            }
                        }
                    } finally {
                        clients.shutdownNow();
                    }
                });
    }

    @Entity(name = "article")
    static class Article {

        @Id
        String name;

        int amount;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebMvc
    @EnableTransactionManagement
    static class Jpa {

        @Bean(destroyMethod = "")
        EntityManagerFactory entityManagerFactory() {
            return FACTORY.getObject();
        }

        @Bean
        JpaTransactionManager transactionManager(EntityManagerFactory factory) {
            return new JpaTransactionManager(factory);
        }
    }

    /** Spring Boot declares it so, unless {@code spring.jpa.open-in-view} is false. */
    @Configuration(proxyBeanMethods = false)
    static class OpenInterceptor extends Jpa {

        @Bean
        OpenEntityManagerInViewInterceptor openEntityManagerInViewInterceptor() {
            return new OpenEntityManagerInViewInterceptor();
        }

        @Bean
        WebMvcConfigurer openInView(OpenEntityManagerInViewInterceptor interceptor) {
            return new WebMvcConfigurer() {
                @Override
                public void addInterceptors(InterceptorRegistry registry) {
                    registry.addWebRequestInterceptor(interceptor);
                }
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OpenFilter extends Jpa {

        @Bean
        OpenEntityManagerInViewFilter sessionFilter() {
            return new OpenEntityManagerInViewFilter();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class RegisteredFilter extends Jpa {

        @Bean
        FilterRegistrationBean<OpenEntityManagerInViewFilter> sessionFilter() {
            return new FilterRegistrationBean<>(new OpenEntityManagerInViewFilter());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class DisabledFilter extends Jpa {

        @Bean
        FilterRegistrationBean<OpenEntityManagerInViewFilter> sessionFilter() {
            FilterRegistrationBean<OpenEntityManagerInViewFilter> registration =
                    new FilterRegistrationBean<>(new OpenEntityManagerInViewFilter());
            registration.setEnabled(false);
            return registration;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnFilter extends Jpa {

        @Bean
        Own ownFilter() {
            return new Own();
        }

        static class Own extends OpenEntityManagerInViewFilter {}
    }

    static class Stock {

        @PersistenceContext
        private EntityManager entities;

        @DistributedLock("stock")
        @Transactional
        public void add() {
            find().amount++;
        }

        @DistributedLock("stock")
        @Transactional
        public void refreshAndAdd() {
            Article article = entities.find(Article.class, "apple");
            entities.refresh(article); // reads it again, under the lock
            article.amount++;
        }

        Article find() {
            return entities.find(Article.class, "apple");
        }
    }

    @RestController
    static class Orders {

        @PersistenceContext
        private EntityManager entities;

        private final Stock stock;
        private final LockTemplate locks;
        private final CyclicBarrier all;

        Orders(Stock stock, LockTemplate locks, CyclicBarrier all) {
            this.stock = stock;
            this.locks = locks;
            this.all = all;
        }

        @PostMapping("/{way}")
        void order(@PathVariable("way") String way) throws Exception {
            if (way.equals("lock-before-read")) {
                locks.executeWithoutResult(LockRequest.of("stock"), lock -> {
                    entities.find(Article.class, "apple");
                    stock.add();
                });
            } else {
                entities.find(Article.class, "apple");
                all.await(60, TimeUnit.SECONDS);
                if (way.equals("read-before")) {
                    stock.add();
                } else {
                    stock.refreshAndAdd();
                }
            }
        }
    }

    static class ArticleStock {

        @PersistenceContext
        private EntityManager entities;

        // sample: first-lock
        @DistributedLock(name = "article", key = "#articleId")
        @Transactional
        public void add(String articleId) {
            entities.find(Article.class, articleId).amount++; // loaded under the lock
        }
        // end
    }

    @RestController
    static class ArticleController {

        @PersistenceContext
        private EntityManager entities;

        private final ArticleStock stock;
        private final CyclicBarrier all;

        ArticleController(ArticleStock stock, CyclicBarrier all) {
            this.stock = stock;
            this.all = all;
        }

        // sample: first-lock-right
        @PostMapping("/articles/{id}")
        void add(@PathVariable("id") String articleId) {
            stock.add(articleId); // the controller loads nothing
        }
        // end

        // sample: first-lock-wrong
        @PostMapping("/articles/{id}/wrong")
        void addWrong(@PathVariable("id") String articleId) throws Exception {
            Article article = entities.find(Article.class, articleId); // loaded before the lock
            check(article);
            stock.add(articleId); // with open-in-view, this changes the copy from before the lock
        }
        // end

        private void check(Article article) throws Exception {
            assertThat(article).isNotNull();
            all.await(60, TimeUnit.SECONDS);
        }
    }

    @RestController
    static class LockedOrders {

        @PostMapping("/locked")
        @DistributedLock("stock")
        public void order() {}
    }

    @RestController
    static class OpenOrders {

        @PostMapping("/open")
        public void order() {}
    }

    @Component
    static class Jobs {

        @Scheduled(cron = "-")
        @DistributedLock("stock")
        public void scheduled() {}

        @EventListener
        @DistributedLock("stock")
        public void listens(String event) {}
    }
}
