package io.syncguard.autoconfigure.profiles;

import io.syncguard.DistributedLock;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

/** A bean of another profile than that of the tests. */
@Component
@Profile("batch")
public class Nightly {

    @DistributedLock("nightly")
    public void run() {}
}
