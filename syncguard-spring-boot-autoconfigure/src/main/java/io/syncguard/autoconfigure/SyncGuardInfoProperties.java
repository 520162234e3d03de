package io.syncguard.autoconfigure;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * {@code management.info.syncguard.*}.
 *
 * @param enabled Whether to show in the info of the actuator where locks are stored, and which elections this process
 *     leads.
 * @param showOwner Whether to show there the label of this process, too. By default that label names application,
 *     process and host.
 */
@ConfigurationProperties("management.info.syncguard")
record SyncGuardInfoProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue("false") boolean showOwner) {}
