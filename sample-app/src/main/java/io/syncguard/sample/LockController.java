package io.syncguard.sample;

import io.syncguard.LockAdmin;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/**
 * Shows the locks of all instances.
 */
@RestController
final class LockController {

    private final LockAdmin locks;

    LockController(LockAdmin locks) {
        this.locks = locks;
    }

    @GetMapping("/locks/{key}")
    LockState state(@PathVariable String key) {
        return LockState.of(key, locks.holders(key));
    }
}
