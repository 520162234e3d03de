package io.syncguard.test;

import io.syncguard.testing.PublicApi;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** What tests of applications import, pinned in {@code public-api.txt} like the API of the library. */
class TestApiTests {

    @Test
    void the_public_api_is_the_pinned_one() throws IOException {
        PublicApi.assertPinned("syncguard-spring-boot-test", type -> true);
    }
}
