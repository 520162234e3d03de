package io.syncguard.autoconfigure;

import io.syncguard.LockSetupException;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * {@code management.endpoint.syncguard.*}.
 *
 * @param showValues When to show the keys of locks in the endpoint. Their hashes are shown otherwise.
 * @param roles Roles of users who see keys with when-authorized. All authenticated users if empty.
 * @param hashSecret Secret of the hashes that are shown in place of keys, at least 32 characters. Instances with the
 *     same secret show the same hashes. Each process creates a random one if it is not set.
 */
@ConfigurationProperties("management.endpoint.syncguard")
record SyncGuardEndpointProperties(
        @DefaultValue("never") Show showValues,
        @DefaultValue Set<String> roles,
        @Nullable String hashSecret) {

    private static final int SHORTEST_SECRET = 32;

    /** Refuses a secret that can be guessed, because whoever has it can test guesses of keys. */
    void check() {
        if (hashSecret != null && hashSecret.length() < SHORTEST_SECRET) {
            throw LockSetupException.invalid(
                    "management.endpoint.syncguard.hash-secret has " + hashSecret.length()
                            + " characters, but has to have at least " + SHORTEST_SECRET,
                    "Set management.endpoint.syncguard.hash-secret to a random text, such as that of 'openssl rand"
                            + " -base64 32'",
                    "Remove management.endpoint.syncguard.hash-secret, so that each process makes one");
        }
    }

    /** Leaves out the secret. */
    @Override
    public String toString() {
        return "showValues=" + showValues + ", roles=" + roles;
    }
}
