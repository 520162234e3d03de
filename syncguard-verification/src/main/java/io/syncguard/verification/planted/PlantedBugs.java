package io.syncguard.verification.planted;

import io.syncguard.verification.Trial;
import io.syncguard.verification.matrix.CampaignTrial;
import io.syncguard.verification.matrix.CampaignTrial.Faults;
import io.syncguard.verification.stress.StressTrial;
import io.syncguard.verification.wakeups.WakeUpTrial;
import java.util.List;

/** Bugs that lock services have had, other ones or earlier versions of ours. */
final class PlantedBugs {

    private static final Trial CALM = CampaignTrial.with(Faults.NO_FAULT, 1);
    private static final Trial LATE_COMMITS = CampaignTrial.with(Faults.LATE_COMMITS, 4);
    private static final Trial PAUSES = CampaignTrial.with(Faults.PAUSED_PROCESSES, 3);
    private static final Trial KILLS = CampaignTrial.with(Faults.KILLED_PROCESSES, 2);
    private static final Trial KILLS_WITH_LONG_WAITS =
            CampaignTrial.with(Faults.KILLED_PROCESSES, 2).withLongWaits();
    private static final Trial RESTARTS = CampaignTrial.with(Faults.SERVER_RESTARTS, 2);
    private static final Trial STANDSTILLS =
            CampaignTrial.with(Faults.SERVER_STANDSTILLS, 1).withLongWaits().withLongLeases();
    private static final Trial LINKS = CampaignTrial.with(Faults.LINKS, 1);
    private static final Trial SLOW_LINKS = CampaignTrial.with(Faults.SLOW_LINKS, 1);
    private static final Trial LOST_ANSWERS = CampaignTrial.with(Faults.LOST_ANSWERS, 5);
    private static final Trial POSTGRES_STRESS = StressTrial.onPostgres(8);
    private static final Trial WAKE_UPS = new WakeUpTrial(6);
    private static final Trial REDIS_STRESS = StressTrial.onRedis(8);

    private PlantedBugs() {}

