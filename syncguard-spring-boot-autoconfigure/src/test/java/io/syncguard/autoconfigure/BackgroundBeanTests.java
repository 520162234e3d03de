package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.DistributedLock;
import io.syncguard.LockManager;
import io.syncguard.leader.LeaderOnly;
import io.syncguard.scheduling.ScheduledLock;
import io.syncguard.testing.PostgresServer;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** Spring may create beans with locked methods on threads of its own, while it creates others on the main one. */
class BackgroundBeanTests {

    @Test
    void a_bean_that_is_made_in_the_background_has_its_locks() {
        Applications.on(PostgresServer.newDatabaseUrl())
                .withUserConfiguration(Background.class)
                .withPropertyValues("syncguard.leader.elections.settlement.auto-startup=false")
                .run(application -> {
                    assertThat(application.getStartupFailure()).isNull();
                    assertThat(application.getBean(Orders.class).submit("1")).isTrue();
                });
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    static class Background {

        @Bean
        Executor bootstrapExecutor() {
            return new SimpleAsyncTaskExecutor("bootstrap-");
        }

        @Bean(bootstrap = Bean.Bootstrap.BACKGROUND)
        Orders orders(ObjectProvider<LockManager> locks) {
            return new Orders(locks);
        }

        @Bean(bootstrap = Bean.Bootstrap.BACKGROUND)
        Jobs jobs() {
            return new Jobs();
        }

        @Bean(bootstrap = Bean.Bootstrap.BACKGROUND)
        LeaderTask leaderTask() {
            return new LeaderTask();
        }
    }

    static class Orders {

        private final ObjectProvider<LockManager> locks;

        Orders(ObjectProvider<LockManager> locks) {
            this.locks = locks;
        }

        @DistributedLock(name = "order", key = "#id")
        public boolean submit(String id) {
            return locks.getObject().admin().status("order:" + id).isPresent();
        }
    }

    static class LeaderTask {

        @LeaderOnly("settlement")
        public void run() {}
    }

    static class Jobs {

        @ScheduledLock(name = "job")
        @Scheduled(cron = "-")
        public void run() {}
    }
}
