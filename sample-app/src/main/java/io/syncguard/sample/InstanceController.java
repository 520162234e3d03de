package io.syncguard.sample;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Shows which instance answers on this port, and which process to kill to see the others continue.
 */
@RestController
final class InstanceController {

    private final RunningInstance running;

    InstanceController(RunningInstance running) {
        this.running = running;
    }

    @GetMapping("/instance")
    Instance instance() {
        return running.describe();
    }
}
