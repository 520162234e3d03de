package io.syncguard.test;

import io.syncguard.DistributedLock;
import io.syncguard.LockEvent;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockTemplate;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** An application with locks, as its tests see it. */
@SpringBootApplication
class OrderApplication {

    @Bean
    RecordingListener recordingListener() {
        return new RecordingListener();
    }

    @Service
    static class Orders {

        private final LockTemplate locks;

        Orders(LockTemplate locks) {
            this.locks = locks;
        }

        @DistributedLock(name = "order", key = "#id")
        public <T> T submit(String id, Callable<T> work) throws Exception {
            return work.call();
        }

        @DistributedLock(name = "partner", key = "#id", permits = "3", waitTime = "0s")
        public <T> T ask(String id, Callable<T> work) throws Exception {
            return work.call();
        }

        @DistributedLock(name = "report", holdAtLeast = "10m", waitTime = "0s")
        public void report() {}

        long fenceOf(String id) {
            return locks.<Long, RuntimeException>execute(
                    "order:" + id, lock -> lock.fence().value());
        }
    }

    @RestController
    static class OrderController {

        private final LockTemplate locks;

        OrderController(LockTemplate locks) {
            this.locks = locks;
        }

        @PostMapping("/orders")
        String submit() {
            return locks.execute("order:42", LockHandle::key);
        }
    }

    static class RecordingListener implements LockListener {

        final List<String> lost = new CopyOnWriteArrayList<>();

        @Override
        public void lost(LockEvent event) {
            lost.add(event.key() + " " + event.reason());
        }
    }
}
