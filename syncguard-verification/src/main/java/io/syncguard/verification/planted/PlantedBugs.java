package io.syncguard.verification.planted;

import io.syncguard.verification.ChangedLibrary.Edit;
import io.syncguard.verification.matrix.CampaignTrial;
import io.syncguard.verification.matrix.CampaignTrial.Faults;
import java.util.List;

/** The bugs of the protocol that lock services have had. */
final class PlantedBugs {

    private static final String SCRIPT = "resources/db/syncguard/postgresql/R__syncguard_schema.sql";
    private static final String CORE = "java/io/syncguard/core/";
    private static final String POSTGRES = "java/io/syncguard/postgres/";

    private PlantedBugs() {}

    static List<PlantedBug> all() {
        return List.of(
                new PlantedBug(
                        "takeover-without-key",
                        "a takeover is an update that changes no key",
                        CampaignTrial.with(Faults.LATE_COMMITS, 2),
                        new Edit(
                                SCRIPT,
                                """
                                    key            TEXT COLLATE "C" PRIMARY KEY,
                                    lock_id        TEXT COLLATE "C" NOT NULL UNIQUE,
                                """,
                                """
                                    key            TEXT COLLATE "C" PRIMARY KEY,
                                    lock_id        TEXT COLLATE "C" NOT NULL,
                                """),
                        new Edit(
                                SCRIPT,
                                """
                                        v_pinned := NOT FOUND;
                                """,
                                """
                                        v_pinned := NOT FOUND AND false;
                                """),
                        new Edit(
                                SCRIPT,
                                """
                                        VALUES (p_key, p_lock_id, v_now + p_ttl_ms, v_now, ${syncguard_locks}_fence_text(p_fence), p_key, p_owner);
                                    END IF;
                                    RETURN v_now;
                                """,
                                """
                                        VALUES (p_key, p_lock_id, v_now + p_ttl_ms, v_now, ${syncguard_locks}_fence_text(p_fence), p_key, p_owner)
                                        ON CONFLICT (key) DO UPDATE SET lock_id = excluded.lock_id,
                                            expires_at_ms = excluded.expires_at_ms, acquired_at_ms = excluded.acquired_at_ms,
                                            fence = excluded.fence, owner = excluded.owner;
                                    END IF;
                                    RETURN v_now;
                                """)),
                new PlantedBug(
                        "check-without-row-lock",
                        "the guard of a commit looks at the lease and does not lock its row",
                        CampaignTrial.with(Faults.LATE_COMMITS, 2),
                        new Edit(POSTGRES + "PostgresPins.java", "ORDER BY l.lock_id FOR KEY SHARE", "ORDER BY l.lock_id"),
                        new Edit(POSTGRES + "PostgresPins.java", "ORDER BY s.lock_id FOR KEY SHARE", "ORDER BY s.lock_id")),
                new PlantedBug(
                        "deadline-from-reply",
                        "the deadline of a grant counts from the reply",
                        CampaignTrial.with(Faults.NONE, 1),
                        new Edit(
                                CORE + "Acquirer.java",
                                "Confirmation.of(sentAt, oneAttempt.ttl(), granted.expiresAt())",
                                "Confirmation.of(time.nanoTime(), oneAttempt.ttl(), granted.expiresAt())")));
    }
}
