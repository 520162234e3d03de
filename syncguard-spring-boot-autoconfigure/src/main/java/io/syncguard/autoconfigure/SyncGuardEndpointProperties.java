package io.syncguard.autoconfigure;

import java.util.Set;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * {@code management.endpoint.syncguard.*}.
 *
 * @param showValues When to show the keys of locks in the endpoint. Their hashes are shown otherwise.
 * @param roles Roles of users who see keys with when-authorized. All authenticated users if empty.
 */
@ConfigurationProperties("management.endpoint.syncguard")
record SyncGuardEndpointProperties(
        @DefaultValue("never") Show showValues,
        @DefaultValue Set<String> roles) {}
