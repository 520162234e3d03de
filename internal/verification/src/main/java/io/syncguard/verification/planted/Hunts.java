package io.syncguard.verification.planted;

import io.syncguard.verification.Trial;
import io.syncguard.verification.bugs.Bug;
import io.syncguard.verification.matrix.CampaignTrial;
import io.syncguard.verification.matrix.CampaignTrial.Faults;
import io.syncguard.verification.permits.PermitTrial;
import io.syncguard.verification.stress.StressTrial;
import io.syncguard.verification.wakeups.WakeUpTrial;
import java.util.List;

/** Each bug with its run. */
final class Hunts {

    private static final Trial CALM = CampaignTrial.with(Faults.NO_FAULT, 1);
    private static final Trial LATE_COMMITS = CampaignTrial.with(Faults.LATE_COMMITS, 4);
    private static final Trial PAUSES = CampaignTrial.with(Faults.PAUSED_PROCESSES, 3);
    private static final Trial KILLS =
            CampaignTrial.with(Faults.KILLED_PROCESSES, 2).withLongWaits();
    private static final Trial RESTARTS = CampaignTrial.with(Faults.SERVER_RESTARTS, 2);
    private static final Trial LOST_ANSWERS = CampaignTrial.with(Faults.LOST_ANSWERS, 5);
    private static final Trial POSTGRES_STRESS = StressTrial.onPostgres(20);
    private static final Trial REDIS_STRESS = StressTrial.onRedis(8);
    private static final Trial POSTGRES_WAKE_UPS = WakeUpTrial.onPostgres(6);
    private static final Trial REDIS_WAKE_UPS = WakeUpTrial.onRedis(6);
    private static final Trial POSTGRES_PERMITS = PermitTrial.onPostgres(10);

    private Hunts() {}

    static List<Hunt> all() {
        return List.of(
                new Hunt(Bug.CHECK_WITHOUT_ROW_LOCK, LATE_COMMITS),
                new Hunt(Bug.RELEASE_BY_KEY, PAUSES),
                new Hunt(Bug.HEARTBEAT_BY_KEY, POSTGRES_STRESS),
                new Hunt(Bug.DEADLINE_FROM_REPLY, CALM),
                new Hunt(Bug.START_OF_TRANSACTION, POSTGRES_STRESS),
                new Hunt(Bug.COUNTER_DELETED, CALM),
                new Hunt(Bug.ASYNCHRONOUS_ACQUIRE, RESTARTS),
                new Hunt(Bug.NO_SAFETY_POLL, KILLS),
                new Hunt(Bug.IN_CALLERS_TRANSACTION, CALM),
                new Hunt(Bug.OWN_GRANT_MISSED, POSTGRES_STRESS),
                new Hunt(Bug.LOST_ANSWER_NOT_SENT, LOST_ANSWERS),
                new Hunt(Bug.LEAVER_WAKES_NOBODY, POSTGRES_WAKE_UPS),
                new Hunt(Bug.LAPSED_EXTENDED, REDIS_STRESS),
                new Hunt(Bug.WAKE_UP_IS_GRANT, REDIS_STRESS),
                new Hunt(Bug.WAKE_UPS_LOST, REDIS_WAKE_UPS),
                new Hunt(Bug.LARGER_NUMBER_PASSES, POSTGRES_STRESS),
                new Hunt(Bug.GRANT_FORGOTTEN_IN_BATCH, POSTGRES_PERMITS),
                new Hunt(Bug.ROOM_WAKES_NOBODY, POSTGRES_WAKE_UPS));
    }

    /** Each kind of run. */
    static List<Trial> trials() {
        return all().stream().map(Hunt::trial).distinct().toList();
    }
}