    static List<PlantedBug> all() {
        return List.of(
                new PlantedBug("takeover-without-key", "a takeover is an update that changes no key", LATE_COMMITS),
                new PlantedBug("check-without-row-lock", "the guard of a commit locks no row", LATE_COMMITS),
                new PlantedBug("release-by-key", "a release finds its lease by the key", PAUSES),
                new PlantedBug("heartbeat-by-key", "a heartbeat finds its lease by the key", POSTGRES_STRESS),
                new PlantedBug("deadline-from-reply", "the deadline of a grant counts from the reply", CALM),
                new PlantedBug(
                        "extension-from-reply", "the deadline of an extension counts from the reply", SLOW_LINKS),
                new PlantedBug(
                        "hand-over-from-grant", "the deadline of a hand-over counts from its message", POSTGRES_STRESS),
                new PlantedBug("no-local-deadline", "only the server ends a lease, and not the deadline", PAUSES),
                new PlantedBug("start-of-transaction", "now() is the clock of a lease", POSTGRES_STRESS),
                new PlantedBug("counter-deleted", "a release deletes the counter of the fences", CALM),
                new PlantedBug("asynchronous-acquire", "a grant is answered before it is on the disk", RESTARTS),
                new PlantedBug("no-safety-poll", "waiters rely on wake-ups alone", KILLS_WITH_LONG_WAITS),
                new PlantedBug("in-callers-transaction", "an acquire joins the caller's transaction", CALM),
                new PlantedBug(
                        "own-grant-missed", "a repeated acquire does not look for its own grant", POSTGRES_STRESS),
                new PlantedBug("sessions-mixed-up", "a hand-over reaches a waiter of another process", POSTGRES_STRESS),
                new PlantedBug("release-races-heartbeat", "a heartbeat finds a released lease lost", POSTGRES_STRESS),
                new PlantedBug("heartbeat-ends", "a failed heartbeat is the last one", LINKS),
                new PlantedBug("wait-without-end", "a wait goes on beyond its wait time", KILLS),
                new PlantedBug("renewal-revives", "an extension revives a lapsed lease", POSTGRES_STRESS),
                new PlantedBug("threads-share", "all threads of a process own its locks", CALM),
                new PlantedBug(
                        "lapsed-reader-passed-over", "a lapsed reader is passed over and not deleted", POSTGRES_STRESS),
                new PlantedBug("look-without-lock", "a grant relies on a look without the row lock", CALM),
                new PlantedBug("readers-share-release", "the release of one reader frees all", POSTGRES_STRESS),
                new PlantedBug("in-doubt-left", "an acquire in doubt is not released", LOST_ANSWERS),
                new PlantedBug(
                        "in-doubt-released-once", "an acquire in doubt is released for a limited time", STANDSTILLS),
                new PlantedBug("newcomer-passes", "a first try passes the waiters", CALM),
                new PlantedBug("lapsed-entry-left", "a grant leaves its lapsed queue entry", POSTGRES_STRESS),
                new PlantedBug("wake-up-behind-reader-lost", "who leaves wakes nobody behind it", WAKE_UPS),
                new PlantedBug(
                        "writer-behind-readers-sleeps",
                        "a writer that leaves does not wake the writer behind readers",
                        WAKE_UPS),
                new PlantedBug("release-wakes-nobody", "a release without a hand-over wakes nobody", WAKE_UPS),
                new PlantedBug("redis-no-tolerance", "Redis: a lapsed key is free at once", REDIS_STRESS),
                new PlantedBug(
                        "redis-own-grant-missed", "Redis: an acquire does not look for its own grant", REDIS_STRESS),
                new PlantedBug(
                        "redis-counter-deleted",
                        "Redis: a release deletes the counter of fences without the clock",
                        REDIS_STRESS),
                new PlantedBug("redis-extension-revives", "Redis: an extension revives a lapsed lease", REDIS_STRESS),
                new PlantedBug(
                        "interrupted-release-late",
                        "a release that an interrupt broke is left to the background",
                        new TestTrial("io.syncguard.core.InterruptTests")),
                new PlantedBug(
                        "one-session-ends-all-waits",
                        "one broken session ends the wait of all waiters of a process",
                        new TestTrial("io.syncguard.core.FailingWaitTests")),
                new PlantedBug(
                        "acquirers-transaction-forgotten",
                        "a lock that another thread gives back is free before the acquirer's transaction has ended",
                        new TestTrial("io.syncguard.core.TransactionBoundaryTests")),
                new PlantedBug(
                        "late-release-not-guarded",
                        "a lock that is given back while the commit begins is not looked at",
                        new TestTrial("io.syncguard.autoconfigure.TransactionEndTests")),
                new PlantedBug(
                        "first-extension-late",
                        "the first heartbeat after a hand-over comes late",
                        new TestTrial("io.syncguard.core.DirectHandOverTests")),
                new PlantedBug(
                        "every-message-believed",
                        "a hand-over is believed without its secret",
                        new TestTrial("io.syncguard.postgres.PostgresForgedMessagesTests")),
                new PlantedBug(
                        "error-ends-heartbeat",
                        "an Error, such as a lack of threads, ends the heartbeat",
                        new TestTrial("io.syncguard.core.ErrorTests")),
                new PlantedBug(
                        "error-ends-campaign",
                        "an Error at an election ends the campaign",
                        new TestTrial("io.syncguard.leader.LeaderErrorTests")),
                new PlantedBug(
                        "late-extension-forgotten",
                        "a short extension that arrives late ends a lease earlier than its holder knows",
                        new TestTrial("io.syncguard.core.LateExtensionTests")),
                new PlantedBug(
                        "loss-after-commit",
                        "a loss is reported although the commit has succeeded",
                        new TestTrial("io.syncguard.autoconfigure.PinnedLeaseTests")),
                new PlantedBug(
                        "redis-counter-expires",
                        "Redis: after a rotation, the counter of fences expires before a long lease",
                        new TestTrial("io.syncguard.redis.RedisKeysTests")),
                new PlantedBug(
                        "released-under-cancelled-body",
                        "a cancelled subscription releases its lock while its body still runs",
                        new TestTrial("io.syncguard.reactive.ReactiveLockTemplateTests")));
    }

    /** Each kind of run. */
    static List<Trial> trials() {
        return all().stream().map(PlantedBug::trial).distinct().toList();
    }
}
