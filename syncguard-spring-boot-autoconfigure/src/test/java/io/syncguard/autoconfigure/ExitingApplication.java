package io.syncguard.autoconfigure;

import io.syncguard.DistributedLock;
import io.syncguard.LockEvent;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.leader.LeaderElectedEvent;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderListener;
import io.syncguard.leader.LeaderMember;
import io.syncguard.leader.LeaderOnly;
import io.syncguard.leader.LeaderRevokedEvent;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.memory.InMemoryStore;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.ChildJvm;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/** An application whose work under a lock ends the process: the main class of a {@link ChildJvm}. */
@ImportAutoConfiguration({SyncGuardAutoConfiguration.class, SyncGuardLeaderAutoConfiguration.class})
public class ExitingApplication {

    static final Duration SHUTDOWN_TIMEOUT = Duration.ofMinutes(2);

    private static final LockRequest ORDER = LockRequest.of("order:1");

    /** Where the process is ended. */
    enum Place {
        TEMPLATE {
            @Override
            void end(ConfigurableApplicationContext application) {
                application.getBean(LockTemplate.class).execute(ORDER, lock -> exit());
            }
        },
        NESTED {
            @Override
            void end(ConfigurableApplicationContext application) {
                LockTemplate template = application.getBean(LockTemplate.class);
                template.execute(LockRequest.of("order:0"), outer -> template.execute(ORDER, lock -> exit()));
            }
        },
        HANDLE {
            @Override
            void end(ConfigurableApplicationContext application) {
                LockHandle lock = application.getBean(LockManager.class).acquire(ORDER);
                exit();
                lock.release();
            }
        },
        ANNOTATED {
            @Override
            void end(ConfigurableApplicationContext application) {
                application.getBean(Work.class).locked();
            }
        },
        ANOTHER_THREAD {
            @Override
            void end(ConfigurableApplicationContext application) throws Exception {
                application.getBean(LockTemplate.class).execute(ORDER, lock -> {
                    FutureTask<Object> task = new FutureTask<>(lock.bind(Place::exit));
                    new Thread(task).start();
                    return task.get();
                });
            }
        },
        TWICE {
            @Override
            void end(ConfigurableApplicationContext application) {
                Thread other = new Thread(() -> application.getBean(Work.class).locked());
                other.start();
                application.getBean(LockTemplate.class).execute(ORDER, lock -> exit());
            }
        },
        SPRING {
            @Override
            void end(ConfigurableApplicationContext application) {
                application.getBean(LockTemplate.class).execute(ORDER, lock -> {
                    SpringApplication.exit(application);
                    return exit();
                });
            }
        },
        LOCK_LISTENER {
            @Override
            void end(ConfigurableApplicationContext application) {
                application.getBean(LockManager.class).acquire(ORDER.meterName("listener"));
            }
        },
        LEADER_LISTENER {
            @Override
            void end(ConfigurableApplicationContext application) {
                member(application).addListener(new LeaderListener() {
                    @Override
                    public void elected(LeaderElectedEvent event) {
                        exit();
                    }
                });
            }
        },
        REVOKED_LEADER {
            @Override
            void end(ConfigurableApplicationContext application) throws Exception {
                CountDownLatch leads = new CountDownLatch(1);
                member(application).addListener(new LeaderListener() {
                    @Override
                    public void elected(LeaderElectedEvent event) {
                        leads.countDown();
                    }

                    @Override
                    public void revoked(LeaderRevokedEvent event) {
                        exit();
                    }
                });
                leads.await();
                exit();
            }
        },
        LEADER_TASK {
            @Override
            void end(ConfigurableApplicationContext application) {
                member(application).runWhileLeader(term -> exit());
            }
        },
        LEADER_ONLY {
            @Override
            void end(ConfigurableApplicationContext application) {
                member(application);
                application.getBean(Work.class).leading();
            }
        };

        abstract void end(ConfigurableApplicationContext application) throws Exception;

        static Object exit() {
            System.out.println("exits");
            System.exit(0);
            return ORDER;
        }

        private static LeaderMember member(ConfigurableApplicationContext application) {
            return application.getBean(LeaderElection.class).join("scheduler");
        }
    }

    /** @param arguments the name of the place */
    public static void main(String[] arguments) throws Exception {
        System.setOut(System.err);
        ConfigurableApplicationContext application = new SpringApplicationBuilder(ExitingApplication.class)
                .web(WebApplicationType.NONE)
                .properties(
                        "syncguard.shutdown-timeout=" + SHUTDOWN_TIMEOUT,
                        "syncguard.leader.elections.scheduler.auto-startup=false")
                .run();
        Place.valueOf(arguments[0]).end(application);
        Thread.sleep(SHUTDOWN_TIMEOUT.toMillis());
    }

    @Bean
    LockBackend lockBackend() {
        return new InMemoryLockBackend(new InMemoryStore());
    }

    @Bean
    Work work() {
        return new Work();
    }

    @Bean
    LockListener lockListener() {
        return new LockListener() {
            @Override
            public void acquired(LockEvent event) {
                if (event.name().equals("listener")) {
                    Place.exit();
                }
            }
        };
    }

    /** Annotated methods. */
    static class Work {

        @DistributedLock("order:2")
        public void locked() {
            Place.exit();
        }

        @LeaderOnly("scheduler")
        public void leading() {
            Place.exit();
        }
    }
}
